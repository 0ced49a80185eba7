//! The binary as its users run it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::{Client, Served, manual, one_image, program, sample};
use andon_pixels::{Engine, Limits};

fn andon<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(args)
        .output()
        .expect("the binary runs")
}

/// Returns format, width and height of an image.
fn look(bytes: &[u8]) -> (&'static str, u32, u32) {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    let info = engine.probe(bytes).expect("an image");
    (info.format, info.width, info.height)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn render_writes_what_the_server_would_answer() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    let out = folder.path().join("out.webp");
    let target = "/small_light(dw=100,dh=100,of=webp)/a.jpg";
    let done = andon([
        "render",
        target,
        "--root",
        root,
        "-o",
        out.to_str().unwrap(),
    ]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let file = std::fs::read(out).unwrap();
    assert_eq!(look(&file), ("webp", 100, 75));
    let printed = andon(["render", target, "--root", root, "-o", "-"]);
    assert_eq!(printed.stdout, file);

    let served = Served::start(folder.path(), "[[origin]]\nfs.root = \".\"\n");
    let mut client = Client::connect(&served.address).unwrap();
    // The last one would only become larger if it were encoded again.
    for target in [target, "/a.jpg", "/small_light(q=100)/a.jpg"] {
        let printed = andon(["render", target, "--root", root, "-o", "-"]);
        let reply = client.get(target).unwrap();
        assert!(printed.stdout == reply.body, "{target}");
    }
}

#[test]
fn render_writes_the_format_of_the_files_name_or_warns() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    for (target, name, format, kind) in [
        ("/small_light(dw=10)/a.jpg", "x.png", "png", ""),
        ("/small_light(dw=10)/a.jpg", "x.jpeg", "jpeg", ""),
        ("/small_light(dw=10)/a.jpg", "x.unknown", "jpeg", "note: "),
        ("/small_light(dw=10)/a.jpg", "x", "jpeg", "note: "),
        ("/small_light(dw=10,of=webp)/a.jpg", "x.webp", "webp", ""),
        (
            "/small_light(dw=10,of=webp)/a.jpg",
            "x.png",
            "webp",
            "warning: ",
        ),
        ("/a.jpg", "x.png", "jpeg", "warning: "),
    ] {
        let out = folder.path().join(name);
        let out = out.to_str().unwrap();
        let done = andon(["render", target, "--root", root, "-o", out]);
        let said = text(&done.stderr);
        assert!(done.status.success(), "{said}");
        assert_eq!(
            look(&std::fs::read(out).unwrap()).0,
            format,
            "{target} {name}"
        );
        assert_eq!(said.is_empty(), kind.is_empty(), "{target} {name}: {said}");
        assert!(said.starts_with(kind), "{target} {name}: {said}");
    }
}

#[test]
fn the_start_line_shows_addresses_version_workers_and_roots() {
    let folder = one_image();
    let mut server = Command::new(env!("CARGO_BIN_EXE_andon"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    let root = folder.path().canonicalize().unwrap().display().to_string();
    for part in [
        "listening on http://127.0.0.1:",
        concat!("andon ", env!("CARGO_PKG_VERSION")),
        " worker",
        &format!("/ from {root}"),
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert_eq!(line.matches('\n').count(), 1);
}

#[test]
fn render_notes_what_is_ignored_on_standard_error() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    let done = andon([
        "render",
        "small_light(dw=10,nonsense=1)/a.jpg",
        "--root",
        root,
        "-o",
        "-",
    ]);
    assert!(done.status.success());
    assert!(
        text(&done.stderr).contains("nonsense"),
        "{}",
        text(&done.stderr)
    );
}

#[test]
fn a_failure_is_one_sentence_and_exit_code_1() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    for (args, what) in [
        (
            vec![
                "render",
                "/small_light(dw=10)/b.jpg",
                "--root",
                root,
                "-o",
                "-",
            ],
            "/b.jpg",
        ),
        (
            vec!["render", "/a.jpg", "--root", "/no/such/folder", "-o", "-"],
            "/no/such/folder",
        ),
        (
            vec![
                "render",
                "/small_light(dw=9)/a.jpg",
                "--root",
                root,
                "-o",
                "/no/such/a.svg",
            ],
            "image/svg+xml cannot be written; formats are jpeg, png, webp, gif, avif, jxl, bmp, ico, tiff",
        ),
        (
            vec![
                "explain",
                "/small_light(dw=60000,ds=s)/a.jpg",
                "--root",
                root,
            ],
            "16384",
        ),
        (vec!["serve", "/no/such/folder"], "/no/such/folder"),
        (
            vec!["serve", root, "--listen", "192.0.2.1:80"],
            "192.0.2.1:80",
        ),
        (
            vec!["serve", "--config", "/no/such/file.toml"],
            "/no/such/file.toml",
        ),
    ] {
        let done = andon(&args);
        assert_eq!(done.status.code(), Some(1), "{args:?}");
        let error = text(&done.stderr);
        assert!(
            error.starts_with("andon: ") && error.contains(what),
            "{args:?}: {error}"
        );
        assert_eq!(error.lines().count(), 1, "{args:?}: {error}");
    }
}

#[test]
fn a_command_line_that_is_not_understood_is_exit_code_2() {
    for args in [
        &["serve", "--listen", "nonsense"][..],
        &["convert", "fit:wide", "a.jpg", "-o", "out"],
        &["render"],
        &["nonsense"],
    ] {
        let done = andon(args);
        assert_eq!(
            done.status.code(),
            Some(2),
            "{args:?}: {}",
            text(&done.stderr)
        );
    }
}

#[test]
fn a_mistake_in_the_configuration_names_file_line_and_remedy() {
    let folder = one_image();
    let file = folder.path().join("andon.toml");
    std::fs::write(&file, "\nworker = 2\n").unwrap();
    let done = andon(["serve", "--config", file.to_str().unwrap()]);
    let error = text(&done.stderr);
    for part in ["andon.toml", "line 2", "`worker`", "`workers`"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn explain_tells_recipe_plan_cost_memory_and_key() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    let done = andon([
        "explain",
        "/small_light(dw=100,q=80,nonsense=1)/a.jpg",
        "--root",
        root,
    ]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let told = text(&done.stdout);
    for part in [
        "small_light(dw=100,q=80)",
        "exact:100x75,q:80",
        "decode jpeg",
        "encode jpeg q80",
        " ms",
        "peak",
        "etag    \"",
        "nonsense",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn convert_makes_all_it_can_and_reports_the_rest() {
    let folder = one_image();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::copy(sample("png/alpha.png"), path("b.png")).unwrap();
    std::fs::write(path("broken.jpg"), "no image").unwrap();
    let inputs = [
        path("a.jpg"),
        path("broken.jpg"),
        path("b.png"),
        path("missing.gif"),
    ];
    let out = path("out/deep");
    let mut args = vec!["convert", "fit:64x64,as:webp,q:80"];
    args.extend(inputs.iter().map(String::as_str));
    args.extend(["-o", &out]);

    let done = andon(&args);
    assert_eq!(done.status.code(), Some(1));
    let error = text(&done.stderr);
    for part in ["broken.jpg: ", "missing.gif: ", "2 of 4 images failed"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let mut made: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    made.sort();
    assert_eq!(made, ["a.webp", "b.webp"]);
    assert_eq!(
        look(&std::fs::read(Path::new(&out).join("a.webp")).unwrap()),
        ("webp", 64, 48)
    );
}

#[test]
fn convert_passes_on_whole_images_only() {
    let folder = one_image();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in [
        "jpeg/420.jpg",
        "jpeg/progressive-420.jpg",
        "png/rgb.png",
        "webp/lossy.webp",
        "webp/lossless.webp",
        "gif/still.gif",
        "gif/animated.gif",
        "avif/444-alpha.avif",
        "jxl/lossy.jxl",
        "jxl/animated.jxl",
        "bmp/24-bit.bmp",
        "bmp/run-lengths.bmp",
        "ico/png.ico",
        "tiff/lzw.tif",
        "tiff/jpeg.tif",
        "psd/rgb.psd",
    ] {
        let whole = std::fs::read(sample(name)).unwrap();
        let kind = name.rsplit('.').next().unwrap();
        let (cut, longer) = (path(&format!("cut.{kind}")), path(&format!("long.{kind}")));
        std::fs::write(&longer, [&whole[..], &[b'<'; 10 << 10]].concat()).unwrap();
        let out = path("out");
        let done = andon(["convert", "original", &longer, "-o", &out]);
        assert!(done.status.success(), "{name}: {}", text(&done.stderr));
        // A result is named after its format.
        let kind = if kind == "tif" { "tiff" } else { kind };
        let made = Path::new(&out).join(format!("long.{kind}"));
        assert!(std::fs::read(made).unwrap() == whole, "{name}");
        for length in [whole.len() / 4, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&cut, &whole[..length]).unwrap();
            let done = andon(["convert", "original", &cut, "-o", &out]);
            // The decoders of these formats add the missing end marker, which is the same in all files.
            let ends = ["jpg", "png", "gif", "ico"].contains(&kind) && length + 1 == whole.len();
            assert_eq!(
                done.status.code(),
                Some(i32::from(!ends)),
                "{name} {length}"
            );
        }
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure_and_a_full_disk_is_one() {
    let folder = one_image();
    let root = folder.path().to_str().unwrap();
    for args in [
        &["explain", "/small_light(dw=9)/a.jpg", "--root", root][..],
        &["completions", "bash"],
        &[
            "render",
            "/small_light(dw=9)/a.jpg",
            "--root",
            root,
            "-o",
            "-",
        ],
    ] {
        let mut gone = Command::new(env!("CARGO_BIN_EXE_andon"));
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let done = gone.args(args).stdout(writer).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));

        let mut full = Command::new(env!("CARGO_BIN_EXE_andon"));
        let disk = std::fs::File::create("/dev/full").unwrap();
        let done = full.args(args).stdout(disk).output().unwrap();
        assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
        assert!(text(&done.stderr).contains("cannot write to standard output"));
    }
}

#[test]
fn convert_says_what_is_wrong_once() {
    let folder = one_image();
    let input = folder.path().join("a.jpg");
    let out = folder.path().join("out");
    let done = andon([
        "convert",
        "over:i.png:0:0",
        input.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ]);
    let error = text(&done.stderr);
    assert_eq!(error.matches("`i.png`").count(), 1, "{error}");
    assert!(error.contains("--overlays"), "{error}");
}

#[test]
fn convert_takes_you_choose_for_the_images_own_format() {
    let folder = one_image();
    std::fs::copy(sample("png/alpha.png"), folder.path().join("b.png")).unwrap();
    let out = folder.path().join("out");
    let done = andon([
        OsStr::new("convert"),
        OsStr::new("fit:20x20,as:auto"),
        folder.path().join("a.jpg").as_os_str(),
        folder.path().join("b.png").as_os_str(),
        OsStr::new("-o"),
        out.as_os_str(),
    ]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for (name, format) in [("a.jpg", "jpeg"), ("b.png", "png")] {
        assert_eq!(look(&std::fs::read(out.join(name)).unwrap()).0, format);
    }
}

#[test]
fn convert_never_overwrites_an_input() {
    let folder = one_image();
    let input = folder.path().join("a.jpg");
    let before = std::fs::read(&input).unwrap();
    let done = andon([
        OsStr::new("convert"),
        OsStr::new("fit:10x10"),
        input.as_os_str(),
        OsStr::new("-o"),
        folder.path().as_os_str(),
    ]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        text(&done.stderr).contains("overwrite"),
        "{}",
        text(&done.stderr)
    );
    assert_eq!(std::fs::read(&input).unwrap(), before);
}

#[test]
fn serve_says_where_answers_logs_and_stops_when_told_to() {
    let folder = one_image();
    let config = "[[origin]]\nfs.root = \".\"\n[log]\nformat = \"json\"\n";
    let server = Served::start(folder.path(), config);
    assert!(!server.address.ends_with(":0"), "{}", server.address);
    let reply = server.get("/small_light(dw=100,nonsense=1)/a.jpg");
    assert_eq!(reply.status, 200);
    assert_eq!(look(&reply.body), ("jpeg", 100, 75));
    let log = server.stop();
    let is_door = |line: &&str| line.contains("\"message\":\"open to ");
    assert!(log.lines().filter(is_door).count() >= 2, "{log}");
    assert_eq!(log.lines().filter(|it| !is_door(it)).count(), 3, "{log}");
    for part in [
        "\"message\":\"sandbox: ",
        "\"message\":\"resources: ",
        "\"status\":200",
        "\"recipe\":\"small_light(dw=100)\"",
        "/small_light(dw=100,nonsense=1)/a.jpg",
        "\"notes\":[\"`nonsense` is no option",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
}

/// Commands of `andon` whose help another program prints, and whether `andon man` writes their manual page.
const OTHERS: [(&str, bool); 2] = [("lab", false), ("tune", true)];

#[test]
fn every_command_has_help_with_examples() {
    manual::every_command_has_help_with_examples(&program(), &OTHERS);
}

#[test]
fn every_command_has_a_manual_page_with_its_examples() {
    manual::every_command_has_a_page(&program(), one_image().path(), &OTHERS);
}

#[test]
fn completions_name_every_command() {
    manual::completions_name_every_command(&program(), one_image().path(), &OTHERS);
}

#[test]
fn render_is_held_to_the_limit_of_processor_time_and_convert_is_not() {
    let folder = one_image();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let config = path("andon.toml");
    let keys = "[[origin]]\nfs.root = \".\"\n[limits]\ncpu = \"40ms\"\n";
    std::fs::write(&config, keys).unwrap();
    let recipe = "exact:400x400,sharpen-l:9,sharpen-l:9,sharpen-l:9,as:png";
    let target = format!("/r/{recipe}/a.jpg");
    let output = path("out.png");
    let refused = andon(["render", &target, "--config", &config, "-o", &output]);
    assert!(!refused.status.success());
    let said = text(&refused.stderr);
    for part in ["the limit of 0.01 s for a source", "`limits.cpu`"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // `explain` shows the cost all the same.
    let told = andon(["explain", &target, "--config", &config]);
    for part in ["together", "\nrefused 0."] {
        assert!(
            text(&told.stdout).contains(part),
            "{part}: {}",
            text(&told.stdout)
        );
    }
    let made = andon(["convert", recipe, &path("a.jpg"), "-o", &path("out")]);
    assert!(made.status.success(), "{}", text(&made.stderr));
}
