//! `andon explain` compared with the server whose responses it explains.

use crate::common::{Served, andon, one_image, printed, sample};

#[test]
fn explain_names_the_entity_tag_that_the_server_sends() {
    let folder = one_image();
    let config = "[[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n";
    let served = Served::start(folder.path(), config);
    for target in [
        "/a.jpg",
        "/r/fit:90x90,as:webp/a.jpg",
        "/r/focus:smart,cover:60x60,as:webp/a.jpg",
        "/r/trim,fit:90x90,as:webp/a.jpg",
    ] {
        let reply = served.get(target);
        assert_eq!(reply.status, 200, "{target}");
        let root = folder.path().to_str().expect("a path");
        let told = printed(andon(&["explain", target, "--root", root], &[]));
        let line = format!("etag    {}\n", reply.headers["etag"]);
        assert!(told.contains(&line), "{target}: {line}{told}");
    }
}

#[test]
fn explain_names_the_key_and_every_tier_that_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("photos/otter.jpg"), folder.path().join("a.jpg")).expect("copies");
    let explain = |keys: &str, target: &str| {
        let config = format!("[[origin]]\nfs.root = \".\"\n{keys}");
        let file = folder.path().join("andon.toml");
        std::fs::write(&file, config).expect("writes");
        let file = file.to_str().expect("a path");
        printed(andon(&["explain", target, "--config", file], &[]))
    };
    let target = "/r/fit:160x90,as:webp,q:80/a.jpg";
    let told = explain("", target);
    assert!(
        told.contains("\nmemory  256.0 MiB\ndisk    off\nstore   off\n"),
        "{told}"
    );
    let key = |told: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix("key     "));
        line.expect("a key").to_owned()
    };
    assert_eq!(key(&told).len(), 64);
    assert_eq!(
        key(&told),
        key(&explain(
            "",
            "/small_light(dw=160,dh=90,of=webp,q=80)/a.jpg"
        ))
    );

    let tiers = "[cache]\nmemory = \"0\"\ndisk = { path = \"kept\", size = \"1GiB\" }\n[store]\nfs.root = \"shared\"\n";
    let told = explain(&format!("{tiers}min_cost = \"0s\"\n"), target);
    let (kept, shared) = (folder.path().join("kept"), folder.path().join("shared"));
    let lines = format!(
        "\nmemory  off\ndisk    {}, 1.0 GiB\nstore   {}, also for other nodes: ",
        kept.display(),
        shared.display()
    );
    assert!(told.contains(&lines), "{lines}{told}");
    let told = explain(&format!("{tiers}min_cost = \"1h\"\n"), target);
    assert!(told.contains("looked up, but not stored: "), "{told}");
    assert!(
        told.contains("less than `store.min_cost` (3600000.0 ms)"),
        "{told}"
    );
}

#[test]
fn explain_refuses_what_is_not_permitted_as_the_server_does() {
    let folder = one_image();
    let config = "[permitted]\nwidths = [60]\n[[rewrite]]\nfrom = '^/t$'\nto = '/r/fit:${arg_w:-60}x/a.jpg'\n\
                  [[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n";
    let served = Served::start(folder.path(), config);
    let file = folder.path().join("own.toml");
    std::fs::write(&file, config).expect("writes");
    for target in [
        "/r/fit:60x/a.jpg",
        "/r/fit:61x/a.jpg",
        "/r/fit:60x,blur:0x2/a.jpg",
        "/t",
        "/t?w=61",
    ] {
        let reply = served.get(target);
        let args = [
            "explain",
            target,
            "--config",
            file.to_str().expect("a path"),
        ];
        let told = andon(&args, &[]);
        let said = String::from_utf8(told.stderr).expect("text");
        assert_eq!(
            reply.status == 200,
            told.status.success(),
            "{target}: {said}"
        );
        if reply.status != 200 {
            assert!(said.contains(reply.text().trim_end()), "{target}: {said}");
        }
        let printed = String::from_utf8(told.stdout).expect("text");
        assert_eq!(
            printed.contains("\nrewrite /r/fit:6"),
            target.starts_with("/t"),
            "{printed}"
        );
    }
}

#[test]
fn explain_reads_the_variables_that_set_keys_of_the_server() {
    let folder = one_image();
    let file = folder.path().join("own.toml");
    std::fs::write(
        &file,
        "[native]\nenabled = false\n[[origin]]\nfs.root = \".\"\n",
    )
    .expect("writes");
    let file = file.to_str().expect("a path");
    let args = ["explain", "/r/fit:60x/a.jpg", "--config", file];
    assert!(!andon(&args, &[]).status.success());
    let told = printed(andon(&args, &[("ANDON_NATIVE__ENABLED", "true")]));
    assert!(told.contains("asks    fit:60x"), "{told}");
}
