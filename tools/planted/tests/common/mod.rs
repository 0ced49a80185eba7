//! Starts `andon-planted`, a server whose codecs fail on purpose, for one test, and gives access to its processes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

/// A running server with a folder of its own.
pub(crate) struct Served {
    folder: tempfile::TempDir,
    child: Child,
    address: String,
}

impl Served {
    /// Starts a server with `more` added to its configuration.
    pub(crate) fn new(more: &str) -> Self {
        Self::with(|_| more.to_owned())
    }

    /// Starts a server. `more` returns lines that are added to its configuration. Its argument is the folder that
    /// contains the configuration file.
    pub(crate) fn with(more: impl FnOnce(&Path) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let images = folder.path().join("images");
        fs::create_dir(&images).unwrap();
        let more = more(folder.path());
        let config = format!(
            "listen = [\"127.0.0.1:0\"]\nworkers = 2\n\
             [metrics]\nallow = \"all\"\n[native]\nenabled = true\n{more}\n\
             [[origin]]\nprefix = \"/\"\nfs.root = \"{}\"\n",
            images.display()
        );
        let file = folder.path().join("andon.toml");
        fs::write(&file, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_andon-planted"))
            .arg(&file)
            .env("AWS_ACCESS_KEY_ID", "THE-NAME-OF-A-KEY")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let plain = line
            .split_whitespace()
            .find_map(|word| word.strip_prefix("http://"));
        let Some(address) = plain.map(|it| it.trim_end_matches('/').to_owned()) else {
            let log = fs::read_to_string(folder.path().join("log")).unwrap();
            panic!("it did not start: {log}");
        };
        Self {
            folder,
            child,
            address,
        }
    }

    /// Writes a file into the folder that is served.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join("images").join(name), bytes).unwrap();
    }

    /// Requests a target and returns the status and body.
    pub(crate) fn get(&self, target: &str) -> (u16, Vec<u8>) {
        self.send(&format!(
            "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        ))
    }

    /// Purges the cached results of the source `/bad.planted`, authorised by `token`.
    pub(crate) fn purge(&self, token: &str) {
        let body = "{\"source\":\"/bad.planted\"}";
        let (status, body) = self.send(&format!(
            "POST /_andon/purge HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        ));
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&body));
    }

    fn send(&self, request: &str) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let end = reply.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&reply[..end]).into_owned();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, reply[end + 4..].to_vec())
    }

    /// Returns a sample of `/metrics`, or 0 if there is none.
    pub(crate) fn metric(&self, sample: &str) -> f64 {
        let (status, body) = self.get("/metrics");
        assert_eq!(status, 200);
        let text = String::from_utf8_lossy(&body).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix(sample));
        line.map_or(0.0, |value| value.trim().parse().unwrap())
    }

    /// Waits until the condition holds.
    pub(crate) fn until(&self, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < LONGEST, "it never came to that");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the server's worker processes.
    pub(crate) fn workers(&self) -> Vec<Process> {
        self.starter().children().collect()
    }

    /// Returns the process that starts the workers.
    pub(crate) fn starter(&self) -> Process {
        Process(self.child.id()).children().next().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A secret in the server's environment.
pub(crate) const SECRET: &str = "a-secret-of-the-bucket-of-photos";

const LONGEST: Duration = Duration::from_secs(60);

fn parent(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(')')?;
    after.split_whitespace().nth(1)?.parse().ok()
}

/// A process, by its id.
#[derive(Debug)]
pub(crate) struct Process(u32);

impl Process {
    /// Returns the process of the test itself.
    pub(crate) fn this() -> Self {
        Self(std::process::id())
    }

    fn children(&self) -> impl Iterator<Item = Self> {
        let of = self.0;
        let all = fs::read_dir("/proc").unwrap().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let children = numbers.filter(move |number| parent(*number) == Some(of));
        children.map(Self)
    }

    /// Limits the number of file descriptors of the process, and returns the previous limit.
    pub(crate) fn most_descriptors(&self, most: Option<u64>) -> Option<u64> {
        let pid = Pid::from_raw(self.0.cast_signed());
        let limits = Rlimit {
            current: most,
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        prlimit(pid, Resource::Nofile, limits).unwrap().current
    }

    /// Returns all memory that the process can write to, or `None` without the permission to read it.
    pub(crate) fn memory(&self) -> Option<Vec<u8>> {
        let place = PathBuf::from(format!("/proc/{}", self.0));
        let maps = fs::read_to_string(place.join("maps")).ok()?;
        let mut file = File::open(place.join("mem")).ok()?;
        let mut all = Vec::new();
        for line in maps.lines().filter(|line| line.contains("rw-p")) {
            let (from, to) = line.split(' ').next()?.split_once('-')?;
            let from = u64::from_str_radix(from, 16).ok()?;
            let to = u64::from_str_radix(to, 16).ok()?;
            file.seek(SeekFrom::Start(from)).ok()?;
            let mut part = vec![0; (to - from) as usize];
            if file.read_exact(&mut part).is_ok() {
                all.append(&mut part);
            }
        }
        Some(all)
    }

    /// Kills the process.
    pub(crate) fn kill(&self) {
        let status = Command::new("kill")
            .args(["-9", &self.0.to_string()])
            .status();
        assert!(status.unwrap().success());
    }
}

/// Returns whether `memory` contains this text.
pub(crate) fn finds(memory: &[u8], text: &str) -> bool {
    memory
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Returns a recipe that no other request has, so that no cache can serve it.
pub(crate) fn distinct() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(64);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("exact:{}x{},as:png", 1 + count % 64, count / 64)
}

/// Returns a certificate and its key.
pub(crate) fn certificate() -> (String, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}
