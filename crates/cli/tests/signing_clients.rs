//! The programs in examples/sign, run by their own interpreters and compilers: they sign as the server does, and can
//! fetch from it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Served, sample};
use andon_dialects::signing::Signature;
use serde_json::Value;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/sign")
        .join(name)
}

/// Returns the signed form of each URL in examples/sign/vectors.json, after checking that the server signs the URLs as
/// that file states.
fn signed() -> Vec<String> {
    let text = std::fs::read_to_string(example("vectors.json")).expect("the vectors");
    let vectors: Vec<Value> = serde_json::from_str(&text).expect("a list");
    let sign = |vector: &Value| {
        let text = |key: &str| vector[key].as_str().expect(key);
        let number = |key: &str| vector[key].as_u64().expect(key);
        let signature = Signature {
            expires: number("expires"),
            key: text("name").to_owned(),
            scope: number("scope") as usize,
        };
        let url = signature.of(text("key").as_bytes(), text("target"));
        let url = url.expect("a target that can be signed");
        assert_eq!(url, text("signed"));
        url
    };
    vectors.iter().map(sign).collect()
}

/// Whether a program is installed. Prints a message if not (`./dev setup` installs all but .NET's SDK, which Debian
/// lacks).
fn is_installed(program: &str) -> bool {
    let asked = Command::new(program).stdin(Stdio::null()).output();
    if asked.is_err() {
        eprintln!("skipped: {program} is not installed");
    }
    asked.is_ok()
}

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("an installed program");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
    output.stdout
}

/// A program in examples/sign, with the command that runs it, complete except for its arguments.
struct Client {
    name: &'static str,
    words: Vec<PathBuf>,
}

impl Client {
    fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
        run(Command::new(&self.words[0])
            .args(&self.words[1..])
            .args(arguments)
            .env("GOCACHE", cache)
            .env("GO111MODULE", "off"))
    }
}

/// Returns the clients whose programs are installed. Those that need compilation are compiled into `folder`.
fn clients(folder: &Path) -> Vec<Client> {
    let mut clients = Vec::new();
    for (name, needed, words) in [
        ("node", "node", vec!["node".into(), example("sign.mjs")]),
        (
            "go",
            "go",
            vec!["go".into(), "run".into(), example("sign.go")],
        ),
        ("php", "php", vec!["php".into(), example("sign.php")]),
        ("ruby", "ruby", vec!["ruby".into(), example("sign.rb")]),
        ("java", "javac", vec!["java".into(), example("Sign.java")]),
    ] {
        if is_installed(needed) {
            clients.push(Client { name, words });
        }
    }
    if is_installed("mcs") && is_installed("mono") {
        let program = folder.join("sign.exe");
        let mut output = "-out:".to_owned();
        output.push_str(program.to_str().expect("a path"));
        run(Command::new("mcs")
            .args(["-nologo", "-r:System.Net.Http.dll", &output])
            .arg(example("Sign.cs")));
        clients.push(Client {
            name: "mono",
            words: vec!["mono".into(), program],
        });
    }
    if is_installed("dotnet") {
        let version = run(Command::new("dotnet").arg("--version"));
        let version = String::from_utf8(version).expect("text");
        let major = version.split('.').next().expect("a number");
        let project = format!(
            "<Project Sdk=\"Microsoft.NET.Sdk\"><PropertyGroup><OutputType>Exe</OutputType>\
             <TargetFramework>net{major}.0</TargetFramework></PropertyGroup></Project>"
        );
        let sources = folder.join("dotnet");
        std::fs::create_dir(&sources).expect("a folder");
        std::fs::write(sources.join("sign.csproj"), project).expect("a project");
        std::fs::copy(example("Sign.cs"), sources.join("Sign.cs")).expect("a source");
        let built = folder.join("built");
        run(Command::new("dotnet")
            .args(["build", "-o"])
            .args([&built, &sources]));
        clients.push(Client {
            name: "dotnet",
            words: vec!["dotnet".into(), built.join("sign.dll")],
        });
    }
    clients
}

#[test]
fn clients_sign_as_the_server_does_and_fetch_what_it_serves() {
    let expected = signed();
    assert_eq!(expected.len(), 5);
    let folder = tempfile::tempdir().expect("a folder");
    let clients = clients(folder.path());

    let key = "0123456789abcdef0123456789abcdef";
    let config = format!(
        "[[origin]]\nfs.root = \".\"\n[signing]\nkeys = [\"{key}\"]\nrequired = true\n[log]\nformat = \"off\"\n"
    );
    std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("a b.jpg")).expect("a sample");
    let served = Served::start(folder.path(), &config);
    let host = format!("http://{}", served.address);
    let target = "/r/fit:20x20,as:webp/a%20b.jpg";
    assert_eq!(served.get(target).status, 403);
    let signature = Signature {
        expires: 0,
        key: String::new(),
        scope: 0,
    };
    let image = served.get(&signature.of(key.as_bytes(), target).expect("a target"));
    assert_eq!(image.status, 200);

    let vectors = example("vectors.json");
    let vectors = vectors.to_str().expect("a path");
    for client in clients {
        let printed = String::from_utf8(client.run(&[vectors])).expect("text");
        let signed: Vec<&str> = printed.lines().collect();
        assert_eq!(signed, expected, "{}", client.name);
        let fetched = client.run(&[key, &host, target]);
        assert!(fetched == image.body, "{}", client.name);
    }
}
