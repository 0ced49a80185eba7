//! What the server reports about itself: `tracing` events as text or JSON, on standard error, between the lines of the
//! access log and through the same writer.

mod lines;

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::SystemTime;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer as Writing;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::{Layer, Registry, fmt, reload};

pub(crate) use self::lines::Lines;
use super::clock::Timestamp;
use crate::config::{LogConfig, LogFormat, LogLevel};

/// Installs the log of this process, with which all `tracing` events and panics are written to standard error. Calling it
/// again changes the level and format. Only programs should call it, because a process has only one such log.
pub fn install(config: LogConfig) {
    static SWITCHES: OnceLock<Option<Switches>> = OnceLock::new();
    if let Some(switches) = SWITCHES.get_or_init(|| Switches::install(config)) {
        // Reloading fails only if the log was dropped, which never happens.
        let _ = switches.filter.reload(filter(config.level));
        let _ = switches.shape.reload(shape(config.format));
    }
}

type Filtered = Layered<reload::Layer<Targets, Registry>, Registry>;
type Shape = Box<dyn Layer<Filtered> + Send + Sync>;

/// Handles for the settings of the log that can be changed while it runs.
struct Switches {
    filter: reload::Handle<Targets, Registry>,
    shape: reload::Handle<Shape, Filtered>,
}

impl Switches {
    /// Installs the log. Returns `None` if the process has another one already.
    fn install(config: LogConfig) -> Option<Self> {
        let (filtering, filter) = reload::Layer::new(filter(config.level));
        let (shaping, shape) = reload::Layer::new(shape(config.format));
        let log = tracing_subscriber::registry().with(filtering).with(shaping);
        let log = log.with(super::otlp::Events);
        tracing::subscriber::set_global_default(log).ok()?;
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string);
            let payload = panic.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let said = text.or_else(|| payload.downcast_ref::<&str>().copied());
            tracing::error!(place, said, "a panic; the server goes on");
        }));
        Some(Self { filter, shape })
    }
}

/// Returns the filter: our own crates log at the configured level, and their dependencies only warnings and errors.
fn filter(level: LogLevel) -> Targets {
    let level = LevelFilter::from(level);
    Targets::new()
        .with_target("andon", level)
        // h2 warns about each invalid frame, with which any client could fill the log.
        .with_target("h2", level.min(LevelFilter::ERROR))
        .with_default(level.min(LevelFilter::WARN))
}

fn shape(format: LogFormat) -> Shape {
    let lines = || Writer(Lines::of_this_process());
    let plain = fmt::layer().with_timer(Milliseconds).with_writer(lines);
    match format {
        LogFormat::Json => plain.json().flatten_event(true).boxed(),
        LogFormat::Text | LogFormat::Off => plain.with_ansi(io::stderr().is_terminal()).boxed(),
    }
}

/// Writes the time of an event in the format of the access log.
struct Milliseconds;

impl FormatTime for Milliseconds {
    fn format_time(&self, to: &mut Writing<'_>) -> std::fmt::Result {
        write!(to, "{}", Timestamp(SystemTime::now()))
    }
}

/// Receives each formatted event in one piece, and queues it as a line.
struct Writer(&'static Lines);

impl io::Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.push(String::from_utf8_lossy(line).into_owned());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}
