//! Both servers are asked for every URL, one after the other.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use andon_lab::load::{Endpoint, Fetched, Fetcher};
use anyhow::Context;

use super::{Report, Row, compare, page};
use crate::lab::interrupt::wait_until;
use crate::lab::running;

/// One of the two.
pub(super) struct Server<'a> {
    endpoint: Endpoint,
    /// As the URL names it.
    host: String,
    /// Stands before every target.
    prefix: String,
    headers: &'a [(String, String)],
}

impl<'a> Server<'a> {
    /// The server behind an option's URL. It must answer there.
    pub(super) fn new(
        option: &str,
        url: &str,
        headers: &'a [(String, String)],
    ) -> anyhow::Result<Self> {
        let (endpoint, path) = running::endpoint(url).with_context(|| option.to_owned())?;
        let host = match endpoint {
            Endpoint::Tcp(_) => url.split('/').nth(2).unwrap_or_default(),
            Endpoint::Unix(_) => "localhost",
        };
        let server = Self {
            endpoint,
            host: host.to_owned(),
            prefix: path.trim_end_matches('/').to_owned(),
            headers,
        };
        let connected = server
            .fetcher()
            .and_then(|mut fetcher| Ok(fetcher.connect()?));
        connected.with_context(|| format!("{option} {url}"))?;
        Ok(server)
    }

    fn fetcher(&self) -> anyhow::Result<Fetcher> {
        let endpoint = self.endpoint.clone();
        Ok(Fetcher::new(endpoint, &self.host, self.headers)?)
    }
}

/// Fills the report's rows, and sorts them; those that were not asked are dropped.
pub(super) fn all(
    servers: &[Server<'_>; 2],
    report: &mut Report<'_>,
    cancel: &AtomicBool,
) -> anyhow::Result<()> {
    let began = Instant::now();
    let gap = report.args.rate.map_or(0.0, f64::recip);
    let least = report.args.ssim;
    let keeps = report.args.html.is_some();
    let rows = std::mem::take(&mut report.rows);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(rows.len()));
    let work = || -> anyhow::Result<()> {
        let mut fetchers = [servers[0].fetcher()?, servers[1].fetcher()?];
        while !cancel.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(at) else { break };
            if !wait_until(began + Duration::from_secs_f64(at as f64 * gap), cancel) {
                break;
            }
            let mut get = |which: usize| -> std::io::Result<Fetched> {
                let target = format!("{}{}", servers[which].prefix, row.target);
                fetchers[which].get(&target)
            };
            let (old, new) = (get(0), get(1));
            let compared = compare::compare(&old, &new, least);
            let shown = keeps && compared.differs();
            let bodies = old.ok().zip(new.ok()).filter(|_| shown);
            let row = Row {
                target: row.target.clone(),
                count: row.count,
                compared,
                bodies: bodies.map(|(old, new)| [old.body, new.body]),
            };
            let mut done = done.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            done.push(row);
            if shown {
                page::forget_all_but_the_worst(&mut done);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..report.args.connections)
            .map(|_| scope.spawn(work))
            .collect();
        for thread in threads {
            let ended = thread.join();
            ended.unwrap_or_else(|_| anyhow::bail!("a thread of the comparison panicked"))?;
        }
        anyhow::Ok(())
    })?;
    report.rows = done
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    report.rows.sort_by(Row::worse_first);
    Ok(())
}

impl Row {
    pub(super) fn worse_first(&self, other: &Self) -> std::cmp::Ordering {
        let by_kind = self.compared.worst().cmp(&other.compared.worst());
        let ssim = |row: &Self| row.compared.ssim.unwrap_or(1.0);
        by_kind
            .then(ssim(self).total_cmp(&ssim(other)))
            .then(other.count.cmp(&self.count))
            .then_with(|| self.target.cmp(&other.target))
    }
}
