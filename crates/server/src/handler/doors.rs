//! The parts of a configuration that answer requests, who may use each of them, and settings that may have unexpected
//! effects.

use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;

use andon_dialects::{Dialects, Door, NoHeaders, Nowhere, Refusal};

use crate::admission;
use crate::config::{
    AllowedClients, Bytes, Config, ConfigError, Environment, Files, FsConfig, Listen, OriginConfig,
    OriginKind, otlp_warnings,
};
use crate::handler::folder::thumbnail;
use crate::net::Peer;
use crate::request::forwarded::Proxies;

/// Lists everything that answers requests: URL dialects, unchanged files, and the server's own pages.
///
/// # Errors
/// An error that names what is invalid in the configuration.
pub fn doors(config: &Config) -> Result<Vec<Door>, ConfigError> {
    let mut doors: Vec<Door> = Dialects::new(&config.dialects)?.doors().cloned().collect();
    let has_token = has_token(config);
    let token = match has_token {
        true => "the administrator's token",
        false => "nobody: there is no token in [admin]",
    };
    let local = |allow| match allow {
        AllowedClients::Off => "nobody".to_owned(),
        AllowedClients::All => "everybody".to_owned(),
        AllowedClients::Local => match ways(config)[..] {
            [] => "nobody: \"local\" needs a token in [admin], or a Unix socket that is not in \
                 `proxy.trusted`"
                .to_owned(),
            ref ways => ways.join(", "),
        },
    };
    let mut add = |name, places: &str, who: String| {
        doors.push(Door {
            name,
            places: places.to_owned(),
            who,
        });
    };
    add("upload", "POST /_andon/render", local(config.upload.allow));
    let play = match config.play.allow {
        // Without the token, clients get only the page itself, and no data.
        AllowedClients::All => "the administrator's token".to_owned(),
        allow => local(allow),
    };
    add("play", "/_andon/play", play);
    add("metrics", "/metrics", local(config.metrics.allow));
    if let Some(listen) = &config.metrics.listen {
        let who = "everybody who reaches that address".to_owned();
        add("metrics", &format!("all of {listen}"), who);
    }
    let board = match config.loopback_is_local {
        true => local(AllowedClients::Local),
        false => token.to_owned(),
    };
    add("board", "/_andon/board", board);
    if config.folder.allow != AllowedClients::Off {
        let who = local(config.folder.allow);
        add("folder", "/, a page with its images", who);
    }
    add("purge", "POST /_andon/purge", token.to_owned());
    Ok(doors)
}

/// Returns warnings about a valid configuration that an operator should know. `file` is the file it was read from, if
/// any.
#[must_use]
pub fn warnings(config: &Config, file: Option<&Path>) -> Vec<String> {
    let mut warnings = Vec::new();
    let parts = [
        ("upload", config.upload.allow),
        ("play", config.play.allow),
        ("folder", config.folder.allow),
    ];
    for (key, allow) in parts {
        if allow == AllowedClients::Local && ways(config).is_empty() {
            warnings.push(format!(
                "`{key}.allow = \"local\"` lets nobody in: clients are local on a Unix socket (`listen = [\"unix:…\"]`) \
                 that is not in `proxy.trusted`, or with the token of [admin]; a loopback address may be a proxy's"
            ));
        }
    }
    if config.folder.allow == AllowedClients::All {
        warnings.push(
            "files are sent to everybody as they are, with the places where photos were taken; \
             `andon convert fit:2400x2400,as:jpeg,q:85 FOLDER -o COPIES` makes copies without them"
                .to_owned(),
        );
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    if config.workers > MOST_PER_CORE * cores {
        warnings.push(format!(
            "`workers` is {}, and this machine or its control group has {cores} cores: one per core is best, and 0 means that; \
             more only take memory",
            config.workers
        ));
    }
    let (budget, memory) = (config.memory_budget, admission::memory());
    if let Some(memory) = memory.filter(|memory| budget.0 > *memory) {
        warnings.push(format!(
            "`memory_budget` is {budget}, and this machine or its control group has {}: work that is admitted may not fit",
            Bytes(memory)
        ));
    }
    for (index, origin) in config.origin.iter().enumerate() {
        match &origin.keeper {
            OriginKind::Bucket(store, bucket, _) if bucket.is_anonymous() => {
                warnings.push(format!(
                    "origin.{index} reads {store}://{} anonymously: its table names no credentials \
                     (`{store}.credentials = \"platform\"`, or `{store}.*_env`)",
                    bucket.name()
                ));
            }
            OriginKind::Fs(folder) if folder.files == Files::All => {
                let secrets = file.into_iter().chain(config.tls.key.as_deref());
                let exposed = secrets.filter(|file| is_served(file, folder));
                warnings.extend(exposed.map(|file| {
                    format!(
                        "{} lies in the folder of origin.{index}, and `files = \"all\"` sends it to everybody who asks: move it, \
                         or put the files to serve into a folder of their own",
                        file.display()
                    )
                }));
            }
            _ => {}
        }
    }
    for (index, link) in config.dialects.secure_link.iter().enumerate() {
        let is_mapped = config.dialects.rewrite.iter().any(|rewrite| {
            let from = rewrite.from.trim_start_matches('^');
            from.starts_with(&link.location) && !rewrite.to.contains(&link.location)
        });
        if link.guards.is_none() && is_mapped {
            warnings.push(format!(
                "secure_link.{index}: a [[rewrite]] leads from {} elsewhere, where any other URL opens the same files; \
                 `guards = [\"/folder/\"]` names what only signed URLs open",
                link.location
            ));
        }
    }
    if let Ok(dialects) = Dialects::new(&config.dialects) {
        warnings.extend(dialects.rewrite_warnings());
        warnings.extend(page_without_images(config, &dialects));
    }
    warnings.extend(otlp_warnings(config, &Environment::of_process()));
    warnings
}

/// Returns a warning if the page with the images of a folder is enabled but not shown, or has no thumbnails.
fn page_without_images(config: &Config, dialects: &Dialects) -> Option<String> {
    if config.folder.allow == AllowedClients::Off {
        return None;
    }
    let is_folder = |origin: &OriginConfig| {
        matches!(&origin.keeper, OriginKind::Fs(folder) if folder.files == Files::Images)
            && origin.prefix.trim_matches('/').is_empty()
    };
    if !config.origin.iter().any(is_folder) || !dialects.opens_files() {
        return Some(
            "`folder.allow` shows nothing: the page is that of an [[origin]] with `fs.root` and no `prefix`, whose files are open to everybody \
             and of which `fs.files` serves images only"
                .to_owned(),
        );
    }
    let thumbnail = thumbnail("/a.jpg", 160);
    let read = dialects.parse_for(&thumbnail, &NoHeaders, &Nowhere, Ok::<_, Refusal>);
    let is_image = read.is_ok_and(|request| !request.is_file());
    (!is_image).then(|| {
        format!(
            "the page of `folder.allow` has no thumbnails: URLs such as {thumbnail} are those of [native], which is off, has another prefix, serves presets only or \
             needs a signature"
        )
    })
}

/// Whether this file lies in a folder of which every file is served, and is not hidden there.
fn is_served(file: &Path, folder: &FsConfig) -> bool {
    let (Ok(file), Ok(root)) = (file.canonicalize(), folder.root.canonicalize()) else {
        return false;
    };
    let below = file.strip_prefix(root);
    below.is_ok_and(|path| path.iter().all(|part| !part.as_bytes().starts_with(b".")))
}

/// Returns descriptions of the clients that features with `allow = "local"` accept, such as those with a loopback
/// address.
fn ways(config: &Config) -> Vec<&'static str> {
    let unix = |listen: &Listen| matches!(listen, Listen::Unix(_));
    // On a Unix socket that a proxy uses, the clients are those of the proxy.
    let has_socket = config.listen.iter().chain(&config.tls.listen).any(unix)
        && !Proxies::new(&config.proxy).names_clients(Peer::Unix);
    [
        (has_socket, "clients of the Unix socket"),
        (config.loopback_is_local, "clients with a loopback address"),
        (has_token(config), "the administrator's token"),
    ]
    .into_iter()
    .filter_map(|(is_there, way)| is_there.then_some(way))
    .collect()
}

/// Maximum number of worker threads per core without a warning. It is more than one, because the same configuration
/// file may be used on machines with more cores.
const MOST_PER_CORE: usize = 4;

fn has_token(config: &Config) -> bool {
    config.admin.token.is_some() || config.admin.token_env.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text, "/srv".as_ref()).expect(text)
    }

    fn who(text: &str, name: &str) -> String {
        let doors = doors(&config(text)).unwrap();
        let named = doors.iter().filter(|door| door.name == name);
        named
            .map(|door| door.who.clone())
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn every_door_says_who_may_use_it() {
        let key = "[signing]\nkeys = [\"0123456789abcdef0123456789abcdef\"]\n";
        assert_eq!(who("", "native"), "everybody");
        assert_eq!(who("", "files"), "everybody");
        assert!(who(key, "native").contains("signed"));
        assert!(who(key, "files").contains("`open = true` in [files]"));
        assert_eq!(
            who(&format!("{key}[native]\nopen = true"), "native"),
            "everybody"
        );
        let presets = "[native]\nonly_presets = true\npresets = { a = \"fit:5x5\" }\n";
        assert_eq!(who(presets, "native"), "everybody (presets only)");
        assert!(who(presets, "small_light").contains("native.only_presets"));
        assert_eq!(who(presets, "files"), "everybody");
        assert!(who("", "metrics").starts_with("nobody: \"local\" needs"));
        assert_eq!(
            who("listen = [\"unix:a\"]", "metrics"),
            "clients of the Unix socket"
        );
        let proxy =
            "listen = [\"unix:a\"]\n[proxy]\ntrusted = [\"unix\"]\nheader = \"x-forwarded-for\"\n";
        assert!(who(proxy, "metrics").starts_with("nobody: \"local\" needs"));
        let token = format!("{proxy}[admin]\ntoken = \"0123456789abcdef0123456789abcdef\"");
        assert_eq!(who(&token, "metrics"), "the administrator's token");
        assert!(who("metrics.listen = \"127.0.0.1:0\"", "metrics").contains("reaches"));
    }

    #[test]
    fn what_may_surprise_is_said() {
        let said = |text: &str| warnings(&config(text), None).concat();
        assert_eq!(said(""), "");
        assert!(said("upload.allow = \"local\"").contains("upload.allow"));
        assert!(said("memory_budget = \"900000GiB\"").contains("`memory_budget` is 900000.0 GiB"));
        assert_eq!(said("workers = 4"), "");
        let cores = thread::available_parallelism().unwrap().get();
        let many = (MOST_PER_CORE * cores + 1).min(1024);
        assert!(said(&format!("workers = {many}")).contains("one per core is best"));
        assert_eq!(said("upload.allow = \"local\"\nlisten = [\"unix:a\"]"), "");
        assert!(said("[[origin]]\ns3.bucket = \"b\"").contains("anonymously"));
        let link = "[[secure_link]]\nlocation = \"/p/\"\nsecure_link_secret = \"x\"\n";
        let rewrite = "[[rewrite]]\nfrom = \"^/p/[0-9a-f]{32}/(.*)$\"\nto = \"/$1\"\n";
        assert!(said(&format!("{link}{rewrite}")).contains("guards"));
        let guards = "guards = [\"/members/\"]\n";
        assert_eq!(said(&format!("{link}{guards}{rewrite}")), "");
    }

    #[test]
    fn a_configuration_file_that_its_own_server_sends_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let (visible, hidden) = (folder.path().join("a.toml"), folder.path().join(".a.toml"));
        for file in [&visible, &hidden] {
            std::fs::write(file, "").unwrap();
        }
        let serving = |files: &str| {
            let fs = format!("fs = {{ root = {:?}, files = \"{files}\" }}", folder.path());
            config(&format!("[[origin]]\n{fs}\n"))
        };
        let said = warnings(&serving("all"), Some(&visible)).concat();
        assert!(
            said.contains("a.toml lies in the folder of origin.0"),
            "{said}"
        );
        assert_eq!(warnings(&serving("all"), Some(&hidden)).concat(), "");
        assert_eq!(warnings(&serving("images"), Some(&visible)).concat(), "");
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(
            warnings(&serving("all"), Some(elsewhere.path())).concat(),
            ""
        );
    }
}
