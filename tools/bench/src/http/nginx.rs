//! Runs nginx, with a `proxy_cache` or with files to serve, as a child process in a folder of its own.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs};

use anyhow::{Context, Result};

use super::server::terminate;
use super::tls::Certificate;
use crate::proc;

/// A running nginx. It is stopped when this is dropped.
pub(crate) struct Nginx {
    child: Child,
    address: SocketAddr,
    folder: PathBuf,
}

impl Nginx {
    /// Starts nginx as a cache of the responses of `origin`, with one worker per core.
    pub(crate) fn in_front_of(origin: SocketAddr) -> Result<Self> {
        Self::plain(&cache(origin))
    }

    /// Starts nginx to serve the files of a folder, with one worker per core.
    pub(crate) fn serving(files: &Path) -> Result<Self> {
        Self::plain(&format!("root {};", files.display()))
    }

    fn plain(location: &str) -> Result<Self> {
        let listen = |address| format!("listen {address};");
        Self::start(Command::new("nginx"), "auto", listen, location)
    }

    /// Starts nginx as a cache of the responses of `origin`, with TLS, HTTP/2 and one worker. `command` is the command
    /// that starts nginx; its options are appended.
    pub(crate) fn with_tls(
        command: Command,
        certificate: &Certificate,
        origin: SocketAddr,
    ) -> Result<Self> {
        let listen = |address| {
            format!(
                "listen {address} ssl http2;
        ssl_protocols TLSv1.2 TLSv1.3;
        ssl_certificate {};
        ssl_certificate_key {};",
                certificate.certificate().display(),
                certificate.key().display()
            )
        };
        Self::start(command, "1", listen, &cache(origin))
    }

    fn start(
        mut command: Command,
        workers: &str,
        listen: impl Fn(SocketAddr) -> String,
        location: &str,
    ) -> Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("andon-bench-nginx-{}-{number}", std::process::id());
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(folder.join("temp"))?;
        // A port that was free a moment ago.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        fs::write(
            folder.join(CONFIGURATION),
            configuration(workers, &listen(address), location),
        )?;
        let child = command
            .arg("-p")
            .arg(&folder)
            .args(["-e", "stderr", "-c", CONFIGURATION])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("nginx")?;
        let mut nginx = Self {
            child,
            address,
            folder,
        };
        proc::wait_until_it_listens(&mut nginx.child, "nginx", address)?;
        Ok(nginx)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the ids of the processes that respond to requests. The short-lived processes that maintain the cache are
    /// left out.
    pub(crate) fn workers(&self) -> Result<Vec<u32>> {
        proc::children(self.pid(), "nginx: worker")
    }

    pub(crate) fn configuration(&self) -> PathBuf {
        self.folder.join(CONFIGURATION)
    }

    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new("nginx").arg("-v").output()?;
        Ok(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }

    /// Sends SIGTERM to nginx and waits until it has ended.
    pub(crate) fn stop(mut self) -> Result<()> {
        terminate(self.pid())?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The workers end with a master that is terminated, but not with one that is killed. The master may have ended
        // already.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = terminate(self.pid());
        }
        let _ = self.child.wait();
        remove(&self.folder);
    }
}

fn remove(folder: &Path) {
    // An error is harmless: the folder is below the system's temporary folder.
    let _ = fs::remove_dir_all(folder);
}

/// Returns a configuration that follows the usual advice for production: `sendfile`, cached open files, keep-alive
/// connections, no access log, and cached responses on disk and thus in the system's page cache.
fn configuration(workers: &str, listen: &str, location: &str) -> String {
    format!(
        "user root;
worker_processes {workers};
daemon off;
pid nginx.pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_timeout 75s;
    keepalive_requests 1000000000;
    open_file_cache max=10000 inactive=60s;
    client_body_temp_path temp/body;
    proxy_temp_path temp/proxy;
    fastcgi_temp_path temp/fastcgi;
    uwsgi_temp_path temp/uwsgi;
    scgi_temp_path temp/scgi;
    proxy_cache_path cache levels=1:2 keys_zone=images:10m max_size=1g inactive=60m use_temp_path=off;
    server {{
        {listen}
        location / {{ {location} }}
    }}
}}
"
    )
}

/// Returns the directives of a location that caches the 200 responses of `origin`.
fn cache(origin: SocketAddr) -> String {
    format!(
        "proxy_pass http://{origin};
            proxy_http_version 1.1;
            proxy_set_header Connection \"\";
            proxy_cache images;
            proxy_cache_valid 200 60m;
            add_header X-Cache-Status $upstream_cache_status;"
    )
}

const CONFIGURATION: &str = "nginx.conf";
