//! The binary as a running server, and a client that distinguishes a complete response from a truncated one.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test program uses its own part"
)]

pub mod manual;
pub mod said;

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Returns a loopback address that was free a moment ago.
pub fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").to_string()
}

/// Returns the path of the program `andon`: that of these tests, or in another workspace the one in the shared target
/// folder.
pub fn program() -> PathBuf {
    let Some(own) = option_env!("CARGO_BIN_EXE_andon") else {
        let tests = std::env::current_exe().expect("a file");
        let program = tests.ancestors().nth(2).expect("a folder").join("andon");
        let built = program.exists();
        assert!(
            built,
            "no {}: build it first (cargo build --bin andon)",
            program.display()
        );
        return program;
    };
    own.into()
}

/// Creates a folder with one image of 400×300 px, `a.jpg`.
pub fn one_image() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("a.jpg")).expect("a copy");
    folder
}

/// A running `andon serve` on a free port, which is killed when this is dropped.
pub struct Served {
    child: Child,
    pub address: String,
    /// The address with TLS, if there is one.
    pub secure: Option<String>,
}

impl Served {
    /// Starts the server on `folder/andon.toml` with this text, and waits until it listens.
    pub fn start(folder: &Path, config: &str) -> Self {
        Self::start_with(folder, config, |_| {})
    }

    /// Starts the server on `folder/andon.toml` with this text, after `change` was applied to its command, and waits
    /// until it listens.
    pub fn start_with(folder: &Path, config: &str, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(program());
        change(&mut command);
        Self::start_by(command, folder, config)
    }

    /// Starts the server with a command that ends in the binary's name, and waits until it listens.
    pub fn start_by(command: Command, folder: &Path, config: &str) -> Self {
        Self::start_at("127.0.0.1:0", command, folder, config)
    }

    /// Starts the server on the address `listen`, with a command that ends in the binary's name and with the text
    /// `config` in `folder/andon.toml`, and waits until it listens.
    pub fn start_at(listen: &str, mut command: Command, folder: &Path, config: &str) -> Self {
        let file = folder.join("andon.toml");
        std::fs::write(&file, config).unwrap();
        command
            .args(["serve", "--listen", listen, "--config"])
            .arg(&file);
        Self::listening(command)
    }

    /// Starts the server on `folder/andon.toml` with this text and further arguments, and waits until it listens.
    pub fn start_adding(folder: &Path, config: &str, args: &[&str]) -> Self {
        let file = folder.join("andon.toml");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new(program());
        command
            .args(["serve", "--port", "0", "--config"])
            .arg(&file)
            .args(args);
        Self::listening(command)
    }

    /// Starts the server on a folder, without a configuration file and with further arguments, and waits until it
    /// listens.
    pub fn without_config(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(program());
        command
            .arg("serve")
            .arg(folder)
            .args(["--listen", "127.0.0.1:0"]);
        command.args(args);
        Self::listening(command)
    }

    /// Runs a command that starts a server, and waits until it listens.
    pub fn listening(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let secure = line
            .split([' ', ','])
            .find_map(|it| it.trim().strip_prefix("https://"));
        let secure = secure.map(str::to_owned);
        let Some(address) = line.trim().strip_prefix("listening on http://") else {
            let mut said = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("it does not listen: {line:?} {said}");
        };
        let address = address.split([' ', ',']).next().unwrap().to_owned();
        Self {
            child,
            address,
            secure,
        }
    }

    pub fn client(&self) -> Client {
        Client::connect(&self.address).unwrap()
    }

    pub fn get(&self, target: &str) -> Reply {
        self.client().get(target).unwrap()
    }

    /// Returns the id of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let told = Command::new("kill").args([name, &id]).status();
        assert!(told.unwrap().success());
    }

    /// Waits until the server has ended by itself, and returns its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Kills the server with SIGKILL, and waits until it has ended.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops the server gracefully, and returns what it wrote to standard error.
    pub fn stop(mut self) -> String {
        self.signal("-TERM");
        let mut said = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success(), "{said}");
        said
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client with one connection.
pub struct Client(BufReader<TcpStream>);

/// A complete response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Requests a target. Fails if the response is truncated, with `ConnectionAborted` if the connection was closed
    /// before it began.
    pub fn get(&mut self, target: &str) -> io::Result<Reply> {
        self.ask(target, "Host: test\r\n")
    }

    /// Requests a target like [`Client::get`], with these header lines.
    pub fn ask(&mut self, target: &str, headers: &str) -> io::Result<Reply> {
        let request = format!("GET {target} HTTP/1.1\r\n{headers}\r\n");
        let asked = self.0.get_mut().write_all(request.as_bytes());
        match asked.and_then(|()| Ok(self.0.fill_buf()?.is_empty())) {
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(error),
            _ => return Err(io::ErrorKind::ConnectionAborted.into()),
        }
        let cut = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut headers = HashMap::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            // Header lines of one name form one list (RFC 9110, 5.3).
            let joined = headers.entry(name.to_ascii_lowercase());
            joined
                .and_modify(|all: &mut String| *all = format!("{all}, {value}"))
                .or_insert_with(|| value.to_owned());
        }
        let length = headers.get("content-length").ok_or_else(cut)?;
        let mut body = vec![0; length.parse().map_err(|_| cut())?];
        self.0.read_exact(&mut body)?;
        Ok(Reply {
            status: status.ok_or_else(cut)?,
            headers,
            body,
        })
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        match line.ends_with('\n') {
            true => Ok(line),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl Reply {
    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Whether the response came from the cache.
    pub fn is_hit(&self) -> bool {
        self.headers
            .get("cache-status")
            .is_some_and(|status| status.contains("; hit"))
    }
}

/// Runs the binary until it ends.
pub fn andon(args: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(program())
        .args(args)
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

/// Runs a Python script that uses Pillow, and returns its output.
pub fn python(script: &str, args: &[&Path]) -> String {
    let told = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .args(args)
        .output();
    printed(told.expect("python3 with Pillow"))
}

/// Returns what a command printed, and fails the test if the command failed.
pub fn printed(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the path of an image in the repository's `samples`.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(name)
}
