//! Client libraries of other servers, as installed from their registries: Andon serves the URLs that they make.
//!
//! They are installed once, into the target folder. If an interpreter or a registry is not available, the test prints a
//! message and ends; `./dev clients` requires all of them.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::common::{Served, sample};
use andon_client::DecodedImage;

pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const HEX_KEY: &str = "30313233343536373839616263646566";
pub(crate) const HEX_SALT: &str = "73616c7473616c74";
const SOURCE: &str = "local:///trip/a.jpg";

/// Returns the folder of packages that the command `install` fills, with copies of these files, which list the packages
/// and their versions. `None` if the installation fails, unless the environment requires it.
fn packages(name: &str, files: &[&str], install: &dyn Fn(&Path) -> Command) -> Option<String> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    // Tests run concurrently. A test that failed has poisoned the lock, which does not matter.
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let read = |file: &&str| std::fs::read(clients().join(file)).expect("a file");
    let wanted: Vec<u8> = files.iter().flat_map(read).collect();
    let marker = folder.join("installed");
    let path = folder.to_str().expect("a path").to_owned();
    if std::fs::read(&marker).is_ok_and(|installed| installed == wanted) {
        return Some(path);
    }
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for file in files {
        std::fs::copy(clients().join(file), folder.join(file)).expect("a copy");
    }
    let mut install = install(&folder);
    let why = match install.output() {
        Ok(output) if output.status.success() => {
            std::fs::write(marker, wanted).expect("a marker");
            return Some(path);
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    let program = install.get_program().display();
    let said = format!("{program} cannot install the clients: {why}");
    assert!(std::env::var_os("CLIENTS").is_none(), "{said}");
    eprintln!("skipped: {said}");
    None
}

/// Returns the folder with the client programs and their lists of packages.
pub(crate) fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

pub(crate) fn npm() -> Option<String> {
    packages("npm", &["package.json", "package-lock.json"], &|folder| {
        let mut install = Command::new("npm");
        install.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]);
        install.args(["--fetch-retries=0", "--fetch-timeout=20000"]);
        install.current_dir(folder);
        install
    })
}

pub(crate) fn pypi() -> Option<String> {
    packages("pypi", &["requirements.txt"], &|folder| {
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "-q", "--retries=0", "--timeout=20"]);
        install.args(["--no-deps", "--target", ".", "-r", "requirements.txt"]);
        install.current_dir(folder);
        install
    })
}

/// Requests every URL that `program` prints, and checks that the image has the size in px that is printed before the
/// URL. The program gets the address of a server with the source files as its last argument.
fn serves(program: &mut Command) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("trip")).unwrap();
    for name in ["trip/a.jpg", "trip/50% off, größer.jpg"] {
        std::fs::copy(sample("jpeg/420.jpg"), folder.path().join(name)).unwrap();
    }
    for name in ["trip/logo.svg", "trip/logo.SVG"] {
        let logo = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path d='M4 4h9v9z'/></svg>";
        std::fs::write(folder.path().join(name), logo).unwrap();
    }
    let start = |keys: &str| {
        let folder = folder.path();
        Served::start(folder, &format!("[[origin]]\nfs.root = \".\"\n{keys}"))
    };
    let files = start("");
    let signed = start(&format!(
        "[imgproxy]\nprefix = \"/imgproxy\"\nkeys = [\"{HEX_KEY}\"]\nsalts = [\"{HEX_SALT}\"]\n\
         [thumbor]\nprefix = \"/thumbor\"\nkeys = [\"{KEY}\"]\nallow_unsafe = false\n\
         [imgix]\nprefix = \"/imgix\"\ntokens = [\"{KEY}\"]\n\
         [native]\nopen = true\n[small_light]\nopen = true\n\
         [[origin]]\nhttp.urls = [\"http://{}/\"]\nallow = [\"127.0.0.1/32\"]\n",
        files.address
    ));
    let open = start(&format!(
        "[[origin]]\nhttp.urls = [\"http://{}/\"]\nallow = [\"127.0.0.1/32\"]\n\
         [imgproxy]\nprefix = \"/unsigned\"\n[imgix]\nprefix = \"/open\"\n[iiif]\nprefix = \"/iiif/3\"\n\
         [cloudflare]\nprefix = \"/cdn-cgi/image\"\n[weserv]\nprefix = \"/weserv\"\n",
        files.address
    ));
    let output = program.arg(&files.address).output();
    let printed = common::printed(output.expect("the interpreter that installed them"));

    let mut wrong = Vec::new();
    for line in printed.lines() {
        let (size, target) = line.split_once(' ').expect("a size and a target");
        let is_signed = ["/imgproxy/", "/thumbor/", "/imgix/", "/r/", "/small_light("]
            .iter()
            .any(|it| target.starts_with(it));
        let reply = if is_signed { &signed } else { &open }.get(target);
        if reply.status != 200 {
            let why = String::from_utf8_lossy(&reply.body);
            wrong.push(format!("{target}: {} {why}", reply.status));
            continue;
        }
        match DecodedImage::decode(&reply.body).map(|it| format!("{}x{}", it.width, it.height)) {
            Ok(made) if made == size => {}
            other => wrong.push(format!("{target}: {other:?} instead of {size}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(printed.lines().count() > 10, "{printed}");
}

#[test]
fn urls_of_node_clients_of_a_next_loader_and_of_a_nuxt_provider_are_served() {
    let Some(folder) = npm() else {
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    serves(
        Command::new("node")
            .arg(clients().join("urls.mjs"))
            .args([&folder, HEX_KEY, HEX_SALT, KEY, SOURCE])
            .arg(examples.join("next/loader.mjs"))
            .arg(examples.join("nuxt/andon.mjs")),
    );
}

#[test]
fn urls_of_python_clients_are_served() {
    let Some(folder) = pypi() else {
        return;
    };
    serves(
        Command::new("python3")
            .arg(clients().join("urls.py"))
            .args([&folder, KEY, HEX_KEY, HEX_SALT, SOURCE]),
    );
}
