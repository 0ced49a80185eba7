//! How much memory this process may use: the least of the machine's, its control group's and its own limit
//! on addresses (`ulimit -v`).

use std::fs;
use std::path::{Component, Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// Bytes that this process may use; `None` where the system does not tell.
pub(super) fn memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| machine_bytes(&text));
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| group_bytes(&text, Path::new("/sys/fs/cgroup")));
    let addresses = getrlimit(Resource::As).current;
    // "No limit" is written as a number larger than any machine, or not at all.
    [machine, group, addresses].into_iter().flatten().min()
}

/// `MemTotal` of `/proc/meminfo`.
fn machine_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number = line.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

/// The lowest limit on the way from this process's groups up to the root: each of them binds.
fn group_bytes(groups: &str, mount: &Path) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            if controllers.is_empty() {
                lowest(mount, path, "memory.max")
            } else if controllers.split(',').any(|name| name == "memory") {
                lowest(&mount.join(controllers), path, "memory.limit_in_bytes")
            } else {
                None
            }
        })
        .min()
}

/// Inside a container the path may be the host's: then only the mount's own file is there, and it counts.
fn lowest(mount: &Path, path: &str, file: &str) -> Option<u64> {
    let inside: PathBuf = Path::new(path)
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect();
    inside
        .ancestors()
        .filter_map(|group| limit(&fs::read_to_string(mount.join(group).join(file)).ok()?))
        .min()
}

/// `max` is no limit.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        folder
    }

    #[test]
    fn the_machines_memory_is_read() {
        let text = "MemTotal:       24683756 kB\nMemFree:        10626564 kB\n";
        assert_eq!(machine_bytes(text), Some(24_683_756 << 10));
        assert_eq!(machine_bytes("nothing of the kind\n"), None);
    }

    #[test]
    fn the_lowest_limit_up_to_the_root_counts_in_version_2() {
        let mount = mount(&[
            ("app.slice/memory.max", "536870912\n"),
            ("app.slice/andon.service/memory.max", "max\n"),
        ]);
        let groups = "0::/app.slice/andon.service\n";
        assert_eq!(group_bytes(groups, mount.path()), Some(512 << 20));
    }

    #[test]
    fn a_group_without_a_limit_is_none() {
        let mount = mount(&[("app.slice/memory.max", "max\n")]);
        assert_eq!(group_bytes("0::/app.slice\n", mount.path()), None);
        assert_eq!(group_bytes("", mount.path()), None);
    }

    #[test]
    fn version_1_has_a_folder_per_controller() {
        let mount = mount(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/docker/ab/memory.limit_in_bytes", "268435456\n"),
            ("cpu/docker/ab/memory.limit_in_bytes", "1\n"),
        ]);
        let groups = "5:cpu:/docker/ab\n4:memory:/docker/ab\n0::/\n";
        assert_eq!(group_bytes(groups, mount.path()), Some(256 << 20));
    }

    #[test]
    fn a_container_that_sees_only_its_own_group_finds_its_limit() {
        let mount = mount(&[("memory/memory.limit_in_bytes", "268435456\n")]);
        let groups = "4:memory:/docker/not/mounted/here\n";
        assert_eq!(group_bytes(groups, mount.path()), Some(256 << 20));
    }

    #[test]
    fn a_path_that_leads_upwards_does_not() {
        let mount = mount(&[("group/memory.max", "7\n"), ("memory.max", "1\n")]);
        let inside = mount.path().join("group");
        assert_eq!(group_bytes("0::/../..\n", &inside), Some(7));
    }
}
