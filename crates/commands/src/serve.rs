//! `andon serve`: runs the server until a signal stops it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config_check;
use crate::processes::Codecs;
use andon_server::config::{
    AllowedClients, OriginConfig, OriginKind, Overrides, TlsConfig, working_folder,
};
use andon_server::{Beat, Config, ConfigError, Inherited, Listen, Pulse, Sandbox, Server};
use anyhow::Context;
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

/// Serve a folder of images over HTTP
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The folder to serve; replaces the origins of the configuration [default: the current folder]
    dir: Option<PathBuf>,
    /// Configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    at: At,
    /// Show the page with the images to everybody who can reach this machine, and listen on all its IPv4 addresses, at
    /// port 8080 unless --port or --listen is given. Files are sent unchanged, including the GPS positions in photos
    #[arg(long)]
    share: bool,
    /// A URL dialect to enable at the same path as on its original server, such as thumbor at /; may be repeated
    #[arg(long, value_name = "NAME")]
    dialect: Vec<String>,
}

/// The addresses to listen on.
#[derive(clap::Args)]
pub(crate) struct At {
    /// Address to listen on: HOST:PORT (port 0: any free one) or unix:/path; may be repeated, and replaces all lists of
    /// the configuration, including that of [tls] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Listen>,
    /// The same as --listen 127.0.0.1:PORT, or with --share as --listen 0.0.0.0:PORT, which is all addresses
    #[arg(short, long, value_name = "PORT", conflicts_with = "listen")]
    port: Option<u16>,
}

impl At {
    /// Returns the addresses; empty if the command line has none.
    pub(crate) fn addresses(&self) -> Vec<Listen> {
        let port = self
            .port
            .map(|port| Listen::Tcp(format!("127.0.0.1:{port}")));
        self.listen.iter().cloned().chain(port).collect()
    }
}

const AFTER: &str = "\
Examples:
  andon serve ~/photos
  andon serve --config andon.toml
  andon serve ~/photos --port 9000
  andon serve ~/photos --dialect thumbor
  andon serve ~/photos --share
  andon serve ~/photos --listen 127.0.0.1:0 --listen unix:/run/andon.sock
  ANDON_ROOT=/pictures ANDON_LISTEN=0.0.0.0:8080 ANDON_CACHE__MEMORY=1GiB andon serve

Environment variables set keys of the configuration: ANDON_, the table, two underscores, the key. They override the file, \
and arguments override them. An unknown one is an error.

Without a configuration file and such variables all URL dialects are on, each at a prefix of its own, and / is a page with the images of the \
folder, for browsers on this machine, or with --share for everybody. With a configuration file \
those are on that it names, beside Andon's own (/r/) and small_light, which it can switch off; --dialect adds to that.

One line with the addresses, the version, the number of workers and the origins goes to standard output when the \
server listens; requests are logged to standard error. SIGHUP reloads the configuration: requests in progress finish \
with the old one, and an invalid file is rejected and changes nothing. SIGTERM or SIGINT stops the server after it has \
answered the requests it accepted; a second signal stops it at once.

Under systemd it takes over the sockets of its socket unit (LISTEN_FDS) whose addresses the configuration names, says when \
it is ready, reloads or stops (NOTIFY_SOCKET), and that it can still make images (WATCHDOG_USEC).";

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.share && args.config.is_some() {
        let port = args.at.port.unwrap_or(8080);
        anyhow::bail!(
            "--share is for a folder without a configuration file; with --config, `--listen 0.0.0.0:{port}`, or `listen` in the file, \
             serves other machines, and `allow = \"all\"` in [folder] shows them a page with the images"
        );
    }
    // Warn, because other commands read this file by default.
    if args.config.is_none() && Path::new("andon.toml").is_file() {
        eprintln!("andon: andon.toml of this folder is not read; --config andon.toml reads it");
    }
    until_stopped(&|| configuration(args), args.config.as_deref(), &announce)
}

/// Runs a server until a signal stops it. `configuration` reads the configuration, and is called at the start and for
/// each reload. `file` is the file that it reads, if any.
pub(crate) fn until_stopped(
    configuration: &dyn Fn() -> Result<Config, ConfigError>,
    file: Option<&Path>,
    announce: &dyn Fn(&Server, &Config) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    // Must run before a second thread exists.
    let inherited = Inherited::from_environment()?;
    let folder = working_folder().ok();
    let config = configuration()?;
    andon_server::install_log(config.log);
    let codecs = Codecs::prepare(
        config.sandbox.processes,
        config.workers(),
        &config.limits.pixels(),
        andon_server::kept_by_process(&config),
        config.sandbox.suspect.0,
        Some(&config.fonts),
    )?;
    let fonts = config.fonts.clone();
    let sandbox = Sandbox::enter(&config, file)?;
    let runtime = andon_server::runtime(&config).context("cannot start the server's threads")?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut asked_to_stop = async move || {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        };

        let mut hang_up = signal(SignalKind::hangup())?;

        let server = Server::bind(&config, codecs.start(), inherited).await?;
        sandbox.report();
        tell_doors(&config, file);
        announce(&server, &config)?;
        tell(&[NotifyState::Ready]);
        if let Some(interval) = sd_notify::watchdog_enabled() {
            tokio::spawn(feed_watchdog(server.pulse(), interval / 2));
        }
        let reloader = server.reloader();
        let reload_for_ever = async {
            while hang_up.recv().await.is_some() {
                tell_of_reload();
                // Resolve relative paths again, in case the working folder was replaced by one of the same name.
                if let Some(folder) = &folder {
                    let _ = std::env::set_current_dir(folder);
                }
                let config = configuration().and_then(|config| {
                    sandbox.permits(&config)?;
                    fonts.permit(&config.fonts)?;
                    Ok(config)
                });
                let new_config = config.as_ref().ok().cloned();
                let outcome = reloader.reload(config).await;
                if let (Ok(()), Some(config)) = (&outcome, new_config) {
                    andon_server::install_log(config.log);
                    tell_doors(&config, file);
                }
                match outcome {
                    Ok(()) => tracing::info!("the configuration was read again"),
                    Err(error) => tracing::warn!("the configuration stays as it was: {error}"),
                }
                tell(&[NotifyState::Ready]);
            }
        };
        let (stop, stop_signal) = tokio::sync::oneshot::channel();
        let running = server.run(async {
            // The sender is dropped only together with this block.
            let _ = stop_signal.await;
        });
        tokio::pin!(running);
        tokio::select! {
            () = &mut running => return Ok(()),
            () = asked_to_stop() => {}
            () = reload_for_ever => {}
        }
        tell(&[NotifyState::Stopping]);
        let _ = stop.send(());
        tokio::select! {
            () = running => Ok(()),
            () = asked_to_stop() => Err(anyhow::anyhow!("stopped at once, as asked a second time")),
        }
    })
}

/// Logs what the server answers (URL dialects, plain files and its own paths) and for which clients, and warnings about
/// the configuration.
fn tell_doors(config: &Config, file: Option<&Path>) {
    // One line per group of clients: with one line per part, the address would scroll off a terminal.
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for door in andon_server::doors(config).unwrap_or_default() {
        let place = format!("{} {}", door.name, door.places);
        match groups.iter_mut().find(|(who, _)| *who == door.who) {
            Some((_, places)) => places.push(place),
            None => groups.push((door.who, vec![place])),
        }
    }
    for (who, places) in groups {
        tracing::info!("open to {who}: {}", places.join(" | "));
    }
    // The file was readable when the configuration was read; if that has changed, there are only fewer warnings.
    let text = file.and_then(|file| std::fs::read_to_string(file).ok());
    for warning in config_check::warnings(config, &text.unwrap_or_default(), file) {
        tracing::warn!("{warning}");
    }
}

/// Notifies the service manager of new states of the server. Does nothing without a service manager.
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot tell the service manager");
    }
}

/// Notifies the service manager that a reload begins. The protocol requires the current time with this state.
fn tell_of_reload() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "there is no monotonic clock"),
    }
}

/// Notifies the service manager's watchdog at this interval, as long as the server's connection threads respond and it
/// can make images. The service manager restarts a server that has not notified it for too long.
async fn feed_watchdog(pulse: Pulse, every: Duration) {
    let mut was_stuck = false;
    loop {
        match pulse.beat().await {
            Beat::Alive => {
                if was_stuck {
                    tracing::info!("threads have come back: the watchdog is told again");
                }
                was_stuck = false;
                tell(&[NotifyState::Watchdog]);
            }
            Beat::Stuck(stuck) if !was_stuck => {
                was_stuck = true;
                tracing::error!("the watchdog is told nothing more: {stuck}");
            }
            Beat::Stuck(_) => {}
            Beat::Ended => return,
        }
        tokio::time::sleep(every).await;
    }
}

/// Returns the configuration in `file`, or the default one, with the keys that environment variables override. `dir`
/// replaces its origins.
pub(crate) fn base(file: Option<&Path>, dir: Option<&Path>) -> Result<Config, ConfigError> {
    let overrides = Overrides::of_process();
    let mut config = match file {
        None if overrides.is_empty() => Config::for_folder(Path::new(".")),
        _ => overrides.read(file)?,
    };
    if let Some(dir) = dir {
        config.origin = vec![OriginConfig::folder(dir)];
    }
    Ok(config)
}

fn configuration(args: &Args) -> Result<Config, ConfigError> {
    let mut config = base(args.config.as_deref(), args.dir.as_deref())?;
    if args.share {
        config.folder.allow = AllowedClients::All;
    }
    let mut listen = args.at.addresses();
    if args.share && args.at.listen.is_empty() {
        let port = args.at.port.unwrap_or(8080);
        listen = vec![Listen::Tcp(format!("0.0.0.0:{port}"))];
    }
    if !listen.is_empty() {
        config.listen = listen;
        config.tls = TlsConfig::default();
    }
    for name in &args.dialect {
        if args.config.is_some() && config.dialects.is_on(name) {
            let why = format!("--dialect {name}: the configuration has it switched on already");
            return Err(ConfigError::new("", why));
        }
        config.dialects.switch_on(name)?;
    }
    Ok(config)
}

/// Prints a line with the server's addresses and flushes it, because scripts wait for that line.
fn announce(server: &Server, config: &Config) -> anyhow::Result<()> {
    let addresses: Vec<String> = server.addresses().iter().map(ToString::to_string).collect();
    let origins: Vec<String> = config.origin.iter().map(origin).collect();
    let workers = match config.workers() {
        1 => "1 worker".to_owned(),
        many => format!("{many} workers"),
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "listening on {} (andon {}, {workers}, {})",
        addresses.join(" "),
        env!("CARGO_PKG_VERSION"),
        origins.join(", ")
    )
    .and_then(|()| out.flush())
    .context("cannot write to standard output")
}

/// Describes the URLs of an origin and where their images come from, such as `/ from /home/me/photos`.
fn origin(origin: &OriginConfig) -> String {
    let from = match &origin.keeper {
        OriginKind::Fs(fs) => match fs.root.canonicalize() {
            Ok(root) => root.display().to_string(),
            Err(_) => fs.root.display().to_string(),
        },
        OriginKind::Http(http, _) => http.place().to_owned(),
        OriginKind::Bucket(store, config, _) => {
            let how = if config.is_anonymous() {
                " (anonymous)"
            } else {
                ""
            };
            format!("{store}://{}{how}", config.bucket)
        }
    };
    match origin.prefix.as_str() {
        "" => format!("URLs from {from}"),
        prefix => format!("{prefix} from {from}"),
    }
}
