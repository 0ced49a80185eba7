//! `render` and `explain` on images of another web server, and an environment full of proxies that
//! nobody asks.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers every request with the image, and counts.
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
            // Whoever left does not matter here.
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
