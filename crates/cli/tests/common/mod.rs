//! The binary as a running server, and a client that tells a whole reply from a cut one.

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

/// An address of loopback on which nobody listened a moment ago.
pub fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("bound").to_string()
}

/// The program `andon`: that of these tests, or in another workspace the one in the folder that all of them build into.
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

/// A folder with one image of 400×300 px, `a.jpg`.
pub fn one_image() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(sample("jpeg/420.jpg"), folder.path().join("a.jpg")).expect("a copy");
    folder
}

/// `andon serve` on a free port. Dropping it kills it.
pub struct Served {
    child: Child,
    pub address: String,
    /// The address with TLS, if there is one.
    pub secure: Option<String>,
}

impl Served {
    /// Starts it on `folder/andon.toml` with this text, and waits until it listens.
    pub fn start(folder: &Path, config: &str) -> Self {
        Self::start_with(folder, config, |_| {})
    }

    /// Starts it on `folder/andon.toml` with this text, after `change` was applied to its command, and waits until it listens.
    pub fn start_with(folder: &Path, config: &str, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(program());
        change(&mut command);
        Self::start_by(command, folder, config)
    }

    /// Starts it by a command that ends in the binary's name, and waits until it listens.
    pub fn start_by(command: Command, folder: &Path, config: &str) -> Self {
        Self::start_at("127.0.0.1:0", command, folder, config)
    }

    /// Starts it by such a command, listening at this address.
    pub fn start_at(listen: &str, mut command: Command, folder: &Path, config: &str) -> Self {
        let file = folder.join("andon.toml");
        std::fs::write(&file, config).unwrap();
        command
            .args(["serve", "--listen", listen, "--config"])
            .arg(&file);
        Self::listening(command)
    }

    /// Starts it on `folder/andon.toml` with this text and further arguments, and waits until it listens.
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

    /// Starts it on a folder, without a configuration file and with these further arguments, and waits until it listens.
    pub fn without_config(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(program());
        command
            .arg("serve")
            .arg(folder)
            .args(["--listen", "127.0.0.1:0"]);
        command.args(args);
        Self::listening(command)
    }

    /// Runs a command that serves, and waits until it listens.
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

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let told = Command::new("kill").args([name, &id]).status();
        assert!(told.unwrap().success());
    }

    /// Waits until it has ended by itself; its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// `kill -9`, and waits until it has gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it gracefully; what it wrote to standard error.
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
        // It may have been waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection.
pub struct Client(BufReader<TcpStream>);

/// A whole reply.
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

    /// An error for a reply that is not whole; `ConnectionAborted` when the connection was closed before there was any.
    pub fn get(&mut self, target: &str) -> io::Result<Reply> {
        self.ask(target, "Host: test\r\n")
    }

    /// As [`Client::get`], with these lines of headers.
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
            // Lines of one name are one list (RFC 9110, 5.3).
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
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Did it come from the cache?
    pub fn is_hit(&self) -> bool {
        self.headers
            .get("cache-status")
            .is_some_and(|status| status.contains("; hit"))
    }
}

/// The command, run to its end.
pub fn andon(args: &[&str], env: &[(&str, &str)]) -> Output {
    Command::new(program())
        .args(args)
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

/// What Pillow says.
pub fn python(script: &str, args: &[&Path]) -> String {
    let told = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .args(args)
        .output();
    printed(told.expect("python3 with Pillow"))
}

/// What a command printed; it succeeded.
pub fn printed(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// An image of the repository's `samples`.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../samples")
        .join(name)
}
