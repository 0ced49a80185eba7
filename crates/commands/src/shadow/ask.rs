//! Requests each URL of a comparison from both the old and the new server.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Report, Row, compare, page};
use crate::client::{Server, on_threads};
use andon_terminal::interrupt::wait_until;

/// Requests the report's URLs from both servers, compares the responses, and sorts the rows. Rows whose URLs were not
/// requested because of `cancel` are dropped.
pub(super) fn all(
    servers: &[Server; 2],
    report: &mut Report<'_>,
    cancel: &AtomicBool,
) -> anyhow::Result<()> {
    let began = Instant::now();
    let gap = report.args.rate.map_or(0.0, f64::recip);
    let tolerance = report.args.tolerance;
    let accept = accept(&report.args.header);
    let keeps = report.args.html.is_some();
    let rows = std::mem::take(&mut report.rows);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(rows.len()));
    on_threads(report.args.connections, || {
        let [mut old, mut new] = [servers[0].client()?, servers[1].client()?];
        while !cancel.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(row) = rows.get(at) else { break };
            if !wait_until(began + Duration::from_secs_f64(at as f64 * gap), cancel) {
                break;
            }
            let start = Instant::now();
            let old = old.get(&row.target, &[]);
            let between = Instant::now();
            let new = new.get(&row.target, &[]);
            let both = [between - start, between.elapsed()].map(|time| time.as_secs_f64());
            let seconds = (old.is_ok() && new.is_ok()).then_some(both);
            let compared = compare::compare(&old, &new, tolerance, &accept);
            let keeps_bodies = keeps && compared.differs();
            let bodies = old.ok().zip(new.ok()).filter(|_| keeps_bodies);
            let row = Row {
                target: row.target.clone(),
                count: row.count,
                compared,
                seconds,
                bodies: bodies.map(|(old, new)| [old.body, new.body]),
            };
            let mut results = results
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            results.push(row);
            if keeps_bodies {
                page::forget_all_but_the_worst(&mut results);
            }
        }
        Ok(())
    })?;
    report.rows = results
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    report.rows.sort_by(Row::worse_first);
    Ok(())
}

/// Returns the values of `Accept` among headers, joined by commas. Each header is written as `name: value`.
fn accept(headers: &[String]) -> String {
    let pairs = headers.iter().filter_map(|header| header.split_once(':'));
    let values = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("accept"));
    let values: Vec<&str> = values.map(|(_, value)| value.trim()).collect();
    values.join(",")
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
