//! The outcomes of requests, and their report.

use std::collections::BTreeMap;
use std::fmt::Write;

use andon_client::Fetched;

/// How the server obtained a result, according to `Cache-Status` (RFC 9211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The result was in memory or on disk.
    Hit,
    /// The result was in the shared store, because another node had made it.
    Store,
    /// The result was made, and is now cached.
    Made,
    /// The result was made, and is not cached.
    NotKept,
    /// The response does not say how the server obtained the result.
    Unknown,
}

/// Returns the outcome that the `Cache-Status` of a response states.
pub(super) fn outcome(reply: &Fetched) -> Outcome {
    let status = reply.header("cache-status").unwrap_or_default();
    // The cache nearest to the origin comes first in the list.
    let entries = status.split(',').map(str::trim);
    let entry = entries.into_iter().find(|it| it.starts_with("andon;"));
    let says = |word: &str| entry.is_some_and(|it| it.split(';').any(|part| part.trim() == word));
    match entry {
        None => Outcome::Unknown,
        Some(_) if says("detail=STORE") => Outcome::Store,
        Some(_) if says("hit") => Outcome::Hit,
        Some(_) if says("stored") || says("collapsed") || says("fwd-status=304") => Outcome::Made,
        Some(_) => Outcome::NotKept,
    }
}

/// The outcomes of all requests of a job.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Number of requests in the log that were not used, by reason.
    left_out: BTreeMap<String, u64>,
    /// Number of requests that an earlier run has completed.
    before: usize,
    hits: usize,
    from_store: usize,
    made: usize,
    not_kept: usize,
    unknown: usize,
    /// Requests that failed, each with the reason.
    failed: Vec<(String, String)>,
    /// Number of failed requests that were refused, with status 401 or 403.
    refused: usize,
    not_asked: usize,
    /// The reason why the run stopped early, if it did.
    pub(super) stop_reason: Option<String>,
}

impl Report {
    pub(super) fn new(left_out: BTreeMap<String, u64>, before: usize) -> Self {
        Self {
            left_out,
            before,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Hit => &mut self.hits,
            Outcome::Store => &mut self.from_store,
            Outcome::Made => &mut self.made,
            Outcome::NotKept => &mut self.not_kept,
            Outcome::Unknown => &mut self.unknown,
        } += 1;
    }

    pub(super) fn fail(&mut self, request: String, why: String) {
        self.failed.push((request, why));
    }

    pub(super) fn refuse(&mut self, request: String, why: String) {
        self.refused += 1;
        self.fail(request, why);
    }

    /// Returns the number of refused requests if no request had any other outcome, and 0 otherwise.
    pub(super) fn refusals_only(&self) -> usize {
        match self.succeeded() == 0 && self.refused == self.failed.len() {
            true => self.refused,
            false => 0,
        }
    }

    fn succeeded(&self) -> usize {
        self.hits + self.from_store + self.made + self.not_kept + self.unknown
    }

    /// Completes the report of a job with `of` requests. Those without an outcome count as not sent.
    pub(super) fn ends(&mut self, of: usize) {
        let outcome_count = self.succeeded() + self.failed.len();
        self.not_asked = of.saturating_sub(outcome_count);
        self.failed.sort();
    }

    /// Whether every request was sent and had a successful response.
    pub(super) fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.not_asked == 0
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let counts = [
            ("hit", self.hits),
            ("from the shared store", self.from_store),
            ("made", self.made),
            (
                "made but not kept (private, no-store, or no cache)",
                self.not_kept,
            ),
            ("answered without Cache-Status", self.unknown),
            ("failed", self.failed.len()),
            ("not asked for", self.not_asked),
            ("done by an earlier run", self.before),
        ];
        let always = ["hit", "made", "failed"];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(what, count)| *count > 0 || always.contains(what))
            .map(|(what, count)| format!("{count} {what}"))
            .collect();
        let _ = writeln!(text, "{}", parts.join(", "));
        for (why, count) in &self.left_out {
            let _ = writeln!(text, "{count} requests of the log left out: {why}");
        }
        for (request, why) in &self.failed {
            let _ = writeln!(text, "failed: {request}: {why}");
        }
        if let Some(why) = &self.stop_reason {
            let _ = writeln!(text, "stopped: {why}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_status_tells_what_came_of_a_request() {
        for (status, expected) in [
            (Some("andon; hit; ttl=9"), Outcome::Hit),
            (Some("andon; hit; ttl=0; detail=STALE"), Outcome::Hit),
            (
                Some("andon; hit; ttl=9; detail=STORE, cdn; fwd=miss"),
                Outcome::Store,
            ),
            (Some("andon; fwd=uri-miss; stored"), Outcome::Made),
            (Some("andon; fwd=uri-miss; collapsed"), Outcome::Made),
            (Some("andon; fwd=uri-miss"), Outcome::NotKept),
            (Some("cdn; hit"), Outcome::Unknown),
            (None, Outcome::Unknown),
        ] {
            let headers = status.map(|it| ("cache-status".to_owned(), it.to_owned()));
            let reply = Fetched {
                headers: headers.into_iter().collect(),
                ..Fetched::default()
            };
            assert_eq!(outcome(&reply), expected, "{status:?}");
        }
    }

    #[test]
    fn refusals_count_while_nothing_else_came_of_any_request() {
        let refused = || {
            let mut report = Report::default();
            report.refuse("/a.jpg".to_owned(), "403: a wrong token".to_owned());
            report.refuse("/b.jpg".to_owned(), "403: a wrong token".to_owned());
            report
        };
        assert_eq!(refused().refusals_only(), 2);
        let mut failed = refused();
        failed.fail("/c.jpg".to_owned(), "404: there is no file".to_owned());
        assert_eq!(failed.refusals_only(), 0);
        let mut succeeded = refused();
        succeeded.add(Outcome::Made);
        assert_eq!(succeeded.refusals_only(), 0);
    }

    #[test]
    fn the_report_has_the_counts_and_every_failure() {
        let mut report = Report::new(BTreeMap::from([("answered with 404".to_owned(), 2)]), 1);
        report.add(Outcome::Hit);
        report.fail("/b.jpg".to_owned(), "404: there is no file".to_owned());
        report.ends(3);
        assert!(!report.is_complete());
        assert_eq!(
            report.text(),
            "1 hit, 0 made, 1 failed, 1 not asked for, 1 done by an earlier run\n\
             2 requests of the log left out: answered with 404\n\
             failed: /b.jpg: 404: there is no file\n"
        );
    }
}
