//! Reloads and restarts under load, and the notifications to systemd about them.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, Reply, Served, one_image};

const HIT: &str = "/small_light(dw=60)/a.jpg";

fn keys(queue: usize) -> String {
    format!("queue = {queue}\n[[origin]]\nfs.root = \".\"\n[log]\nformat = \"off\"\n")
}

/// Returns a command like that of systemd: the socket is descriptor 3, and stays open here.
fn with_socket(socket: &TcpListener) -> Command {
    let mut command = Command::new("sh");
    let passed = "exec 3<&0 0</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"";
    command
        .args(["-c", passed, "sh", env!("CARGO_BIN_EXE_andon")])
        .stdin(Stdio::from(OwnedFd::from(socket.try_clone().unwrap())));
    command
}

/// One of many clients, which keeps its connection until the server closes it.
struct Visitor<'a> {
    address: &'a str,
    connection: Option<Client>,
}

impl Visitor<'_> {
    /// Requests a target. Like every HTTP client, retries once on a new connection if a reused one turns out to be
    /// closed (RFC 9112, 9.3.1). An error on a new connection counts as a lost request.
    fn get(&mut self, target: &str) -> io::Result<Reply> {
        let kept = self.connection.take();
        if let Some(mut connection) = kept {
            match connection.get(target) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                reply => return self.keep(connection, reply),
            }
        }
        let mut connection = Client::connect(self.address)?;
        let reply = connection.get(target);
        self.keep(connection, reply)
    }

    fn keep(&mut self, connection: Client, reply: io::Result<Reply>) -> io::Result<Reply> {
        let reply = reply?;
        let ends = reply
            .headers
            .get("connection")
            .is_some_and(|it| it == "close");
        self.connection = (!ends).then_some(connection);
        Ok(reply)
    }
}

#[test]
fn two_hundred_busy_clients_lose_nothing_of_100_000_requests_to_50_reloads_and_20_restarts() {
    const CLIENTS: usize = 200;
    const RESTARTS: usize = 20;
    const RELOADS: usize = 50;
    const REQUESTS: usize = 100_000;
    let folder = one_image();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let start = || Served::start_at(&address, with_socket(&socket), folder.path(), &keys(1000));
    let mut served = start();
    let expected = served.get(HIT).body;

    let (done, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let last = thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut visitor = Visitor {
                    address: &address,
                    connection: None,
                };
                while !done.load(Ordering::Relaxed) {
                    let reply = visitor.get(HIT).expect("a whole reply");
                    assert_eq!((reply.status, &reply.body), (200, &expected));
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // Each server, and each configuration, must have answered requests before the next one starts.
        let let_them_ask = || {
            let goal = answered.load(Ordering::Relaxed) + REQUESTS.div_ceil(RELOADS + RESTARTS);
            while answered.load(Ordering::Relaxed) < goal {
                thread::sleep(Duration::from_millis(1));
            }
        };
        for restart in 0..RESTARTS {
            for reload in restart * RELOADS / RESTARTS..(restart + 1) * RELOADS / RESTARTS {
                fs::write(folder.path().join("andon.toml"), keys(1001 + reload)).unwrap();
                served.signal("-HUP");
                let_them_ask();
            }
            served.stop();
            served = start();
            let_them_ask();
        }
        done.store(true, Ordering::Relaxed);
        served
    });
    last.stop();
    assert!(answered.into_inner() >= REQUESTS);
}

#[test]
fn in_its_grace_period_it_answers_and_says_that_it_is_not_ready() {
    let folder = one_image();
    let config = keys(1000) + "[timeouts]\ngrace = \"1h\"\n[metrics]\nlisten = \"127.0.0.1:0\"\n";
    let mut served = Served::start(folder.path(), &config);
    assert_eq!(served.get("/readyz").status, 200);
    assert_eq!(served.get(HIT).status, 200);

    served.signal("-TERM");
    let mut readiness = served.get("/readyz");
    while readiness.status == 200 {
        readiness = served.get("/readyz");
    }
    assert_eq!(readiness.status, 503);
    assert_eq!(readiness.body, b"the server is stopping\n");
    assert_eq!(served.get("/healthz").status, 200);
    let hit = served.get(HIT);
    assert_eq!((hit.status, hit.is_hit()), (200, true));
    assert_eq!(
        hit.headers.get("connection").map(String::as_str),
        Some("close")
    );

    served.signal("-TERM");
    assert_eq!(served.wait(), Some(1), "a second signal ends it at once");
}

#[test]
fn a_socket_that_the_configuration_does_not_name_is_refused_in_words() {
    let folder = one_image();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = with_socket(&socket);
    let said = command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path());
    let said = said.output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    let address = socket.local_addr().unwrap();
    let expected =
        format!("the socket http://{address} that the server was started with is not in `listen`");
    assert!(!said.status.success() && text.contains(&expected), "{text}");
    let everywhere = format!("0.0.0.0:{}", address.port());
    let mut command = with_socket(&socket);
    let said = command
        .args([
            "serve",
            "--listen",
            &everywhere,
            "--listen",
            &address.to_string(),
        ])
        .current_dir(folder.path());
    let said = said.output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    let expected = format!(
        "cannot listen on {everywhere}: the socket http://{address} that the server was started with has this port"
    );
    assert!(!said.status.success() && text.contains(&expected), "{text}");
}

#[test]
fn a_descriptor_that_does_not_listen_is_refused_in_words() {
    let folder = one_image();
    let mut command = Command::new("sh");
    let passed = "exec 3</dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"";
    command.args(["-c", passed, "sh", env!("CARGO_BIN_EXE_andon"), "serve"]);
    let said = command.current_dir(folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&said.stderr);
    assert!(
        text.contains("LISTEN_FDS names what is no listening socket: fd 3"),
        "{text}"
    );
}

/// Returns the next message other than a watchdog notification.
fn next(systemd: &UnixDatagram) -> String {
    loop {
        let text = message(systemd);
        if text != "WATCHDOG=1\n" {
            return text;
        }
    }
}

fn message(systemd: &UnixDatagram) -> String {
    let mut buffer = [0; 512];
    let length = systemd.recv(&mut buffer).expect("a message in time");
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[test]
fn systemd_hears_of_start_reload_and_stop_and_that_the_server_lives() {
    let folder = one_image();
    let path = folder.path().join("notify");
    let systemd = bind(&path);
    let served = Served::start_with(folder.path(), &keys(1000), |command| {
        command
            .env("NOTIFY_SOCKET", &path)
            .env("WATCHDOG_USEC", "20000");
    });
    assert_eq!(message(&systemd), "READY=1\n");
    assert_eq!(message(&systemd), "WATCHDOG=1\n");
    assert_eq!(message(&systemd), "WATCHDOG=1\n");

    // A rejected configuration ends a reload, too.
    for config in [keys(1001), "nonsense".to_owned()] {
        fs::write(folder.path().join("andon.toml"), config).unwrap();
        served.signal("-HUP");
        let reloading = next(&systemd);
        let began = reloading
            .strip_prefix("RELOADING=1\nMONOTONIC_USEC=")
            .and_then(|time| time.trim_end().parse::<u64>().ok());
        assert!(began.is_some_and(|began| began > 0), "{reloading}");
        assert_eq!(next(&systemd), "READY=1\n");
    }
    served.stop();
    assert_eq!(next(&systemd), "STOPPING=1\n");
}

fn bind(path: &Path) -> UnixDatagram {
    let systemd = UnixDatagram::bind(path).unwrap();
    systemd
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    systemd
}

#[test]
fn a_release_that_a_link_leads_to_is_served_without_a_reload() {
    let folder = one_image();
    let release = |name: &str, images: &[&str]| {
        let at = folder.path().join("releases").join(name);
        fs::create_dir_all(&at).unwrap();
        for image in images {
            fs::copy(folder.path().join("a.jpg"), at.join(image)).unwrap();
        }
        let link = folder.path().join("next");
        std::os::unix::fs::symlink(&at, &link).unwrap();
        fs::rename(&link, folder.path().join("current")).unwrap();
    };
    release("1", &["a.jpg", "old.jpg"]);
    let keys = "[sandbox]\nread = [\"releases\"]\n[log]\nformat = \"off\"\n[[origin]]\nfs.root = \"current\"\n";
    let served = Served::start(folder.path(), keys);
    let status = |target: &str| served.get(target).status;
    for target in [
        "/old.jpg",
        "/r/fit:60x/old.jpg",
        "/a.jpg",
        "/r/fit:60x/a.jpg",
    ] {
        assert_eq!(status(target), 200, "{target}");
    }
    assert_eq!(status("/new.jpg"), 404);
    release("2", &["a.jpg", "new.jpg"]);
    for target in [
        "/new.jpg",
        "/r/fit:60x/new.jpg",
        "/a.jpg",
        "/r/fit:60x/a.jpg",
    ] {
        assert_eq!(status(target), 200, "{target}");
    }
    // A result is considered fresh for a moment.
    let deadline = Instant::now() + Duration::from_secs(30);
    for target in ["/old.jpg", "/r/fit:60x/old.jpg"] {
        while status(target) != 404 {
            assert!(Instant::now() < deadline, "{target}");
        }
    }
}

#[test]
fn a_site_whose_whole_folder_is_replaced_is_served_although_the_server_was_started_in_it() {
    let site = tempfile::tempdir().unwrap();
    let put = |folder: &str, names: &[&str]| {
        let public = site.path().join(folder).join("public");
        fs::create_dir_all(&public).unwrap();
        for name in names {
            fs::copy(crate::common::sample("jpeg/420.jpg"), public.join(name)).unwrap();
        }
        let keys = "listen = [\"127.0.0.1:0\"]\n[sandbox]\nread = [\"..\"]\n[log]\nformat = \"off\"\n[[origin]]\n\
                    fs.root = \"public\"\n";
        fs::write(site.path().join(folder).join("andon.toml"), keys).unwrap();
    };
    put("now", &["a.jpg"]);
    put("next", &["a.jpg", "b.jpg"]);
    let now = site.path().join("now");
    let mut command = Command::new(crate::common::program());
    command
        .args(["serve", "--config", "andon.toml"])
        .current_dir(&now)
        .env("PWD", &now);
    let served = Served::listening(command);
    assert_eq!(served.get("/r/fit:60x/a.jpg").status, 200);
    assert_eq!(served.get("/b.jpg").status, 404);
    fs::rename(&now, site.path().join("old")).unwrap();
    fs::rename(site.path().join("next"), &now).unwrap();
    fs::remove_dir_all(site.path().join("old")).unwrap();
    for target in ["/b.jpg", "/r/fit:60x/b.jpg", "/r/fit:61x/a.jpg"] {
        assert_eq!(served.get(target).status, 200, "{target}");
    }
}

#[test]
fn an_address_of_the_command_line_replaces_those_of_tls_too() {
    let folder = one_image();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = taken.local_addr().unwrap();
    let keys = format!(
        "[tls]\nlisten = [\"{tls}\"]\ncertificate = \"no.pem\"\nkey = \"no.pem\"\n[[origin]]\nfs.root = \".\"\n"
    );
    fs::write(folder.path().join("andon.toml"), keys).unwrap();
    let mut command = Command::new(crate::common::program());
    command.args(["serve", "--config", "andon.toml", "--port", "0"]);
    command.current_dir(folder.path());
    let served = Served::listening(command);
    assert_eq!(served.get("/r/fit:60x/a.jpg").status, 200);
}
