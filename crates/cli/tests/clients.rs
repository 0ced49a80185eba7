//! Client libraries of other servers, as their registries have them: Andon serves the URLs that they make.
//!
//! They are installed once, beside the build. Where their interpreter or registry is not at hand, the test says so and
//! ends.

use crate::common;
use std::path::Path;
use std::process::Command;

use crate::common::{Served, sample};
use andon_pixels::{Engine, Limits};

const NPM: [&str; 4] = [
    "@imgproxy/imgproxy-node@1.1.0",
    "@imgproxy/imgproxy-js-core@1.9.0",
    "@imgix/js-core@3.8.0",
    "imgix-url-builder@0.0.6",
];
const PYPI: [&str; 2] = ["libthumbor==2.0.2", "imgproxy==1.0.0"];

const KEY: &str = "0123456789abcdef0123456789abcdef";
const HEX_KEY: &str = "30313233343536373839616263646566";
const HEX_SALT: &str = "73616c7473616c74";
const SOURCE: &str = "local:///trip/a.jpg";

/// The folder of packages that `install` fills, given the folder and their names; `None` if it cannot.
fn packages(name: &str, packages: &[&str], install: &mut Command) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let (marker, wanted) = (folder.join("installed"), packages.join("\n"));
    let folder = folder.to_str().expect("a path").to_owned();
    if std::fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Some(folder);
    }
    std::fs::create_dir_all(&folder).expect("a folder");
    let tried = install.arg(&folder).args(packages).output();
    let why = match &tried {
        Ok(output) if output.status.success() => {
            std::fs::write(marker, wanted).expect("a marker");
            return Some(folder);
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    let program = install.get_program().display();
    eprintln!("skipped: {program} cannot install {packages:?}: {why}");
    None
}

fn npm() -> Option<String> {
    let mut install = Command::new("npm");
    install.args(["install", "--no-audit", "--no-fund", "--ignore-scripts"]);
    install.args(["--fetch-retries=0", "--fetch-timeout=20000", "--prefix"]);
    packages("npm", &NPM, &mut install)
}

fn pypi() -> Option<String> {
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "-q", "--retries=0", "--timeout=20"]);
    install.args(["--upgrade", "--target"]);
    packages("pypi", &PYPI, &mut install)
}

/// Asks a server for every URL that a program prints, and compares the sizes.
fn serves(program: &mut Command) {
    let output = program.output();
    let printed = common::printed(output.expect("the interpreter that installed them"));

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("trip")).unwrap();
    std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("trip/a.jpg")).unwrap();
    let dialects = format!(
        "[imgproxy]\nprefix = \"/imgproxy\"\nkeys = [\"{HEX_KEY}\"]\nsalts = [\"{HEX_SALT}\"]\n\
         [thumbor]\nprefix = \"/thumbor\"\nkeys = [\"{KEY}\"]\nallow_unsafe = false\n\
         [imgix]\nprefix = \"/imgix\"\ntokens = [\"{KEY}\"]\n\
         [native]\nopen = true\n[small_light]\nopen = true\n"
    );
    let unsigned = "[imgproxy]\nprefix = \"/unsigned\"\n[imgix]\nprefix = \"/open\"\n";
    let origin = "[[origin]]\nfs.root = \".\"\n";
    let start = |dialects: &str| {
        let folder = folder.path();
        Served::start(folder, &format!("{origin}{dialects}"))
    };
    let (signed, open) = (start(&dialects), start(unsigned));
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let mut count = 0;
    for line in printed.lines() {
        let (size, target) = line.split_once(' ').expect("a size and a target");
        let unsigned = ["/unsigned/", "/open/"]
            .iter()
            .any(|it| target.starts_with(it));
        let reply = if unsigned { &open } else { &signed }.get(target);
        assert_eq!(
            reply.status,
            200,
            "{target}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        let info = engine.probe(&reply.body).expect("a picture");
        assert_eq!(format!("{}x{}", info.width, info.height), size, "{target}");
        count += 1;
    }
    assert!(count > 4, "{printed}");
}

#[test]
fn urls_of_node_clients_of_a_next_loader_and_of_a_nuxt_provider_are_served() {
    let Some(folder) = npm() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    serves(
        Command::new("node")
            .arg(here.join("tests/clients/urls.mjs"))
            .args([&folder, HEX_KEY, HEX_SALT, KEY, SOURCE])
            .arg(here.join("../../examples/next/loader.mjs"))
            .arg(here.join("../../examples/nuxt/andon.mjs")),
    );
}

#[test]
fn urls_of_python_clients_are_served() {
    let Some(folder) = pypi() else {
        return;
    };
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    serves(
        Command::new("python3")
            .arg(here.join("tests/clients/urls.py"))
            .args([&folder, KEY, HEX_KEY, HEX_SALT, SOURCE]),
    );
}
