//! `andon warm`: requests results from a server before clients do, so that they are in its cache.

mod ask;
mod list;
mod manifest;
mod outcome;

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;

use andon_client::Seconds;
use anyhow::{Context, bail};

use crate::journal::Journal;
use andon_terminal::interrupt;
use andon_terminal::print;
use ask::Job;
use list::Wanted;
use outcome::Report;

/// Fill the cache of a running server, without delaying its clients
///
/// Sends the requests of a list, the most frequent ones of an access log, or every variant of a manifest's sources to a
/// server or load balancer, with the priority `idle`: the server makes their results while no other request waits for a
/// worker thread, and otherwise postpones them (429). All connections obey Retry-After.
#[derive(clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    #[command(flatten)]
    from: From,
    /// With a log: only the N most frequent URLs
    #[arg(long, value_name = "N", requires = "from_log")]
    top: Option<usize>,
    /// The server or load balancer: http://HOST:PORT[/PREFIX], https://…, HOST:PORT or unix:/path
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    server: String,
    /// Accept header to send, such as image/avif,image/webp; may be repeated, and each URL is then requested once for
    /// each; "" is none
    #[arg(long, value_name = "VALUE")]
    accept: Vec<String>,
    /// Accept any certificate of a server at https://, including a self-signed one
    #[arg(long)]
    insecure: bool,
    /// Header for all requests, `name: value`; may be given more than once
    #[arg(short = 'H', long, value_name = "HEADER")]
    header: Vec<String>,
    /// Maximum number of concurrent requests
    #[arg(short, long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    connections: u32,
    /// A file that records what is done; a later run skips what it records
    #[arg(long, value_name = "FILE")]
    done: Option<PathBuf>,
    /// Give up after all requests have been postponed or have failed for this time
    #[arg(long, value_name = "TIME", value_parser = Seconds::parse, default_value = "10m")]
    patience: Seconds,
    /// idle requires the administrator's token; normal requests are like those of clients, and may delay them
    #[arg(long, value_name = "PRIORITY", default_value = "idle", value_parser = ["idle", "normal"])]
    priority: String,
    /// The environment variable that holds the administrator's token
    #[arg(long, value_name = "NAME", default_value = "ANDON_TOKEN")]
    token_env: String,
}

/// The sources of URLs: a log, a list, or a manifest.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct From {
    /// URLs or paths, one a line; - reads standard input
    #[arg(value_name = "LIST")]
    list: Option<PathBuf>,
    /// An access log of any format whose lines have a method, a path or URL, a status and a time; may be compressed by
    /// gzip
    #[arg(long, value_name = "FILE")]
    from_log: Option<PathBuf>,
    /// A TOML file with sources, and the URLs for each
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  export ANDON_TOKEN=…
  andon warm urls.txt
  andon warm --from-log access.log --top 10000 --done warm.done --server 10.0.0.1:8080
  andon warm --manifest sizes.toml --accept image/avif,image/webp --accept image/webp
  sed 's|^|/r/fit:250x250,as:webp/|' names.txt | andon warm - --priority normal

A manifest:
  sources = [\"/trip/a.jpg\", \"/trip/b.jpg\"]   # or sources_from = \"sources.txt\", one a line
  urls    = [\"/r/fit:250x250,as:auto{source}\", \"/small_light(dw=800,dh=800){source}\"]
  accept  = [\"image/avif,image/webp\", \"image/webp\", \"\"]   # optional; each URL once for each

The server needs the same token: [admin] token_env = \"ANDON_TOKEN\". Of a log, GETs and HEADs that were answered with \
200, 206 or 304 are used. Prints how many results were in the cache, came from the shared store, and were made; and \
each URL that failed. Failed URLs are not noted in --done, so the next run tries them again. \
Exit codes: 0 all are done, 1 some failed or were not asked for, and the message says why.";

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (requests, left_out) = requests(args)?;
    let (journal, done_lines) = match &args.done {
        Some(path) => {
            let (journal, lines) = Journal::open(path)?;
            let done_lines = lines.lines().map(str::to_owned).collect();
            (Some(journal), done_lines)
        }
        None => (None, HashSet::<String>::new()),
    };
    let all = requests.len();
    let requests: Vec<Wanted> = requests
        .into_iter()
        .filter(|it| !done_lines.contains(&it.line()))
        .collect();
    let mut report = Report::new(left_out, all - requests.len());
    if !requests.is_empty() {
        let cancel = interrupt::flag().context("cannot listen for signals")?;
        let job = Job::new(args, headers(args)?, journal.as_ref(), &cancel)?;
        job.run(&requests, &mut report)?;
    }
    print(report.text().as_bytes())?;
    Ok(match report.is_complete() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Returns each distinct request once, and the numbers of requests in the log that were omitted, by reason.
fn requests(args: &Args) -> anyhow::Result<(Vec<Wanted>, BTreeMap<String, u64>)> {
    let mut left_out = BTreeMap::new();
    let entries = match (&args.from.list, &args.from.from_log, &args.from.manifest) {
        (Some(list), ..) => list::of_file(list)?,
        (_, Some(log), _) => list::of_log(log, args.top, &mut left_out)?,
        (.., Some(file)) => manifest::read(file)?,
        _ => bail!("name a list of URLs, --from-log or --manifest"),
    };
    let mut requests = list::accepting(entries, &args.accept);
    let mut distinct = HashSet::new();
    requests.retain(|it| distinct.insert(it.line()));
    Ok((requests, left_out))
}

/// Returns the headers that are sent with every request.
fn headers(args: &Args) -> anyhow::Result<Vec<(String, String)>> {
    let mut headers = andon_client::headers(&args.header)?;
    if args.priority == "idle" {
        let name = &args.token_env;
        let Ok(token) = std::env::var(name) else {
            bail!(
                "set the environment variable {name} to the token of the server's [admin] table, or warm with --priority normal"
            );
        };
        headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        headers.push(("Andon-Priority".to_owned(), "idle".to_owned()));
    }
    Ok(headers)
}
