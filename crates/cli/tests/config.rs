//! `andon config check`, and SIGHUP.

use crate::common;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn check(file: &Path) -> Output {
    config("check", file)
}

fn config(command: &str, file: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["config", command])
        .arg(file)
        .output()
        .unwrap()
}

#[test]
fn a_good_file_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "workers = 3\n").unwrap();
    let checked = check(&file);
    assert_eq!(checked.status.code(), Some(0));
    assert_eq!(String::from_utf8(checked.stdout).unwrap(), "");
    let said = String::from_utf8(checked.stderr).unwrap();
    assert_eq!(said, format!("andon: {}: ok\n", file.display()));
}

#[test]
fn a_good_file_is_shown_with_all_its_keys_and_shown_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "workers = 3\n[timeouts]\nheader = \"4s\"\n").unwrap();
    let first = config("show", &file);
    let text = String::from_utf8(first.stdout).unwrap();
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(String::from_utf8(first.stderr).unwrap(), "");
    for key in [
        "workers = 3",
        "header = \"4s\"",
        "source_bytes = ",
        "[metrics]",
    ] {
        assert!(text.contains(key), "{key}: {text}");
    }
    std::fs::write(&file, &text).unwrap();
    let again = config("show", &file).stdout;
    assert_eq!(String::from_utf8(again).unwrap(), text);
}

#[test]
fn a_wrong_file_is_named_with_its_line_and_the_nearest_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "queue = 3\nwokers = 3\n").unwrap();
    let wrong = check(&file);
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    for part in ["andon.toml", "line 2", "`wokers`", "`workers`"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(
        check(&folder.path().join("none.toml")).status.code(),
        Some(1)
    );
}

#[test]
fn random_keys_and_buckets_without_a_name_are_warned_of_until_they_are_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    std::fs::write(
        folder.path().join("imgproxy.env"),
        "IMGPROXY_USE_S3=true\nIMGPROXY_KEY=${KEY}\n",
    )
    .unwrap();
    let run = |args: &[&str], key: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_andon"));
        let keys = ["ANDON_IMGPROXY__KEYS", "ANDON_IMGPROXY__SALTS"].map(|name| (name, key));
        let set = keys
            .into_iter()
            .filter_map(|(name, key)| Some((name, key?)));
        command
            .args(args)
            .envs(set)
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let imported = run(&["import", "imgproxy.env"], None).stdout;
    std::fs::write(&file, &imported).unwrap();
    let said = |key| {
        let checked = run(&["config", "check"], key);
        assert_eq!(checked.status.code(), Some(0), "{checked:?}");
        String::from_utf8(checked.stderr).unwrap()
    };
    let text = String::from_utf8(imported).unwrap();
    let line = |start: &str| {
        1 + text
            .lines()
            .position(|line| line.starts_with(start))
            .expect(start)
    };
    let keys = format!("line {}: imgproxy.keys is marked SECRET", line("keys = "));
    let bucket = format!("line {}: name-of-the-bucket stands", line("s3.buckets = "));
    let warned = said(None);
    assert!(
        warned.contains(&keys) && warned.contains(&bucket),
        "{warned}\n{text}"
    );
    let warned = said(Some("943b421c9eb07c830af81030552c8600"));
    assert!(
        !warned.contains("SECRET") && warned.contains(&bucket),
        "{warned}"
    );
}

/// Configurations that are invalid for a reason beyond their syntax, and the message of both `config check` and
/// `serve`.
const UNSERVABLE: &[(&str, &str)] = &[
    (
        "[native.presets]\nsmall = \"ft:250x250\"\n",
        "did you mean `fit`?",
    ),
    (
        "[native.presets]\nsmall = \"fit:250x250,q:800\"\n",
        "a whole number from 1 to 100",
    ),
    (
        "[imgproxy]\nprefix = \"/i\"\n[imgproxy.presets]\nsmall = \"wdith:10\"\n",
        "`wdith` is no option",
    ),
    (
        "[imgproxy]\nprefix = \"/i\"\nenforce = true\n[negotiation]\nformats = []\n",
        "`negotiation.formats` is empty",
    ),
    (
        "[small_light.patterns]\nsmall = \"dwx=10\"\n",
        "did you mean `dw`?",
    ),
    (
        "[imgproxy]\nprefix = \"/i\"\n[thumbor]\nprefix = \"/i/\"\n",
        "\"/i\" is a prefix of [imgproxy] already",
    ),
    (
        "[iiif]\nprefix = \"/r\"\n",
        "\"/r\" is a prefix of [native] already",
    ),
    (
        "[iiif]\nprefix = \"/a\"\nprefix2 = \"/a\"\n",
        "\"/a\" is a prefix of [iiif] already",
    ),
    ("[cache]\nmemory = \"256\"\n", "such as \"256MiB\""),
    ("[limits]\nsource_bytes = 64\n", "such as \"64MiB\""),
    ("[timeouts]\nrequest = \"5ms\"\n", "not between \"10ms\""),
    ("[timeouts]\nwrite = \"48h\"\n", "a day"),
    (
        "[[origin]]\nfs.root = \".\"\n[[origin]]\nprefix = \"/a\"\nfs.root = \"missing\"\n",
        "there is no such folder",
    ),
    (
        "[[origin]]\nfs.root = \"andon.toml\"\n",
        "it is not a folder",
    ),
    (
        "[small_light]\nmaterial_dir = \"missing\"\n",
        "material_dir",
    ),
    ("[admin]\ntoken_env = \"NO_SUCH_TOKEN\"\n", "NO_SUCH_TOKEN"),
    ("[admin]\ntoken = \"short\"\n", "fewer than 16 bytes"),
    (
        "[admin]\ntoken = \"sixteen bytes and more\"\ntoken_env = \"PATH\"\n",
        "keep one",
    ),
    (
        "[[origin]]\ns3.bucket = \"b\"\ns3.access_key_env = \"PATH\"\n",
        "together",
    ),
    (
        "[[origin]]\ns3.bucket = \"b\"\ns3.access_key_env = \"NO_SUCH_KEY\"\ns3.secret_key_env = \"PATH\"\n",
        "NO_SUCH_KEY",
    ),
    (
        "[[origin]]\nhttp.base = \"http://o.test\"\nhttp.user = \"u\"\n",
        "together",
    ),
    (
        "[[origin]]\nhttp.base = \"http://o.test\"\nhttp.bearer_env = \"NO_SUCH_BEARER\"\n",
        "NO_SUCH_BEARER",
    ),
    (
        "[[origin]]\nhttp.base = \"https://o.test\"\nhttp.ca = \"missing.pem\"\n",
        "missing.pem",
    ),
    (
        "[[origin]]\nhttp.base = \"https://o.test\"\nhttp.ca = \"andon.toml\"\n",
        "andon.toml",
    ),
    (
        "[small_light.patterns]\nm = \"dww=500\"\n",
        "`dww` is no option (did you mean `dw`?)",
    ),
    (
        "[small_light.patterns]\nm = \"p=m\"\n",
        "a pattern cannot use another pattern",
    ),
    (
        "[negotiation]\nformats = [\"avf\"]\n",
        "unknown format `avf`; did you mean `avif`?",
    ),
    (
        "[cache]\ndisk.path = \"andon.toml\"\ndisk.size = \"1MiB\"\n",
        "andon.toml is not a folder",
    ),
    (
        "[cache]\ndisk.path = \"andon.toml/cache\"\ndisk.size = \"1MiB\"\n",
        "andon.toml is not a folder",
    ),
    (
        "[limits]\npixels = 0\n",
        "line 3: `limits.pixels`: 0 pixels would refuse every image",
    ),
    (
        "[limits]\nheld_bytes = \"1KiB\"\n",
        "line 3: `limits.held_bytes`: 1.0 KiB is below `limits.source_bytes`",
    ),
    ("target_wait = \"20s\"\n", "`max_wait`"),
    (
        "[metrics]\nlisten = \"127.0.0.1:0\"\n[[origin]]\nfs.root = \"missing\"\n",
        "there is no such folder",
    ),
    (
        "listen = [\"127.0.0.1:8081\"]\n[metrics]\nlisten = \"127.0.0.1:8081\"\n",
        "line 3: `metrics.listen`: 127.0.0.1:8081 is in `listen` already",
    ),
    ("[log]\nformat = 3\n", "line 3: `log.format`: "),
    ("limits = 3\n", "line 2: `limits`: "),
    ("[small_light.patterns]\nm = \"dw=abc\"\n", "dw=abc"),
    ("[[rewrite]]\nfrom = \"(\"\nto = \"/\"\n", "rewrite.from"),
    ("listen = [\"unix:missing/a.sock\"]\n", "there is no folder"),
    ("listen = []\n", "`listen`: is empty"),
    ("origin = []\n", "`origin`: there is none"),
];

#[test]
fn what_a_server_does_not_start_with_is_refused_by_the_check_with_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    for (keys, words) in UNSERVABLE {
        let listen = match keys.starts_with("listen") {
            true => "",
            false => "listen = [\"127.0.0.1:0\"]\n",
        };
        std::fs::write(&file, format!("{listen}{keys}")).unwrap();
        let checked = check(&file);
        let served = Command::new(env!("CARGO_BIN_EXE_andon"))
            .args(["serve", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        for (command, done) in [("check", checked), ("serve", served)] {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(done.status.code(), Some(1), "{command}: {keys}");
            assert!(said.contains(words), "{command}: {keys}: {said}");
            assert!(done.stdout.is_empty(), "{command}: {keys}");
        }
    }
}

#[test]
fn the_units_configuration_passes_once_its_folders_are_there() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/systemd/andon.toml");
    let mut keys = std::fs::read_to_string(file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for path in ["/srv/pictures", "/var/cache/andon", "/run/andon"] {
        assert!(keys.contains(path), "{path}");
        let here = folder.path().join(&path[1..]);
        std::fs::create_dir_all(&here).unwrap();
        keys = keys.replace(path, here.to_str().unwrap());
    }
    std::fs::write(folder.path().join("andon.toml"), keys).unwrap();
    let checked = check(&folder.path().join("andon.toml"));
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}");
}

#[test]
fn the_documented_configuration_works_as_it_is_printed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        for inside in ["photos", "icons"] {
            std::fs::create_dir(folder.path().join(inside)).unwrap();
        }
        std::fs::copy(
            common::sample("jpeg/420.jpg"),
            folder.path().join("photos/a.jpg"),
        )
        .unwrap();
        std::fs::write(folder.path().join("andon.toml"), block).unwrap();
        let checked = check(&folder.path().join("andon.toml"));
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{said}");
        let served = common::Served::start(folder.path(), block);
        for target in [
            "/a.jpg",
            "/resize/w/20/h/20/a.jpg",
            "/small_light(p=msize)/a.jpg",
        ] {
            let reply = served.get(target);
            assert_eq!(reply.status, 200, "{target}");
            assert!(!reply.headers.contains_key("andon-note"), "{target}");
        }
    }
}

#[test]
fn sighup_takes_a_good_file_and_refuses_a_wrong_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    let write = |keys: &str| {
        let listen = "listen = [\"unix:a.sock\"]\n";
        std::fs::write(&file, format!("{listen}{keys}")).unwrap();
    };
    write("[log]\nformat = \"off\"\n");
    let mut server = Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["serve", "--config"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut lines = lines.filter(|line| !line.as_ref().unwrap().contains("open to "));
    for start in ["resources: ", "sandbox: "] {
        assert!(lines.next().unwrap().unwrap().contains(start));
    }
    let mut announced = String::new();
    BufReader::new(server.stdout.as_mut().unwrap())
        .read_line(&mut announced)
        .unwrap();
    let signal = |name: &str| {
        let done = Command::new("kill")
            .args([name, &server.id().to_string()])
            .status();
        assert!(done.unwrap().success());
    };
    let status = |request: &str| {
        let mut client = UnixStream::connect(folder.path().join("a.sock")).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        client.read_to_string(&mut reply).unwrap();
        reply.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let post =
        "POST /_andon/render HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_eq!(status(post), "403");

    write("[upload]\nallow = \"local\"\n[log]\nformat = \"off\"\n");
    signal("-HUP");
    assert!(lines.next().unwrap().unwrap().contains("was read again"));
    assert_eq!(status(post), "400", "allowed, and nothing named");

    write("[uplod]\n");
    signal("-HUP");
    let refused = lines.next().unwrap().unwrap();
    assert!(
        refused.contains("stays as it was") && refused.contains("`upload`"),
        "{refused}"
    );
    assert_eq!(status(post), "400");

    signal("-TERM");
    assert!(server.wait().unwrap().success());
}

#[test]
fn what_is_shown_lists_who_may_use_what_and_warns_of_what_may_surprise() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("andon.toml");
    let keys = "[thumbor]\nprefix = \"/t\"\nkeys = [\"0123456789abcdef0123456789abcdef\"]\n\
                [iiif]\nprefix = \"/iiif/3\"\nopen = true\n[upload]\nallow = \"local\"\n\
                [[origin]]\ns3.bucket = \"photos\"\n";
    std::fs::write(&file, keys).unwrap();
    let checked = config("show", &file);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success(), "{said}");
    for part in ["`upload.allow = \"local\"` lets nobody in", "anonymously"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let whole = String::from_utf8(checked.stdout).unwrap();
    let line = |name: &str| {
        let start = format!("#   {name} ");
        let found = whole.lines().find(|line| line.starts_with(&start));
        found.unwrap_or_else(|| panic!("no {name}: {whole}"))
    };
    for (name, part) in [
        (
            "native",
            "closed by thumbor.keys, `open = true` in [native] opens it",
        ),
        ("small_light", "closed by thumbor.keys"),
        ("files", "closed by thumbor.keys"),
        ("thumbor", "URLs that are signed with its own keys"),
        ("iiif", "everybody"),
        ("upload", "nobody"),
        ("metrics", "nobody"),
        ("purge", "nobody"),
    ] {
        assert!(line(name).contains(part), "{part}: {}", line(name));
    }
    // The printed file is equivalent.
    std::fs::write(&file, &whole).unwrap();
    assert!(check(&file).status.success());
}
