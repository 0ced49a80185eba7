//! `render` and `explain` with images of another web server, `convert` with overlays from one, and proxy settings in
//! the environment that must be ignored.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{one_image, sample};

/// Starts a server that answers every request with the image, and counts the requests.
fn origin(image: Vec<u8>) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("its number").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            let head = format!(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                image.len()
            );
            // A client that has disconnected does not matter here.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&image);
        }
    });
    (port, asked)
}

#[test]
fn images_from_afar_are_rendered_and_explained_and_proxies_are_ignored() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/jpeg/420.jpg");
    let (port, asked) = origin(std::fs::read(sample).expect("a sample"));
    let (trap, trapped) = origin(Vec::new());
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("andon.toml");
    let text =
        format!("[[origin]]\nhttp.base = \"http://127.0.0.1:{port}/\"\nallow = [\"127.0.0.1\"]\n");
    std::fs::write(&config, text).expect("a configuration");
    let output = folder.path().join("out.jpg");

    let proxy = format!("http://127.0.0.1:{trap}");
    let run = |args: &[&str]| -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
        command.args(args).arg("--config").arg(&config);
        for name in [
            "http_proxy",
            "HTTP_PROXY",
            "https_proxy",
            "HTTPS_PROXY",
            "all_proxy",
            "ALL_PROXY",
        ] {
            command.env(name, &proxy);
        }
        command.env_remove("NO_PROXY").env_remove("no_proxy");
        command.output().expect("andon runs")
    };
    let target = "/small_light(dw=20)/a.jpg";
    let rendered = run(&[
        "render",
        target,
        "-o",
        output.to_str().expect("a plain path"),
    ]);
    assert!(rendered.status.success(), "{rendered:?}");
    let image = std::fs::read(&output).expect("an image");
    assert!(image.starts_with(b"\xff\xd8\xff"), "a JPEG");
    let explained = run(&["explain", target]);
    assert!(explained.status.success(), "{explained:?}");
    assert!(
        String::from_utf8_lossy(&explained.stdout).contains("decode jpeg"),
        "{explained:?}"
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert_eq!(trapped.load(Ordering::SeqCst), 0);
}

#[test]
fn images_of_the_origins_of_a_configuration_are_laid_over_images() {
    let house = one_image();
    let logo = std::fs::read(sample("png/alpha.png")).expect("a sample");
    let (port, asked) = origin(logo.clone());
    let brand = house.path().join("brand");
    std::fs::create_dir(&brand).expect("a folder");
    std::fs::write(brand.join("logo.png"), &logo).expect("a logo");
    let config = format!(
        "[[origin]]\nprefix = \"/photos\"\nfs.root = \".\"\n[[origin]]\nprefix = \"/brand\"\nfs.root = \"brand\"\n\
         [[origin]]\nhttp.urls = [\"http://127.0.0.1:{port}/\"]\nallow = [\"127.0.0.1\"]\n[small_light]\nmaterial_dir = \"brand\"\n"
    );
    std::fs::write(house.path().join("andon.toml"), config).expect("a configuration");
    let convert = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
        let run = command
            .arg("convert")
            .args(args)
            .current_dir(house.path())
            .output()
            .expect("andon runs");
        let said = [run.stdout, run.stderr].concat();
        (
            run.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    let url = format!("http%3A//127.0.0.1%3A{port}/logo.png");
    let made = |name: &str, more: &[&str]| {
        let recipe = format!("overlay:{name}:9:4,as:png");
        let mut args = vec![&*recipe, "a.jpg", "-o", "x.png"];
        args.extend(more);
        let (code, said) = convert(&args);
        assert_eq!(code, Some(0), "{name}: {said}");
        std::fs::read(house.path().join("x.png")).expect("a result")
    };
    let right = made("logo.png", &["--overlays", "brand"]);
    for name in ["logo.png", "/brand/logo.png", &url] {
        assert!(made(name, &["--config", "andon.toml"]) == right, "{name}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    for (name, why) in [
        ("/brand/none.png", "/brand/none.png"),
        ("/../andon.toml", "`..`"),
        ("https%3A//elsewhere.example/a.png", "no origin has it"),
    ] {
        let recipe = format!("overlay:{name}:9:4,as:png");
        let args = ["a.jpg", "-o", "y.png", "--config", "andon.toml"];
        let (code, said) = convert(&[&[&*recipe], &args[..]].concat());
        assert_eq!(code, Some(1), "{name}: {said}");
        assert!(said.contains(why), "{name}: {said}");
        assert!(!house.path().join("y.png").exists(), "{name}");
    }
}
