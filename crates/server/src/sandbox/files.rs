//! Restricts by Landlock which files may be opened: those that the configuration names, and those that are needed to
//! look up names and to read metrics. Everything else fails with `EACCES`, whatever the permissions of the file say.
//! Nothing may be executed, no device created or controlled, and no signal sent to another process.
//!
//! A rule permits the folder or file that exists at the start, not its path. What may be replaced while the server runs
//! (the configuration, certificates) is therefore permitted through a rule for its folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags, path_beneath_rules,
};

use crate::config::{
    BucketConfig, Config, ConfigError, Credentials, Environment, Listen, OriginKind, Store,
    StorePlace, credential_files,
};

/// Rules for which files may be opened, and with which rights.
#[derive(Debug)]
pub(super) struct FileRules(Vec<Rule>);

/// A rule of the sandbox, which permits the server to use one file, or one folder with everything below it. The server
/// cannot open files that no rule permits.
#[derive(Debug)]
struct Rule {
    /// The configuration key that names the path; empty for paths of the system and for the configuration file itself.
    key: String,
    path: PathBuf,
    /// The path with its links resolved, as it was when the rule was made.
    real: PathBuf,
    access: FileAccess,
}

/// What may be done with the files of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileAccess {
    Read,
    /// Reading, and also creating, writing, renaming and removing.
    Write,
    /// Creating and removing Unix sockets.
    Bind,
}

impl FileRules {
    /// Returns rules for all files that a server with this configuration opens. `file` is the configuration file.
    pub(super) fn of(config: &Config, file: Option<&Path>) -> Self {
        let mut rules = Self(Vec::new());
        rules.add_system();
        rules.add_replaceable("", file);
        for (index, origin) in config.origin.iter().enumerate() {
            let key = |name: &str| format!("origin.{index}.{name}");
            match &origin.keeper {
                OriginKind::Fs(fs) => {
                    rules.add(key("fs.root"), &fs.root, FileAccess::Read);
                    if fs.outside_links && config.sandbox.read.is_empty() {
                        let everywhere = Path::new("/");
                        rules.add(key("fs.outside_links"), everywhere, FileAccess::Read);
                    }
                }
                OriginKind::Http(http, _) => {
                    rules.add_replaceable(&key("http.ca"), http.ca.as_deref());
                }
                OriginKind::Bucket(store, bucket, _) => {
                    rules.add_replaceable(&key(&format!("{store}.ca")), bucket.ca.as_deref());
                    let name = bucket.credentials_env.as_deref();
                    // The variable may hold the key itself, as JSON, which is no path of an existing file.
                    let file = name.and_then(std::env::var_os).map(PathBuf::from);
                    rules.add_replaceable(&key("gcs.credentials_env"), file.as_deref());
                    rules.add_credentials(&key(&format!("{store}.credentials")), *store, bucket);
                }
            }
        }
        if let Some(folder) = &config.dialects.small_light.material_dir {
            rules.add("small_light.material_dir", folder, FileAccess::Read);
        }
        rules.add_replaceable("tls.certificate", config.tls.certificate.as_deref());
        rules.add_replaceable("tls.key", config.tls.key.as_deref());
        rules.add_replaceable("otlp.ca", config.otlp.ca.as_deref());
        if let Some(disk) = config.cache.disk.as_ref().filter(|disk| disk.size.0 > 0) {
            rules.add("cache.disk", &disk.path, FileAccess::Write);
        }
        match config.store.as_ref().map(|store| &store.place) {
            Some(StorePlace::Folder(root)) => rules.add("store.fs.root", root, FileAccess::Write),
            Some(StorePlace::Bucket(store, bucket)) => {
                rules.add_credentials(&format!("store.{store}.credentials"), *store, bucket);
                rules.add_replaceable("store.ca", bucket.ca.as_deref());
                let name = bucket.credentials_env.as_deref();
                let file = name.and_then(std::env::var_os).map(PathBuf::from);
                rules.add_replaceable("store.gcs.credentials_env", file.as_deref());
            }
            None => {}
        }
        for (key, listens) in [
            ("listen", &*config.listen),
            ("tls.listen", &*config.tls.listen),
            ("metrics.listen", config.metrics.listen.as_slice()),
        ] {
            for listen in listens {
                if let Listen::Unix(socket) = listen {
                    rules.add(key, folder_of(socket), FileAccess::Bind);
                }
            }
        }
        for path in &config.sandbox.read {
            rules.add("sandbox.read", path, FileAccess::Read);
        }
        rules
    }

    /// Restricts this thread, and the threads that it starts from now on, to these files.
    ///
    /// # Errors
    /// If the kernel cannot do that: before Linux 5.19, where Landlock cannot permit renaming between folders, or with
    /// Landlock switched off.
    pub(super) fn restrict(&self) -> io::Result<()> {
        for rule in self.0.iter().filter(|it| it.access == FileAccess::Write) {
            // Only an existing folder can be permitted. If this fails, the cache reports the error.
            let _ = fs::create_dir_all(&rule.path);
        }
        let restrict = || {
            let mut ruleset = Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(AccessFs::from_all(ABI::V2))?
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(ABI::V5))?
                .scope(scopes())?
                .create()?;
            for rule in &self.0 {
                ruleset =
                    ruleset.add_rules(path_beneath_rules([&rule.path], rule.access.rights()))?;
            }
            ruleset.restrict_self()
        };
        match restrict() {
            Ok(status) if status.ruleset != RulesetStatus::NotEnforced => Ok(()),
            Ok(_) => Err(io::ErrorKind::Unsupported.into()),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Checks whether these rules, which are in force, permit all that the rules `others` permit.
    ///
    /// # Errors
    /// An error that names the configuration key and the path.
    pub(super) fn permit(&self, others: &Self) -> Result<(), ConfigError> {
        let mut named_rules = others.0.iter().filter(|other| !other.key.is_empty());
        named_rules.try_for_each(|other| {
            let covers = |rule: &Rule| {
                other.real.starts_with(&rule.real) && rule.access.includes(other.access)
            };
            let path = other.path.display();
            if !self.0.iter().any(covers) {
                return Err(ConfigError::new(
                    &*other.key,
                    format!(
                        "{path} is not among what the sandbox has permitted since the start; restart the server, or name a \
                         folder above it in `sandbox.read` before the start"
                    ),
                ));
            }
            // The kernel may refuse a permitted path if its folder was replaced by another of the same name.
            let outcome = (other.access == FileAccess::Read).then(|| File::open(&other.path));
            match outcome {
                Some(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
                    Err(ConfigError::new(
                        &*other.key,
                        format!(
                            "{path} cannot be opened ({error}); if it was replaced since the start, restart the server: the \
                             sandbox permits the folder that was there then"
                        ),
                    ))
                }
                _ => Ok(()),
            }
        })
    }

    fn add(&mut self, key: impl Into<String>, path: &Path, access: FileAccess) {
        self.0.push(Rule {
            key: key.into(),
            path: path.to_owned(),
            real: real(path),
            access,
        });
    }

    /// Permits reading a file that may be replaced by another of the same name: permitted are its folder and, if it is
    /// a link, the folder that the link leads to.
    fn add_replaceable(&mut self, key: &str, file: Option<&Path>) {
        let Some(file) = file else {
            return;
        };
        let real = real(file);
        self.add(key, folder_of(file), FileAccess::Read);
        self.add(key, folder_of(&real), FileAccess::Read);
    }

    /// Permits reading the credential files of a bucket that uses the credentials of the cloud platform, such as a token
    /// file that an environment variable names. Permits nothing for other buckets.
    fn add_credentials(&mut self, key: &str, store: Store, bucket: &BucketConfig) {
        if let Some(Credentials::Platform) = bucket.credentials {
            for file in credential_files(store, &Environment::of_process()) {
                self.add_replaceable(key, Some(&file));
            }
        }
    }

    /// Permits reading the files that the C library needs to look up names, and those from which the server reads its
    /// own metrics and limits.
    fn add_system(&mut self) {
        for path in SYSTEM {
            self.add("", Path::new(path), FileAccess::Read);
        }
        // Often a link to a file that a service replaces again and again.
        let resolver = real(Path::new(RESOLVER));
        let folder = folder_of(&resolver);
        let path = match folder == Path::new("/etc") {
            true => &resolver,
            false => folder,
        };
        self.add("", path, FileAccess::Read);
    }
}

impl FileAccess {
    fn rights(self) -> BitFlags<AccessFs> {
        match self {
            Self::Read => make_bitflags!(AccessFs::{ReadFile | ReadDir}),
            Self::Write => make_bitflags!(AccessFs::{
                ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile
                | RemoveDir | Refer
            }),
            Self::Bind => make_bitflags!(AccessFs::{MakeSock | RemoveFile}),
        }
    }

    fn includes(self, other: Self) -> bool {
        self.rights().contains(other.rights())
    }
}

/// Returns what Landlock scopes forbid: signals to other processes, and connections to their abstract Unix sockets
/// unless the service manager listens on one.
fn scopes() -> BitFlags<Scope> {
    let socket = std::env::var_os("NOTIFY_SOCKET").unwrap_or_default();
    match socket.as_encoded_bytes().first() {
        Some(b'@') => Scope::Signal.into(),
        _ => Scope::from_all(ABI::V6),
    }
}

/// Returns a path with its links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        let existing = match ancestor == Path::new("") {
            true => Path::new("."),
            false => ancestor,
        };
        match (existing.canonicalize(), path.strip_prefix(ancestor)) {
            (Ok(real), Ok(missing)) if missing != Path::new("") => return real.join(missing),
            (Ok(real), _) => return real,
            (Err(_), _) => {}
        }
    }
    path.to_owned()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        // The root folder, or an empty path.
        None => path,
    }
}

/// Paths of the system that the server reads. Everybody may read them, and only the administrator writes them. `/proc`
/// is needed for the server's own limits and metrics. Hiding what it says about other users' processes is up to the
/// kernel and systemd (`ProtectProc`).
const SYSTEM: &[&str] = &[
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    // Name look-up: its configuration, and the libraries that the C library loads for it.
    "/etc/gai.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/nsswitch.conf",
    "/etc/protocols",
    "/etc/services",
    "/gnu/store",
    "/lib",
    "/lib64",
    "/nix/store",
    "/usr/lib",
    "/usr/lib64",
];

const RESOLVER: &str = "/etc/resolv.conf";

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str, folder: &Path) -> Config {
        let listen = "listen = [\"127.0.0.1:0\"]\n";
        Config::parse(&format!("{listen}{text}"), folder).unwrap()
    }

    /// Runs `try_out` on a thread that is restricted to the files of a configuration; `None`, with a message, if the
    /// kernel cannot do that.
    fn restricted<T: Send + 'static>(
        config: &Config,
        try_out: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let rules = FileRules::of(config, None);
        let trying = std::thread::spawn(move || match rules.restrict() {
            Ok(()) => Some(try_out()),
            Err(error) => {
                eprintln!("not tried: {error}");
                None
            }
        });
        trying.join().unwrap()
    }

    fn is_refused<T>(result: io::Result<T>) -> bool {
        result.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    #[test]
    fn a_thread_reads_its_origin_and_no_password_file() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("photos");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.jpg"), "a").unwrap();
        fs::write(folder.path().join("b.jpg"), "b").unwrap();
        let config = config("[[origin]]\nfs.root = \"photos\"\n", folder.path());
        let elsewhere = folder.path().to_owned();
        let tried = restricted(&config, move || {
            assert_eq!(fs::read(root.join("a.jpg")).unwrap(), b"a");
            assert!(is_refused(fs::write(root.join("c.jpg"), "c")));
            assert!(is_refused(fs::remove_file(root.join("a.jpg"))));
            assert!(is_refused(File::open(elsewhere.join("b.jpg"))));
            assert!(is_refused(fs::read_dir(&elsewhere)));
            assert!(is_refused(File::open("/etc/passwd")));
            assert!(is_refused(fs::write(elsewhere.join("c.jpg"), "c")));
        });
        assert!(tried.is_none_or(|()| fs::exists("/etc/passwd").unwrap()));
    }

    #[test]
    fn a_thread_looks_names_up() {
        let folder = tempfile::tempdir().unwrap();
        let config = config("[[origin]]\nfs.root = \".\"\n", folder.path());
        let found = restricted(&config, || {
            std::net::ToSocketAddrs::to_socket_addrs(&("localhost", 80)).map(Iterator::count)
        });
        assert!(found.is_none_or(|found| found.unwrap() > 0));
    }

    #[test]
    fn a_thread_keeps_its_cache_in_a_folder_that_was_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let text = "[[origin]]\nfs.root = \".\"\n[cache]\ndisk = { path = \"kept/here\", size = \"1MiB\" }\n";
        let config = config(text, folder.path());
        let kept = folder.path().join("kept/here");
        restricted(&config, move || {
            for name in ["tmp", "3f"] {
                fs::create_dir(kept.join(name)).unwrap();
            }
            fs::write(kept.join("tmp/0"), "an entry").unwrap();
            fs::rename(kept.join("tmp/0"), kept.join("3f/ab")).unwrap();
            assert_eq!(fs::read(kept.join("3f/ab")).unwrap(), b"an entry");
            fs::remove_file(kept.join("3f/ab")).unwrap();
            fs::remove_dir(kept.join("3f")).unwrap();
            assert!(is_refused(fs::write(kept.join("../there"), "not here")));
        });
    }

    #[test]
    fn a_thread_binds_sockets_where_they_are_configured() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["run", "photos"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let text =
            "[[origin]]\nfs.root = \"photos\"\n[metrics]\nlisten = \"unix:run/andon.sock\"\n";
        let config = config(text, folder.path());
        let path = folder.path().to_owned();
        restricted(&config, move || {
            let bind = |name| std::os::unix::net::UnixListener::bind(path.join(name));
            bind("run/andon.sock").unwrap();
            fs::remove_file(path.join("run/andon.sock")).unwrap();
            assert!(is_refused(bind("photos/andon.sock")));
        });
    }

    #[test]
    fn a_link_out_of_a_folder_leads_where_the_sandbox_permits() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["photos", "archive", "else"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("a.jpg"), name).unwrap();
        }
        let origin = "[[origin]]\nfs.root = \"photos\"\nfs.outside_links = true\n";
        for (read, expected) in [("", [true; 2]), ("read = [\"archive\"]", [true, false])] {
            let text = format!("{origin}[sandbox]\n{read}\n");
            let config = config(&text, folder.path());
            let path = folder.path().to_owned();
            let read = restricted(&config, move || {
                ["archive", "else"].map(|name| File::open(path.join(name).join("a.jpg")).is_ok())
            });
            assert!(read.is_none_or(|read| read == expected), "{read:?}");
        }
    }

    #[test]
    fn another_configuration_is_permitted_if_it_opens_nothing_new() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["photos/new", "archive", "else", "run"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let rules = |text: &str| FileRules::of(&config(text, folder.path()), None);
        let permitted = rules(
            "[[origin]]\nfs.root = \"photos\"\n[sandbox]\nread = [\"archive\"]\n\
             [cache]\ndisk = { path = \"kept\", size = \"1MiB\" }\n",
        );
        for text in [
            "[[origin]]\nfs.root = \"photos/new\"\n",
            "[[origin]]\nfs.root = \"archive\"\n",
            "[[origin]]\nfs.root = \"photos\"\n[cache]\ndisk = { path = \"kept\", size = \"2MiB\" }\n",
        ] {
            assert_eq!(permitted.permit(&rules(text)), Ok(()), "{text}");
        }
        for (text, key, path) in [
            ("[[origin]]\nfs.root = \"else\"\n", "origin.fs.root", "else"),
            (
                "[[origin]]\nfs.root = \"photos\"\n[cache]\ndisk = { path = \"photos\", size = \"1MiB\" }\n",
                "cache.disk",
                "photos",
            ),
            (
                "[[origin]]\nfs.root = \"photos\"\nfs.outside_links = true\n",
                "origin.fs.outside_links",
                "/",
            ),
            (
                "[[origin]]\nfs.root = \"photos\"\n[metrics]\nlisten = \"unix:run/andon.sock\"\n",
                "metrics.listen",
                "run",
            ),
        ] {
            let said = permitted.permit(&rules(text)).unwrap_err().to_string();
            assert!(said.contains(key) && said.contains(path), "{said}");
            assert!(said.contains("restart the server"), "{said}");
        }
    }

    #[test]
    fn a_file_that_is_replaced_is_read_from_its_folder_and_from_where_its_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["live", "archive", "photos"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("archive/1.pem"), "1").unwrap();
        let live = folder.path().join("live/cert.pem");
        std::os::unix::fs::symlink("../archive/1.pem", &live).unwrap();
        let text = "[[origin]]\nfs.root = \"photos\"\n\
                    [tls]\ncertificate = \"live/cert.pem\"\nkey = \"live/cert.pem\"\n";
        let config = config(text, folder.path());
        let path = folder.path().to_owned();
        let (restricted, is_restricted) = std::sync::mpsc::channel();
        let (renewed, is_renewed) = std::sync::mpsc::channel::<()>();
        let rules = FileRules::of(&config, None);
        let reading = std::thread::spawn(move || {
            let enforced = rules.restrict();
            restricted.send(()).unwrap();
            is_renewed.recv().unwrap();
            enforced.map(|()| fs::read(live))
        });
        is_restricted.recv().unwrap();
        fs::write(path.join("archive/2.pem"), "2").unwrap();
        fs::remove_file(path.join("live/cert.pem")).unwrap();
        std::os::unix::fs::symlink("../archive/2.pem", path.join("live/cert.pem")).unwrap();
        renewed.send(()).unwrap();
        match reading.join().unwrap() {
            Ok(read) => assert_eq!(read.unwrap(), b"2"),
            Err(error) => eprintln!("not tried: {error}"),
        }
    }
}
