//! `andon shadow`: shows which differences clients would notice if another server replaced the current one.

mod ask;
pub(crate) mod compare;
pub(crate) mod page;
pub(crate) mod summary;
mod tolerance;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use andon_client::Past;
use anyhow::{Context, bail};

use crate::client::Server;
use andon_terminal::interrupt;
use andon_terminal::print;
use compare::Compared;
pub(crate) use tolerance::Tolerance;

/// Send the requests of an access log to two servers, and report how the responses differ
///
/// The log has any format whose lines have a method, a path or URL, a status and a time, such as that of Andon, Apache,
/// nginx, Caddy, Traefik or a CDN, and may be compressed by gzip. Each distinct GET is sent once to both servers, the
/// most frequent first. Statuses, media types, images (size, frames, structural similarity, colours) and headers are
/// compared, and bytes counted.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The access log
    #[arg(value_name = "ACCESS_LOG")]
    pub(crate) log: PathBuf,
    /// The old server: http://HOST:PORT[/PREFIX], https://… or unix:/path
    #[arg(long, value_name = "URL")]
    pub(crate) old: String,
    /// The new server
    #[arg(long, value_name = "URL")]
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) tolerance: Tolerance,
    /// Connections to each server
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) connections: u32,
    /// Maximum number of distinct URLs
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Maximum number of URLs per second
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<f64>,
    /// Header for all requests, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Accept any certificate of a server at https://, including a self-signed one
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Maximum number of differences to list, the worst first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) show: usize,
    /// Write an HTML page with the worst differences, side by side
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  andon shadow /var/log/nginx/access.log --old http://10.0.0.7 --new http://127.0.0.1:8080
  andon shadow access.log --old http://10.0.0.7 --new http://127.0.0.1:8080 --limit 500 --html differences.html
  andon shadow access.log --old http://10.0.0.7:8888 --new http://127.0.0.1:8080/imgproxy -c 1 --rate 5
  andon shadow access.log --old http://10.0.0.7 --new unix:/run/andon.sock -H 'Host: img.example' -H 'Accept: image/webp'
  andon shadow access.log --old https://127.0.0.1 --new http://127.0.0.1:8080 -H 'Host: shop.example'

Redirects are not followed. Other headers and bytes are reported, but are no difference by themselves; what the new server \
says it has left out, as its configuration does not have it (Andon-Note), is one. \
Exit codes: 0 no reply differs, 1 some do, or it failed and the message says why.";

/// The requests that are compared, and the results.
pub(crate) struct Report<'a> {
    pub(crate) args: &'a Args,
    /// Number of requests in the log for the URLs in `rows`.
    pub(crate) requests: u64,
    /// Number of requests in the log that were not compared, by reason.
    pub(crate) left_out: BTreeMap<String, u64>,
    /// The compared URLs, the worst first.
    pub(crate) rows: Vec<Row>,
}

/// One URL, and how the responses for it differ.
pub(crate) struct Row {
    pub(crate) target: String,
    /// Number of requests for the URL in the log.
    pub(crate) count: u64,
    pub(crate) compared: Compared,
    /// Seconds until the complete response of the old and of the new server; `None` if either was not requested or
    /// failed.
    pub(crate) seconds: Option<[f64; 2]>,
    /// Bodies of the old and the new response, if the HTML page shows them.
    bodies: Option<[Vec<u8>; 2]>,
}

impl Row {
    /// Creates a row for a URL that has not been compared yet.
    pub(crate) fn new(target: String, count: u64) -> Self {
        Self {
            target,
            count,
            compared: Compared::default(),
            seconds: None,
            bodies: None,
        }
    }
}

impl Report<'_> {
    pub(crate) fn differing(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.compared.differs())
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.tolerance.check()?;
    if let Some(rate) = args.rate.filter(|rate| !(*rate > 0.0 && rate.is_finite())) {
        bail!("--rate {rate}: write URLs per second, above 0");
    }
    let mut report = read(args)?;
    let servers = servers(args)?;
    let cancel = interrupt::flag().context("cannot listen for signals")?;
    compare(&servers, &mut report, &cancel)?;
    leave_out_pages(&mut report)?;
    if let Some(file) = &args.html {
        std::fs::write(file, page::page(&report))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    print(summary::text(&report).as_bytes())?;
    let differs = report.differing().next().is_some();
    Ok(ExitCode::from(u8::from(differs)))
}

/// Removes the URLs for which the old server sends a web page (HTML) instead of an image.
///
/// # Errors
/// If the old server sends a web page for every URL.
fn leave_out_pages(report: &mut Report<'_>) -> anyhow::Result<()> {
    let (pages, rows): (Vec<Row>, Vec<Row>) = std::mem::take(&mut report.rows)
        .into_iter()
        .partition(|row| row.compared.is_page);
    if rows.is_empty() && !pages.is_empty() {
        bail!(
            "--old {} answers all {} URLs with a page (text/html): is it another site's? -H 'Host: NAME' names one",
            report.args.old,
            pages.len()
        );
    }
    let requests: u64 = pages.iter().map(|row| row.count).sum();
    if requests > 0 {
        let reason = "pages (text/html) of the old server".to_owned();
        report.left_out.insert(reason, requests);
        report.requests -= requests;
    }
    report.rows = rows;
    Ok(())
}

/// Returns the old and the new server, both of which have accepted a connection.
pub(crate) fn servers(args: &Args) -> anyhow::Result<[Server; 2]> {
    let headers = andon_client::headers(&args.header)?;
    Ok([
        Server::new("--old", &args.old, headers.clone(), args.insecure)?,
        Server::new("--new", &args.new, headers, args.insecure)?,
    ])
}

/// Requests the report's URLs from both servers and compares the responses. URLs that were not requested because of
/// `cancel` are removed from the rows and counted.
pub(crate) fn compare(
    servers: &[Server; 2],
    report: &mut Report<'_>,
    cancel: &AtomicBool,
) -> anyhow::Result<()> {
    let row_count = report.rows.len();
    ask::all(servers, report, cancel)?;
    if report.rows.len() < row_count {
        let reason = "not asked, as it was interrupted".to_owned();
        let missing = (row_count - report.rows.len()) as u64;
        report.left_out.insert(reason, missing);
    }
    Ok(())
}

/// Reads the distinct GET requests of the log.
fn read(args: &Args) -> anyhow::Result<Report<'_>> {
    let name = args.log.display();
    let file = File::open(&args.log).with_context(|| name.to_string())?;
    let past = Past::of_log(BufReader::new(file)).with_context(|| name.to_string())?;
    let mut left_out = past.left_out;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for request in past.requests {
        match request.method.as_str() {
            "GET" => *counts.entry(request.target).or_default() += 1,
            _ => *left_out.entry("HEAD".to_owned()).or_default() += 1,
        }
    }
    if counts.is_empty() {
        bail!("{name} has no GET that could be sent again");
    }
    let mut rows: Vec<Row> = counts
        .into_iter()
        .map(|(target, count)| Row::new(target, count))
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    if let Some(limit) = args.limit.filter(|limit| *limit < rows.len()) {
        let rare = rows.drain(limit..).map(|row| row.count).sum();
        left_out.insert("less frequent than the URLs of --limit".to_owned(), rare);
    }
    Ok(Report {
        args,
        requests: rows.iter().map(|row| row.count).sum(),
        left_out,
        rows,
    })
}
