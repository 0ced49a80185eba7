//! A low-priority client: it sends few requests at a time, and waits when the server asks it to.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use andon_client::Fetched;
use indicatif::ProgressBar;

use super::Args;
use super::list::Wanted;
use super::outcome::{Outcome, Report, outcome};
use crate::client::{Client, Server, on_threads};
use crate::convert::progress_bar;
use crate::journal::Journal;
use andon_terminal::interrupt::wait_until;

/// A run of `andon warm` and its state, shared by all connections.
pub(super) struct Job<'a> {
    server: Server,
    connections: u32,
    patience: Duration,
    journal: Option<&'a Journal>,
    cancel: &'a AtomicBool,
    pace: Mutex<Pace>,
}

struct Pace {
    /// No request is sent before this time.
    resume: Instant,
    /// Time of the last response that was final, i.e. after which the request is not sent again.
    last_answer: Instant,
    /// The reason why no more requests are sent, if the job has stopped.
    stop_reason: Option<String>,
}

/// What to do about a request after its response.
enum Next {
    Done(Outcome),
    Failed(String),
    /// The server does not allow the request: it answered 401 or 403.
    Refused(String),
    /// Send the request again after this time, because the server has postponed it (429). The text is the reason.
    Later(Duration, String),
    /// Send the request again after this time, up to `MOST_RETRIES` times. The text is the reason.
    Retry(Duration, String),
    /// The job has ended.
    Stopped,
}

impl<'a> Job<'a> {
    /// Creates a job, and checks that the server accepts a connection.
    pub(super) fn new(
        args: &Args,
        headers: Vec<(String, String)>,
        journal: Option<&'a Journal>,
        cancel: &'a AtomicBool,
    ) -> anyhow::Result<Self> {
        let url = match args.server.contains("://") || args.server.starts_with("unix:") {
            true => args.server.clone(),
            false => format!("http://{}", args.server),
        };
        let now = Instant::now();
        Ok(Self {
            server: Server::new("--server", &url, headers, args.insecure)?,
            connections: args.connections,
            patience: args.patience.duration(),
            journal,
            cancel,
            pace: Mutex::new(Pace {
                resume: now,
                last_answer: now,
                stop_reason: None,
            }),
        })
    }

    /// Sends all `requests`, and adds the outcomes to the report.
    pub(super) fn run(&self, requests: &[Wanted], report: &mut Report) -> anyhow::Result<()> {
        let progress = progress_bar(requests.len());
        let next = AtomicUsize::new(0);
        let shared_report = Mutex::new(report);
        let threads = self
            .connections
            .min(u32::try_from(requests.len()).unwrap_or(u32::MAX));
        on_threads(threads, || {
            let mut client = self.server.client()?;
            while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                let verdict = self.obtain(&mut client, request, &progress);
                let mut report = shared_report.lock().unwrap_or_else(PoisonError::into_inner);
                match verdict {
                    Next::Done(outcome) => {
                        report.add(outcome);
                        if let Some(journal) = self.journal {
                            journal.add(&request.line())?;
                        }
                    }
                    Next::Failed(why) => report.fail(request.line(), why),
                    Next::Refused(why) => {
                        report.refuse(request.line(), why.clone());
                        if report.refusals_only() >= MOST_REFUSALS_AT_FIRST {
                            let all = format!(
                                "the first {MOST_REFUSALS_AT_FIRST} requests were all refused; the last reply: {why}"
                            );
                            self.pace().stop_reason.get_or_insert(all);
                        }
                    }
                    Next::Later(..) | Next::Retry(..) | Next::Stopped => break,
                }
                progress.set_message("");
                progress.inc(1);
            }
            Ok(())
        })?;
        progress.finish_and_clear();
        let report = shared_report
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        report.stop_reason = match self.cancel.load(Ordering::Relaxed) {
            true => Some("it was interrupted".to_owned()),
            false => self.pace().stop_reason.take(),
        };
        report.ends(requests.len());
        Ok(())
    }

    /// Requests one result, with retries if necessary, until there is an outcome or the job ends.
    fn obtain(&self, client: &mut Client<'_>, request: &Wanted, progress: &ProgressBar) -> Next {
        let headers: Vec<(&str, &str)> = [("host", &request.host), ("accept", &request.accept)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.as_deref()?)))
            .collect();
        let mut retries = 0;
        loop {
            let resume = self.pace().resume;
            if !wait_until(resume, self.cancel) || self.pace().stop_reason.is_some() {
                return Next::Stopped;
            }
            if self.pace().resume > resume {
                continue;
            }
            let (pause, why) = match judged(client.get(&request.target, &headers)) {
                Next::Retry(_, why) if retries == MOST_RETRIES => return Next::Failed(why),
                Next::Retry(pause, why) => {
                    retries += 1;
                    (pause, why)
                }
                Next::Later(pause, why) => (pause, why),
                verdict => {
                    self.pace().last_answer = Instant::now();
                    return verdict;
                }
            };
            let mut pace = self.pace();
            let now = Instant::now();
            if now.duration_since(pace.last_answer) + pause > self.patience {
                let patience = self.patience;
                pace.stop_reason = Some(format!(
                    "nothing was answered for {patience:?} (--patience); the last reply: {why}"
                ));
                return Next::Stopped;
            }
            progress.set_message(format!("waiting {} s", pause.as_secs()));
            pace.resume = pace.resume.max(now + pause);
        }
    }

    fn pace(&self) -> std::sync::MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Decides from the response to a request what to do next.
fn judged(reply: std::io::Result<Fetched>) -> Next {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return Next::Retry(PAUSE, error.to_string()),
    };
    let text = String::from_utf8_lossy(&reply.body);
    let sentence: String = text
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(300)
        .collect();
    let mut why = format!("{}: {sentence}", reply.status);
    if sentence.starts_with("priorities are") {
        why.push_str(", or warm with --priority normal");
    }
    let pause = reply
        .header("retry-after")
        .and_then(|text| text.parse().ok());
    let pause = pause.map_or(PAUSE, Duration::from_secs).min(LONGEST_PAUSE);
    match reply.status {
        200 => Next::Done(outcome(&reply)),
        401 | 403 => Next::Refused(why),
        429 => Next::Later(pause, why),
        502..=504 => Next::Retry(pause, why),
        _ => Next::Failed(why),
    }
}

/// Maximum number of retries of a request that failed for a temporary reason.
const MOST_RETRIES: u32 = 5;

/// Number of refusals after which, if no request had another outcome, the administrator's token is assumed to be wrong
/// for all requests.
const MOST_REFUSALS_AT_FIRST: usize = 20;

/// Pause before a request is sent again if the server sends no `Retry-After`.
const PAUSE: Duration = Duration::from_secs(1);

const LONGEST_PAUSE: Duration = Duration::from_secs(120);
