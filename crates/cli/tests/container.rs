//! The binary in a container of 512 MiB: an image that needs more is refused with a message, and no process is killed.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Served;

/// A control group, which is removed when dropped. All of its processes must have ended by then.
struct Group {
    folder: PathBuf,
    /// The name of the file with a line `oom_kill N`.
    events: &'static str,
}

impl Group {
    /// Creates a control group with this memory limit in bytes. `None` if that is not permitted.
    fn of(bytes: u64) -> Option<Self> {
        let kinds = [
            ("/sys/fs/cgroup", "memory.max", "memory.events"),
            (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.oom_control",
            ),
        ];
        kinds.into_iter().find_map(|(mount, limit, events)| {
            let folder = Path::new(mount).join(format!("andon-test-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Self { folder, events };
            let limit = group.folder.join(limit);
            // The file is missing if the folder is not a control group, or does not control memory.
            (limit.is_file() && fs::write(limit, bytes.to_string()).is_ok()).then_some(group)
        })
    }

    /// Returns a shell command that enters the group and then runs the server.
    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $$ >\"$0\" && exec \"$@\""])
            .arg(self.folder.join("cgroup.procs"))
            .arg(env!("CARGO_BIN_EXE_andon"));
        command
    }

    /// Returns how many of the group's processes the kernel has killed.
    fn kills(&self) -> String {
        let events = fs::read_to_string(self.folder.join(self.events)).expect("its events");
        let count = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        count.expect("a count of kills").to_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // If it cannot be removed, an empty group is left behind, which costs nothing.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Python script that writes a JPEG of 118 megapixels in CMYK, which only libjpeg-turbo decodes, with all coefficients
/// in memory: 0.9 GiB from a file of 1.8 MB.
const WRITTEN: &str = "import sys; from PIL import Image\n\
    image = Image.new('CMYK', (10900, 10850), (10, 20, 30, 40))\n\
    image.save(sys.argv[1], progressive=True)";

#[test]
fn a_image_larger_than_its_container_is_refused_in_words_and_kills_nothing() {
    let Some(group) = Group::of(512 << 20) else {
        eprintln!("SKIPPED: no control group may be made here, so no memory can be limited");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(common::sample("jpeg/420.jpg"), folder.path().join("a.jpg")).expect("a sample");
    common::python(WRITTEN, &[&folder.path().join("large.jpg")]);
    let keys = "workers = 2\n[[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n";
    let server = Served::start_by(group.command(), folder.path(), keys);
    for target in [
        "/small_light(dw=300,dh=300)/large.jpg",
        "/small_light(dw=300,dh=300,of=webp)/large.jpg",
        "/large.jpg",
    ] {
        let refused = server.get(target);
        let told = String::from_utf8_lossy(&refused.body);
        assert_eq!(refused.status, 422, "{target}: {told}");
        assert!(told.contains("memory_budget"), "{target}: {told}");
        assert_eq!(server.get("/small_light(dw=100)/a.jpg").status, 200);
    }
    assert_eq!(group.kills(), "0");
    drop(server);
}
