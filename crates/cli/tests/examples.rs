//! The example programs in `examples/php` and `examples/perl`, run by their real interpreters against the real server.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use andon_pixels::{Engine, Limits, OverlaySource, Run};
use tempfile::TempDir;

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// A server on a Unix socket that accepts uploads, with `badge.png` in its folder of overlay images.
struct Served {
    folder: TempDir,
    server: Child,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("icons")).unwrap();
        std::fs::copy(project(BADGE), folder.path().join("icons/badge.png")).unwrap();
        let config = folder.path().join("andon.toml");
        std::fs::write(
            &config,
            "listen = [\"unix:andon.sock\"]\n[upload]\nallow = \"local\"\n\
             [small_light]\nmaterial_dir = \"icons\"\n[log]\nformat = \"off\"\n",
        )
        .unwrap();
        let mut server = Command::new(env!("CARGO_BIN_EXE_andon"))
            .args(["serve", "--config"])
            .arg(&config)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert!(line.starts_with("listening on unix:"), "{line}");
        Self { folder, server }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Whether the interpreter `command` is installed and accepts `args`, which load the modules that an example program
/// needs. Prints a message if not.
fn has(command: &str, args: &[&str]) -> bool {
    let found = Command::new(command)
        .args(args)
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("skipped: {command} {args:?} does not run here; ./dev setup installs it");
    }
    found
}

const PHOTO: &str = "samples/jpeg/420.jpg";
const BASE: &str = "samples/gif/still.gif";
const BADGE: &str = "samples/icons/lamp.png";

/// Overlay images of which every name is the same image.
struct Only(Vec<u8>);

impl OverlaySource for Only {
    fn load(&self, _name: &str) -> andon_pixels::Result<Vec<u8>> {
        Ok(self.0.clone())
    }
}

/// Returns what the engine makes of an image without a server, with `badge` as the only overlay image.
fn made(image: &[u8], recipe: &str, badge: &[u8]) -> Vec<u8> {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let recipe: andon_recipe::Recipe = recipe.parse().expect("a recipe");
    let plan = engine.plan(&recipe, image).expect("a plan");
    let rendered = engine.run(
        &plan,
        Run {
            overlays: &Only(badge.to_vec()),
            ..Run::of(image)
        },
    );
    rendered.expect("an image").body.expect("a new image")
}

/// Returns format, width and height of an image.
fn look(bytes: &[u8]) -> (&'static str, u32, u32) {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let info = engine.probe(bytes).expect("an image");
    (info.format, info.width, info.height)
}

#[test]
fn php_makes_a_thumbnail_without_a_process() {
    if !has("php", &["-r", "exit(extension_loaded('curl') ? 0 : 1);"]) {
        return;
    }
    let served = Served::start();
    let run = |input: &Path| {
        Command::new("php")
            .arg(project("examples/php/thumbnail.php"))
            .arg(served.path("andon.sock"))
            .arg(input)
            .arg(served.path("out.jpg"))
            .output()
            .unwrap()
    };
    let done = run(&project(PHOTO));
    assert!(done.status.success(), "{done:?}");
    let thumbnail = std::fs::read(served.path("out.jpg")).unwrap();
    assert_eq!(look(&thumbnail), ("jpeg", 250, 188));
    assert_eq!(
        thumbnail,
        made(
            &std::fs::read(project(PHOTO)).unwrap(),
            "fit:250x250,q:90",
            &[]
        )
    );

    let refused = run(&project("Cargo.toml"));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.starts_with("415: "),
        "{said}"
    );
    let missing = run(Path::new("/no/such/file.jpg"));
    assert_eq!(missing.stderr, b"cannot read /no/such/file.jpg\n");
    let alone = Command::new("php")
        .arg(project("examples/php/thumbnail.php"))
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert!(alone.stderr.starts_with(b"usage: php thumbnail.php "));
}

#[test]
fn perl_lays_a_png_over_a_gif_and_answers_with_a_png() {
    if !has("perl", &["-MIO::Socket::UNIX", "-e", "1"]) {
        return;
    }
    let served = Served::start();
    let run = |overlay: &str| {
        Command::new("perl")
            .arg(project("examples/perl/compose.cgi"))
            .env("ANDON_SOCKET", served.path("andon.sock"))
            .env("BASE", project(BASE))
            .env("OVERLAY", overlay)
            .output()
            .unwrap()
    };
    let done = run("badge.png");
    let end = done.stdout.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, image) = done.stdout.split_at(end.expect("a head") + 4);
    let head = String::from_utf8_lossy(head);
    assert!(head.starts_with("Content-Type: image/png\r\n"), "{head}");
    let base = std::fs::read(project(BASE)).unwrap();
    let (_, width, height) = look(&base);
    assert_eq!(look(image), ("png", width, height));
    let badge = std::fs::read(project(BADGE)).unwrap();
    assert_eq!(image, made(&base, "over:badge.png:0:0,as:png", &badge));
    assert_ne!(
        image,
        made(&base, "as:png", &badge),
        "the badge is to be seen"
    );

    let missing = run("moon.png");
    let said = String::from_utf8_lossy(&missing.stdout).into_owned();
    assert!(
        said.starts_with("Status: 400\r\n") && said.contains("moon.png"),
        "{said}"
    );
}
