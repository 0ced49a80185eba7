//! The sandbox of the real binary, as reported by the kernel and as seen by a client. Tests of the system call filters
//! themselves are in `crates/server/src/sandbox`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use crate::common::{Served, andon, sample};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["photos", "archive"] {
        let images = folder.path().join(name);
        fs::create_dir(&images).unwrap();
        fs::copy(sample("jpeg/420.jpg"), images.join("a.jpg")).unwrap();
    }
    folder
}

/// Whether this kernel supports everything that the sandbox needs. Prints a message if not.
fn is_supported(folder: &Path) -> bool {
    let file = folder.join("required.toml");
    let text = "[[origin]]\nfs.root = \"photos\"\n[sandbox]\nmode = \"required\"\n";
    fs::write(&file, text).unwrap();
    let checked = andon(&["config", "check", file.to_str().unwrap()], &[]);
    if !checked.status.success() {
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(said.contains("sandbox.mode"), "{said}");
        eprintln!("not tried: {said}");
    }
    checked.status.success()
}

/// Returns the contents of `/proc/PID/task/TID/status` for each thread of the server, by the thread's name.
fn threads(served: &Served) -> BTreeMap<String, String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", served.id())).unwrap();
    let about = |task: std::io::Result<fs::DirEntry>| {
        let path = task.unwrap().path();
        let status = fs::read_to_string(path.join("status")).ok()?;
        let name = fs::read_to_string(path.join("comm")).ok()?;
        Some((name.trim().to_owned(), status))
    };
    tasks.filter_map(about).collect()
}

fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let mut values = status.lines().filter_map(|line| line.strip_prefix(name));
    values
        .find_map(|it| it.strip_prefix(':'))
        .unwrap_or("")
        .trim()
}

fn filters_of(status: &str) -> usize {
    field(status, "Seccomp_filters").parse().unwrap_or(0)
}

/// Returns the number of seccomp filters that apply to the thread of this test.
fn own_filters() -> usize {
    filters_of(&fs::read_to_string("/proc/thread-self/status").unwrap())
}

#[test]
fn every_thread_has_the_filters_of_the_process_and_workers_one_more() {
    if !Path::new("/proc/sys/kernel/seccomp").exists() {
        eprintln!("not tried: this kernel has no seccomp");
        return;
    }
    let folder = folder();
    let keys = "workers = 2\n[[origin]]\nfs.root = \"photos\"\n";
    let served = Served::start(folder.path(), keys);
    // Files in the page cache are not read by another thread, but a PNG's header is.
    fs::copy(sample("png/rgb.png"), folder.path().join("photos/a.png")).unwrap();
    assert_eq!(served.get("/small_light(dw=20)/a.png").status, 200);
    let threads = threads(&served);
    // A container may have its own filters.
    let own = own_filters();
    for name in [
        "andon",
        "andon-io",
        "andon-file",
        "andon-log",
        "worker-0",
        "worker-1",
    ] {
        let status = threads
            .get(name)
            .unwrap_or_else(|| panic!("{name}: {threads:?}"));
        let filters = if name.starts_with("worker") { 3 } else { 2 };
        assert_eq!(field(status, "NoNewPrivs"), "1", "{name}");
        assert_eq!(field(status, "Seccomp"), "2", "{name}");
        assert_eq!(filters_of(status), own + filters, "{name}");
    }
}

#[test]
fn without_a_sandbox_no_thread_has_a_filter() {
    let folder = folder();
    let keys = "[[origin]]\nfs.root = \"photos\"\n[sandbox]\nmode = \"off\"\n";
    let served = Served::start(folder.path(), keys);
    assert_eq!(served.get("/small_light(dw=20)/a.jpg").status, 200);
    for (name, status) in threads(&served) {
        assert_eq!(filters_of(&status), own_filters(), "{name}");
    }
}

#[test]
fn a_link_leads_where_the_sandbox_permits_and_not_to_the_password_file() {
    let folder = folder();
    if !is_supported(folder.path()) {
        return;
    }
    let photos = folder.path().join("photos");
    symlink("/etc/passwd", photos.join("passwd")).unwrap();
    symlink("../archive/a.jpg", photos.join("old.jpg")).unwrap();
    for (mode, status) in [("off", 200), ("required", 403)] {
        let keys = format!(
            "[[origin]]\nfs.root = \"photos\"\nfs.files = \"all\"\nfs.outside_links = true\n\
             [sandbox]\nmode = \"{mode}\"\nread = [\"archive\"]\n"
        );
        let served = Served::start(folder.path(), &keys);
        assert_eq!(served.get("/passwd").status, status, "{mode}");
        assert_eq!(served.get("/small_light(dw=20)/old.jpg").status, 200);
    }
}

#[test]
fn restricted_workers_read_and_write_every_format() {
    let folder = folder();
    fs::write(folder.path().join("photos/text.svg"), TEXT).unwrap();
    let served = Served::start(folder.path(), "[[origin]]\nfs.root = \"photos\"\n");
    for format in ["jpeg", "png", "webp", "gif", "avif", "jxl"] {
        let made = served.get(&format!("/r/fit:40x40,as:{format}/a.jpg"));
        assert_eq!(made.status, 200, "{format}");
        fs::write(folder.path().join("photos").join(format), made.body).unwrap();
        let read = served.get(&format!("/r/fit:20x20,as:png/{format}"));
        assert_eq!(read.status, 200, "{format}");
    }
    let drawn = served.get("/r/fit:40x40,as:png/text.svg");
    assert_eq!(drawn.status, 200, "text needs a font, and opens none");
}

const TEXT: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='80' height='40'>\
                    <text x='4' y='30' font-size='24' font-family='Helvetica'>Andon</text></svg>";

#[test]
fn a_reload_stays_in_the_sandbox_and_says_what_to_do() {
    let folder = folder();
    if !is_supported(folder.path()) {
        return;
    }
    let keys = |root: &str| format!("metrics.allow = \"all\"\n[[origin]]\nfs.root = \"{root}\"\n");
    let served = Served::start(folder.path(), &keys("photos"));
    // Replaces the file by another one of its name, as an editor does.
    let replace = |text: &str| {
        fs::write(folder.path().join("new.toml"), text).unwrap();
        fs::rename(
            folder.path().join("new.toml"),
            folder.path().join("andon.toml"),
        )
        .unwrap();
        served.signal("-HUP");
    };
    // The folder of the configuration and everything below it are readable; only files elsewhere are out of reach.
    let elsewhere = tempfile::tempdir().unwrap();
    replace(&keys(elsewhere.path().to_str().unwrap()));
    wait_for(&served, "andon_reloads_total{outcome=\"refused\"} 1");
    assert_eq!(served.get("/small_light(dw=20)/a.jpg").status, 200);

    replace(&keys("archive"));
    wait_for(&served, "andon_reloads_total{outcome=\"done\"} 1");
    assert_eq!(served.get("/small_light(dw=20)/a.jpg").status, 200);

    replace("[[origin]]\nfs.root = \"photos\"\n[sandbox]\nmode = \"off\"\n");
    wait_for(&served, "andon_reloads_total{outcome=\"refused\"} 2");
    let said = served.stop();
    for part in ["origin.fs.root", "restart the server", "sandbox.mode"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn wait_for(served: &Served, line: &str) {
    for _ in 0..3000 {
        let page = String::from_utf8(served.get("/metrics").body).unwrap();
        if page.lines().any(|it| it == line) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{line} never came");
}

#[test]
fn what_cannot_be_permitted_or_is_no_mode_is_refused_in_words() {
    let folder = folder();
    let file = folder.path().join("andon.toml");
    for (keys, said) in [
        ("read = [\"missing\"]", "does not exist"),
        ("mode = \"on\"", "known here: auto, required, off"),
    ] {
        let text = format!("[[origin]]\nfs.root = \"photos\"\n[sandbox]\n{keys}\n");
        fs::write(&file, text).unwrap();
        let checked = andon(&["config", "check", file.to_str().unwrap()], &[]);
        let text = String::from_utf8_lossy(&checked.stderr);
        assert!(!checked.status.success() && text.contains(said), "{text}");
    }
}
