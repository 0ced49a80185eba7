//! The access log: one line per request on standard error, text or JSON.
//!
//! Lines pass through a bounded channel to one task, so that a log nobody reads costs lines, which are
//! counted, and never a request.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use andon_dialects::Wish;
use hyper::{Method, StatusCode, Uri};
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::clock::Timestamp;
use crate::config::LogFormat;
use crate::http::Peer;
use crate::metrics::Metrics;

/// One request, as it is written down.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) time: SystemTime,
    /// Who asked.
    pub(crate) client: Option<Peer>,
    pub(crate) method: Method,
    pub(crate) target: Uri,
    pub(crate) status: StatusCode,
    /// Bytes of the body.
    pub(crate) bytes: u64,
    /// From the request's head to the reply, its sending not included.
    pub(crate) total: Duration,
    /// What the time went into.
    pub(crate) stages: Stages,
    /// The canonical recipe, once it is known.
    pub(crate) recipe: Option<Arc<str>>,
    /// With its notes: what the dialect ignored, or understood otherwise than it may have been meant.
    pub(crate) wish: Option<Arc<Wish>>,
    /// Label, fault and sentence of an error.
    pub(crate) error: Option<(&'static str, &'static str, String)>,
}

/// The stages of one answer; those that did not take place are absent.
pub(crate) type Stages = Vec<(&'static str, Duration)>;

/// Where entries go.
#[derive(Debug)]
pub(crate) struct AccessLog {
    format: LogFormat,
    lines: mpsc::Sender<String>,
    lost: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<()>>>,
    metrics: Arc<Metrics>,
}

impl AccessLog {
    /// Starts the writing task; entries are counted in `metrics` too. Needs a tokio runtime.
    pub(crate) fn start(format: LogFormat, metrics: Arc<Metrics>) -> Self {
        let (lines, waiting) = mpsc::channel(MOST_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = tokio::spawn(write(waiting, lost.clone()));
        Self {
            format,
            lines,
            lost,
            writer: Mutex::new(Some(writer)),
            metrics,
        }
    }

    /// Writes one entry down, and counts it.
    pub(crate) fn record(&self, entry: &Entry) {
        self.metrics.count(entry);
        let line = match self.format {
            LogFormat::Off => return,
            LogFormat::Text => entry.text(),
            LogFormat::Json => entry.json(),
        };
        if self.lines.try_send(line).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything that was recorded so far is written.
    pub(crate) async fn finish(self) {
        drop(self.lines);
        let writer = self
            .writer
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writer {
            // It ends when the last line is out; if it panicked there is nothing left to write.
            let _ = writer.await;
        }
    }
}

impl Entry {
    /// An address, `unix`, or `-` when nobody knows.
    fn client(&self) -> String {
        self.client
            .map_or("-".to_owned(), |client| client.to_string())
    }

    fn notes(&self) -> &[String] {
        self.wish.as_ref().map_or(&[], |wish| &wish.notes)
    }

    /// Nobody reads the end of a line that long, and a thousand of them wait in memory at worst.
    fn shortened_target(&self) -> String {
        let mut target = self.target.to_string();
        if let Some((end, _)) = target.char_indices().nth(LONGEST_TARGET) {
            target.truncate(end);
            target.push('…');
        }
        target
    }

    fn text(&self) -> String {
        let mut line = format!(
            "{} {} {} {} {} {}B {:.1}ms",
            Timestamp(self.time),
            self.client(),
            self.method,
            self.shortened_target().escape_debug(),
            self.status.as_u16(),
            self.bytes,
            millis(self.total),
        );
        // Writing to a String cannot fail.
        for (name, time) in &self.stages {
            let _ = write!(line, " {name}={:.1}", millis(*time));
        }
        if let Some(recipe) = &self.recipe {
            let _ = write!(line, " recipe=\"{}\"", recipe.escape_debug());
        }
        for note in self.notes() {
            let _ = write!(line, " note=\"{}\"", note.escape_debug());
        }
        if let Some((label, fault, sentence)) = &self.error {
            let _ = write!(
                line,
                " error={label} fault={fault} \"{}\"",
                sentence.escape_debug()
            );
        }
        line.push('\n');
        line
    }

    fn json(&self) -> String {
        let stages: Map<String, Value> = self
            .stages
            .iter()
            .map(|(name, time)| ((*name).to_owned(), json!(millis(*time))))
            .collect();
        let mut line = json!({
            "time": Timestamp(self.time).to_string(),
            "client": self.client(),
            "method": self.method.as_str(),
            "target": self.shortened_target(),
            "status": self.status.as_u16(),
            "bytes": self.bytes,
            "total_ms": millis(self.total),
            "stages_ms": stages,
        });
        if let Some(recipe) = &self.recipe {
            line["recipe"] = json!(**recipe);
        }
        if !self.notes().is_empty() {
            line["notes"] = json!(self.notes());
        }
        if let Some((label, fault, sentence)) = &self.error {
            line["error"] = json!({ "label": label, "fault": fault, "message": sentence });
        }
        format!("{line}\n")
    }
}

/// The writing task: everything that waits goes out in one write.
async fn write(mut waiting: mpsc::Receiver<String>, lost: Arc<AtomicU64>) {
    let mut out = tokio::io::stderr();
    let mut lines = Vec::new();
    while waiting.recv_many(&mut lines, MOST_WAITING).await > 0 {
        let mut text = lines.concat();
        lines.clear();
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let _ = writeln!(
                text,
                "{missing} log lines were lost: standard error is not read fast enough"
            );
        }
        // When standard error is gone there is nobody left to tell.
        let _ = out.write_all(text.as_bytes()).await;
        let _ = out.flush().await;
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e4).round() / 10.0
}

const MOST_WAITING: usize = 1024;

/// Characters of a target.
const LONGEST_TARGET: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            time: SystemTime::UNIX_EPOCH,
            client: Some(Peer::Unix),
            method: Method::GET,
            target: Uri::from_static("/small_light(dw=10)/a.jpg"),
            status: StatusCode::OK,
            bytes: 123,
            total: Duration::from_micros(23_400),
            stages: vec![("fetch", Duration::from_micros(1200))],
            recipe: Some("fit:10x".into()),
            wish: Some(Arc::new(Wish {
                notes: vec!["`x` is no option".to_owned()],
                ..Wish::plain_file("/a.jpg").unwrap()
            })),
            error: None,
        }
    }

    #[test]
    fn a_text_line_reads_from_time_to_notes() {
        assert_eq!(
            entry().text(),
            "1970-01-01T00:00:00.000Z unix GET /small_light(dw=10)/a.jpg 200 123B 23.4ms fetch=1.2 recipe=\"fit:10x\" note=\"`x` is no option\"\n"
        );
    }

    #[test]
    fn a_wish_cannot_forge_a_line() {
        let forged = Entry {
            wish: Some(Arc::new(Wish {
                notes: vec!["`\n2026 GET /b` is no option".to_owned()],
                ..Wish::plain_file("/a.jpg").unwrap()
            })),
            recipe: Some("icon:\n2026 GET /c".into()),
            ..entry()
        };
        for line in [forged.text(), forged.json()] {
            assert_eq!(line.matches('\n').count(), 1, "{line}");
        }
    }

    #[test]
    fn a_json_line_is_json() {
        let failed = Entry {
            error: Some(("missing", "client", "there is no file /\"a\"".to_owned())),
            ..entry()
        };
        let line: Value = serde_json::from_str(&failed.json()).unwrap();
        assert_eq!(line["stages_ms"]["fetch"], 1.2);
        assert_eq!(line["notes"][0], "`x` is no option");
        assert_eq!(line["error"]["label"], "missing");
    }
}
