//! The faults that the test server's codec for planted files causes instead of decoding them, such as a crash or an
//! endless loop.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::panic::catch_unwind;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_current_process_group, kill_process};

/// Causes the fault with this name. For faults such as `abort` and `loop`, this function never returns.
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
            thread::sleep(Duration::from_secs(1));
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

/// Allocates memory until it fails.
fn allocate() -> Result<(), String> {
    let mut all = Vec::new();
    loop {
        all.push(black_box(vec![1_u8; 16 << 20]));
    }
}

/// Recurses endlessly, which overflows the stack.
fn deeper(depth: u64) -> u64 {
    let here = black_box([depth; 64]);
    if black_box(depth) == u64::MAX {
        return depth;
    }
    deeper(depth + 1) + here[1]
}

/// An action that a compromised process might try: a name and a function.
type Attempt = (&'static str, fn() -> io::Result<()>);

const ATTEMPTS: &[Attempt] = &[
    ("read a file", || opened("/etc/hostname")),
    ("read its memory as a file", || opened("/proc/self/mem")),
    ("read its environment", || opened("/proc/self/environ")),
    ("write a file", || std::fs::write("/tmp/andon-planted", "")),
    ("read a folder", || std::fs::read_dir("/").map(drop)),
    ("connect", || TcpStream::connect("127.0.0.1:9").map(drop)),
    ("listen", || TcpListener::bind("127.0.0.1:0").map(drop)),
    ("open a datagram socket", || {
        UdpSocket::bind("127.0.0.1:0").map(drop)
    }),
    ("open a Unix socket", || UnixDatagram::unbound().map(drop)),
    ("start a program", || {
        Command::new("/bin/true").spawn().map(drop)
    }),
    ("signal the first process", || {
        let first = Pid::from_raw(1).ok_or(io::ErrorKind::NotFound)?;
        Ok(kill_process(first, Signal::CONT)?)
    }),
    ("signal its own group", || {
        Ok(kill_current_process_group(Signal::CONT)?)
    }),
];

fn opened(path: &str) -> io::Result<()> {
    File::open(path).map(drop)
}

/// Tries all actions of a compromised process. The error lists those that succeeded.
fn escape() -> Result<(), String> {
    let succeeds = |attempt: fn() -> io::Result<()>| match catch_unwind(attempt) {
        Ok(Ok(())) => true,
        // Nobody listens there, but this error shows that the connection was attempted.
        Ok(Err(error)) => error.kind() == io::ErrorKind::ConnectionRefused,
        // The standard library does not have kinds for some of the refusals.
        Err(_) => false,
    };
    let succeeded = ATTEMPTS.iter().filter(|(_, attempt)| succeeds(*attempt));
    let names: Vec<&str> = succeeded.map(|(what, _)| *what).collect();
    Err(format!(
        "{} of {} succeeded: {}",
        names.len(),
        ATTEMPTS.len(),
        names.join(", ")
    ))
}
