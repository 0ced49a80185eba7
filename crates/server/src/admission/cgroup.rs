//! The resources that this process may use: memory, limited by the machine's memory, the limits of its control groups
//! and its own limit on address space (`ulimit -v`), whichever is lowest; and processor time, if its control groups
//! limit it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use rustix::process::{Resource, getrlimit};

/// The memory that this process may use, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) bytes: u64,
    /// Name of the limit that applies, such as `memory.max`.
    pub(super) by: &'static str,
}

/// Returns the memory that this process may use, or `None` if the system does not report it.
///
/// `memory.high` counts like `memory.max`: beyond it, a process is not killed, but slowed down so much that it is
/// useless as a server.
pub(super) fn memory() -> Option<Memory> {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| machine_bytes(&text));
    let (groups, mount) = (groups(), Path::new(MOUNT));
    // The system reports "no limit" as a number larger than any machine's memory, or not at all.
    [
        (machine, "the machine"),
        (memory_max(&groups, mount), "memory.max"),
        (memory_high(&groups, mount), "memory.high"),
        (getrlimit(Resource::As).current, "ulimit -v"),
    ]
    .into_iter()
    .filter_map(|(bytes, by)| Some(Memory { bytes: bytes?, by }))
    .min_by_key(|memory| memory.bytes)
}

/// Returns the processor time that this process may use, in thousandths of a CPU, if its control groups limit it
/// (`cpu.max`).
pub(super) fn cpu_quota() -> Option<u64> {
    cpu_max(&groups(), Path::new(MOUNT))
}

/// Returns the list of this process's control groups, in the format of `/proc/self/cgroup`.
fn groups() -> String {
    fs::read_to_string("/proc/self/cgroup").unwrap_or_default()
}

/// Reads `MemTotal` from the text of `/proc/meminfo`, in bytes.
fn machine_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number = line.trim().strip_suffix("kB")?.trim();
    number.parse::<u64>().ok()?.checked_mul(1024)
}

fn memory_max(groups: &str, mount: &Path) -> Option<u64> {
    lowest(groups, mount, "memory", |group, version| {
        number(&match version {
            Version::One => group.join("memory.limit_in_bytes"),
            Version::Two => group.join("memory.max"),
        })
    })
}

fn memory_high(groups: &str, mount: &Path) -> Option<u64> {
    lowest(groups, mount, "memory", |group, version| match version {
        Version::One => None,
        Version::Two => number(&group.join("memory.high")),
    })
}

fn cpu_max(groups: &str, mount: &Path) -> Option<u64> {
    lowest(groups, mount, "cpu", |group, version| {
        let (quota, period) = match version {
            // Version 1 writes -1 for no quota, which does not parse as an unsigned number.
            Version::One => (
                number(&group.join("cpu.cfs_quota_us"))?,
                number(&group.join("cpu.cfs_period_us"))?,
            ),
            Version::Two => {
                let text = fs::read_to_string(group.join("cpu.max")).ok()?;
                let (quota, period) = text.trim().split_once(' ')?;
                (quota.parse().ok()?, period.parse().ok()?)
            }
        };
        quota.checked_mul(1000)?.checked_div(period)
    })
}

/// The version of control groups.
#[derive(Clone, Copy, Debug)]
enum Version {
    /// Version 1: a separate hierarchy of folders for each controller.
    One,
    /// Version 2: one hierarchy of folders for all controllers.
    Two,
}

/// Returns the lowest limit of `controller` in this process's control groups and all groups above them, since all of
/// these apply.
fn lowest(
    groups: &str,
    mount: &Path,
    controller: &str,
    limit: impl Fn(&Path, Version) -> Option<u64>,
) -> Option<u64> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (mount, version) = if controllers.is_empty() {
            (mount.to_owned(), Version::Two)
        } else if controllers.split(',').any(|name| name == controller) {
            (mount.join(controllers), Version::One)
        } else {
            return None;
        };
        // Inside a container the path may be that of the host. In that case only the mount point's own file exists, and
        // it applies.
        let inside: PathBuf = Path::new(path)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let limits = inside.ancestors();
        limits
            .filter_map(|group| limit(&mount.join(group), version))
            .min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Reads a number from a file. Returns `None` if there is no number, such as for `max`, which means no limit.
fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

const MOUNT: &str = "/sys/fs/cgroup";

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
        assert_eq!(memory_max(groups, mount.path()), Some(512 << 20));
    }

    #[test]
    fn a_group_without_a_limit_is_none() {
        let mount = mount(&[("app.slice/memory.max", "max\n")]);
        assert_eq!(memory_max("0::/app.slice\n", mount.path()), None);
        assert_eq!(memory_max("", mount.path()), None);
    }

    #[test]
    fn version_1_has_a_folder_per_controller() {
        let mount = mount(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/docker/ab/memory.limit_in_bytes", "268435456\n"),
            ("cpu/docker/ab/memory.limit_in_bytes", "1\n"),
        ]);
        let groups = "5:cpu:/docker/ab\n4:memory:/docker/ab\n0::/\n";
        assert_eq!(memory_max(groups, mount.path()), Some(256 << 20));
    }

    #[test]
    fn a_container_that_sees_only_its_own_group_finds_its_limit() {
        let mount = mount(&[("memory/memory.limit_in_bytes", "268435456\n")]);
        let groups = "4:memory:/docker/not/mounted/here\n";
        assert_eq!(memory_max(groups, mount.path()), Some(256 << 20));
    }

    #[test]
    fn a_path_that_leads_upwards_does_not() {
        let mount = mount(&[("group/memory.max", "7\n"), ("memory.max", "1\n")]);
        let inside = mount.path().join("group");
        assert_eq!(memory_max("0::/../..\n", &inside), Some(7));
    }

    #[test]
    fn memory_is_short_beyond_memory_high_too() {
        let mount = mount(&[
            ("app/memory.max", "536870912\n"),
            ("app/memory.high", "402653184\n"),
            ("memory.high", "max\n"),
        ]);
        assert_eq!(memory_high("0::/app\n", mount.path()), Some(384 << 20));
        assert_eq!(memory_high("4:memory:/app\n", mount.path()), None);
    }

    #[test]
    fn processor_time_is_read_in_thousandths() {
        let mount = mount(&[
            ("cpu.max", "400000 100000\n"),
            ("app/cpu.max", "150000 100000\n"),
            ("free/cpu.max", "max 100000\n"),
            ("cpu,cpuacct/old/cpu.cfs_quota_us", "25000\n"),
            ("cpu,cpuacct/old/cpu.cfs_period_us", "50000\n"),
            ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
            ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ]);
        let quota = |groups| cpu_max(groups, mount.path());
        assert_eq!(quota("0::/app\n"), Some(1500));
        assert_eq!(quota("0::/free\n"), Some(4000));
        assert_eq!(quota("3:cpu,cpuacct:/old\n0::/free\n"), Some(500));
        assert_eq!(quota("3:cpu,cpuacct:/\n"), None);
        assert_eq!(quota(""), None);
    }
}
