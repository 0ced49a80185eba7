//! What a planted reader does instead of reading.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Does what the word says, and comes back only if it can.
pub(crate) fn commit(word: &str) -> Result<(), String> {
    match word {
        "none" => Ok(()),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        "panic" => panic!("as told"),
        "loop" => loop {
            black_box(0);
        },
        "sleep" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "allocate" => allocate(),
        "overflow" => {
            black_box(deeper(0));
            Ok(())
        }
        "escape" => escape(),
        other => Err(format!("{other:?} is no fault")),
    }
}

/// Takes memory without end.
fn allocate() -> Result<(), String> {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1_u8; 16 << 20]));
    }
}

/// Takes stack without end.
fn deeper(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    if black_box(depth) == u64::MAX {
        return depth;
    }
    deeper(depth + 1) + here[1]
}

/// Tries whatever a process could do that was taken over, and says what succeeded.
fn escape() -> Result<(), String> {
    let parent = rustix::process::getppid();
    let signal = |to: Option<Pid>| {
        let to = to.ok_or(io::ErrorKind::PermissionDenied)?;
        Ok(kill_process(to, Signal::CONT)?)
    };
    let opened = |path: &str| File::open(path).map(drop);
    let tried: [(&str, io::Result<()>); 12] = [
        ("read a file", opened("/etc/hostname")),
        ("read its memory as a file", opened("/proc/self/mem")),
        ("read its environment", opened("/proc/self/environ")),
        ("write a file", std::fs::write("/tmp/andon-planted", "")),
        ("read a folder", std::fs::read_dir("/").map(drop)),
        ("connect", TcpStream::connect("127.0.0.1:9").map(drop)),
        ("listen", TcpListener::bind("127.0.0.1:0").map(drop)),
        ("send a datagram", UdpSocket::bind("127.0.0.1:0").map(drop)),
        ("open a Unix socket", UnixDatagram::unbound().map(drop)),
        (
            "start a program",
            Command::new("/bin/true").spawn().map(drop),
        ),
        (
            "start a thread",
            std::thread::Builder::new().spawn(|| {}).map(drop),
        ),
        ("signal its parent", signal(parent)),
    ];
    let succeeded: Vec<&str> = tried
        .iter()
        .filter(|(_, outcome)| match outcome {
            Ok(()) => true,
            // Nobody listens there: but it was asked.
            Err(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        })
        .map(|(what, _)| *what)
        .collect();
    Err(format!(
        "{} succeeded: {}",
        succeeded.len(),
        succeeded.join(", ")
    ))
}
