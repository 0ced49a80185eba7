//! The result of `andon adopt`, and whether it is safe to switch to the new server.

mod sized;

use std::collections::BTreeSet;
use std::path::PathBuf;

use andon_client::quantile;
use andon_dialects::Rewrite;

use super::prices::Usage;
use super::recognise::Found;
use crate::shadow::compare::is_missing;
use crate::shadow::summary::counted;
use crate::shadow::{Report, summary};

pub(super) use sized::looks_resized;

/// The URLs of a log with the same prefix and URL form of a dialect, counted as distinct URLs and as requests.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) urls: usize,
    pub(super) requests: u64,
}

/// How many distinct URLs of a log belong to a category, and how many requests were for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) urls: usize,
    pub(super) requests: u64,
}

impl Count {
    pub(super) fn add(&mut self, requests: u64) {
        self.urls += 1;
        self.requests += requests;
    }
}

/// An image URL that the new configuration cannot serve, with its number of requests and the reason.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) target: String,
    pub(super) requests: u64,
    pub(super) why: String,
}

/// The URLs of a log, counted by category.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pub(super) groups: Vec<Group>,
    /// Image URLs that the new configuration can serve.
    pub(super) read: Count,
    /// Image URLs with an encrypted source that cannot be decrypted because the secret is missing.
    pub(super) sealed: Count,
    /// Image URLs that the new configuration cannot serve, the most frequent first.
    pub(super) unread: Vec<Unread>,
    /// URLs that look as if the old server resizes their images, but that no dialect can parse. They were not compared.
    /// The most frequent come first.
    pub(super) sized: Vec<Unread>,
    /// Plain files with an image's extension that the old server keeps serving.
    pub(super) files: Count,
    /// Plain files that were requested from both servers.
    pub(super) compared: Count,
    /// URLs that are not images: the old server sends something else for them, or their extension is that of a web
    /// page.
    pub(super) pages: Count,
    /// URLs that were not checked for being images, because the limit on requests to the old server was reached, with
    /// their numbers of requests.
    pub(super) unasked: Vec<(String, u64)>,
}

impl Sorted {
    /// Returns the share of distinct image URLs that the new configuration can serve, 0 to 1. URLs with encrypted
    /// sources count as well, although their secret is missing.
    pub(super) fn share(&self) -> f64 {
        let read_count = self.read.urls + self.sealed.urls;
        read_count as f64 / self.images().max(1) as f64
    }

    /// Returns the number of distinct image URLs, not counting plain files.
    pub(super) fn images(&self) -> usize {
        self.read.urls + self.sealed.urls + self.unread.len() + self.sized.len()
    }

    /// Adds an image URL that the new configuration cannot serve, with the reason.
    pub(super) fn add_unread(&mut self, (target, requests): &(String, u64), why: String) {
        self.unread.push(Unread {
            target: target.clone(),
            requests: *requests,
            why,
        });
    }

    /// Adds a plain file that is not compared: to `sized` if its URL looks as if the old server resizes it, otherwise
    /// to `files`.
    pub(super) fn add_file(&mut self, target: &str, requests: u64) {
        if !looks_resized(target) {
            self.files.add(requests);
            return;
        }
        self.sized.push(Unread {
            target: target.to_owned(),
            requests,
            why: "a part of the URL looks like a size; --config compares what a configuration answers".to_owned(),
        });
    }
}

/// Processor time of both servers for the replayed images, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    pub(super) old: Option<f64>,
    pub(super) new: Option<f64>,
}

/// Everything that the report of `andon adopt` shows.
pub(super) struct Outcome<'a> {
    pub(super) logs: Vec<PathBuf>,
    pub(super) file: PathBuf,
    /// Whether this run has written the configuration file.
    pub(super) is_written: bool,
    pub(super) page: PathBuf,
    /// Seconds from the first request of a log to its last, summed over the logs.
    pub(super) seconds: f64,
    pub(super) sorted: Sorted,
    pub(super) entries: Vec<Found>,
    /// The rewrite rules that apply to URLs of the log, if the configuration was given rather than written by this run.
    pub(super) rules: Vec<Rewrite>,
    /// Number of replayed images that a dialect of the given configuration reads, although they match neither a
    /// recognised path prefix nor a rewrite rule.
    pub(super) others: usize,
    /// The URL that a proxy uses to reach the new server.
    pub(super) address: String,
    /// Dialects of the configuration that answer unsigned URLs.
    pub(super) unsigned: Vec<&'static str>,
    /// Number of replayed URLs that have a signature, but would be answered without one as well.
    pub(super) unchecked: usize,
    /// Keys of the configuration that the user has to fill in, each with the environment variables that may have the
    /// secret.
    pub(super) secrets: Vec<String>,
    pub(super) report: Report<'a>,
    /// Targets shown in the report that the new server answers with an unchanged file.
    pub(super) plain: BTreeSet<String>,
    /// Seconds that the new server took for each URL on the second request, from its cache.
    pub(super) repeat_seconds: Vec<f64>,
    pub(super) processor: Processor,
}

/// Seconds in a month, the twelfth of a mean year.
const MONTH: f64 = 365.25 / 12.0 * 86_400.0;

/// Shortest log, in seconds, whose request rate is extrapolated to a month.
const LEAST_SECONDS: f64 = 3600.0;

impl Outcome<'_> {
    /// Returns the reasons why it is not safe to switch to the new server; none if it is.
    pub(super) fn obstacles(&self) -> Vec<String> {
        let mut list = Vec::new();
        if !self.secrets.is_empty() {
            list.push(format!(
                "fill in what is marked SECRET in {}: {}",
                self.file.display(),
                self.secrets.join("; ")
            ));
        }
        if self.unchecked > 0 {
            list.push(format!(
                "{} signed, and no key of {} checks that: it would answer any URL",
                match self.unchecked {
                    1 => "1 URL is".to_owned(),
                    more => format!("{more} URLs are"),
                },
                self.file.display()
            ));
        }
        if !self.sorted.unread.is_empty() {
            list.push(match self.sorted.unread.len() {
                1 => "1 image URL is not recognised".to_owned(),
                more => format!("{more} image URLs are not recognised"),
            });
        }
        match self.sorted.sized.len() {
            0 => {}
            1 => list.push("1 image URL looks as if the old server resized it".to_owned()),
            more => list.push(format!(
                "{more} image URLs look as if the old server resized them"
            )),
        }
        if !self.sorted.unasked.is_empty() {
            let number = self.sorted.unasked.len();
            let are = if number == 1 { "an image" } else { "images" };
            list.push(format!(
                "{} may be {are} or not: nobody asked (--ask {number})",
                counted(number as u64, "URL")
            ));
        }
        let differing = self.report.differing().count();
        if differing > 0 {
            let differ = if differing == 1 { "differs" } else { "differ" };
            let all = self.report.rows.len();
            let replies = if all == 1 { "reply" } else { "replies" };
            list.push(format!("{differing} of {all} {replies} {differ}"));
        }
        if self.report.rows.is_empty() {
            list.push("no URL was replayed".to_owned());
        }
        let notes = summary::notes(&self.report);
        for (note, (urls, _)) in notes.iter().filter(|(note, _)| is_missing(note)) {
            let urls = counted(*urls as u64, "URL");
            list.push(format!("{urls} had something left out: {note}"));
        }
        let interrupted = self
            .report
            .left_out
            .keys()
            .any(|why| why.contains("interrupted"));
        if interrupted {
            list.push("the replay was interrupted".to_owned());
        }
        list
    }

    pub(super) fn verdict(&self) -> String {
        match &*self.obstacles() {
            [] => "Safe to switch.".to_owned(),
            obstacles => format!("Not safe to switch yet: {}.", obstacles.join("; ")),
        }
    }

    /// Returns the quantile at `share` of the response times in seconds: of the old server, of the new server, and of
    /// the new server on the second request.
    pub(super) fn seconds_at(&self, share: f64) -> [Option<f64>; 3] {
        let of = |which: usize| {
            let all = self.report.rows.iter().filter_map(|row| row.seconds);
            let all: Vec<f64> = all.map(|both| both[which]).collect();
            quantile(&all, share)
        };
        [of(0), of(1), quantile(&self.repeat_seconds, share)]
    }

    /// Returns the total bytes of all compared bodies, of the old and the new server.
    pub(super) fn bytes(&self) -> [f64; 2] {
        let all = self.report.rows.iter().filter_map(|row| row.compared.bytes);
        all.fold([0.0; 2], |sum, both| {
            [sum[0] + both[0] as f64, sum[1] + both[1] as f64]
        })
    }

    /// Returns the factor that extrapolates the log's requests to a month.
    pub(super) fn months(&self) -> f64 {
        match self.seconds >= LEAST_SECONDS {
            true => MONTH / self.seconds,
            false => 1.0,
        }
    }

    /// Returns what an image service would have to do in a month for the traffic of the log: generate each distinct
    /// image once, and answer the requests, whose number is extrapolated to a month.
    pub(super) fn usage(&self) -> Usage {
        let made = self.sorted.read.urls as f64;
        let sent = self.sorted.read.requests as f64 * self.months();
        let made_rows = self.report.rows.iter();
        let made_rows = made_rows.filter(|row| !self.plain.contains(&row.target));
        let sizes = made_rows.filter_map(|row| {
            let [_, new] = row.compared.bytes?;
            Some((new as f64, row.count as f64))
        });
        let (mut bytes, mut number, mut weighted, mut weight) = (0.0, 0.0, 0.0, 0.0);
        for (size, count) in sizes {
            bytes += size;
            number += 1.0;
            weighted += size * count;
            weight += count;
        }
        let mean = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        Usage {
            made,
            sent,
            made_bytes: made * mean(bytes, number),
            sent_bytes: sent * mean(weighted, weight),
        }
    }
}
