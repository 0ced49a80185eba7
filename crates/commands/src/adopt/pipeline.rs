//! The steps of `andon adopt`, one after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use andon_dialects::forms::looks_like_file;
use andon_server::config::Overrides;
use andon_terminal::interrupt;
use andon_terminal::interrupt::wait_until;
use anyhow::{Context, bail};

use super::Args;
use super::base::Base;
use super::draft::{Draft, For, places};
use super::outcome::{Outcome, Processor, Sorted, Unread, looks_resized};
use super::recognise::{Recognised, recognise};
use super::routes::{Route, Router};
use super::seen::{self, Seen};
use super::sort::{Replayed, Sorting};
use super::sources::{Old, Sources, sends_image};
use super::trial::{Trial, processor_seconds};
use crate::client::{Client, Server};
use crate::shadow::Args as Comparison;
use crate::shadow::{self, Report, Row};

/// Returns the settings for comparing the two servers. Until the new server runs and its URL is known, `new` is a
/// description of it.
pub(super) fn comparison(args: &Args) -> Comparison {
    Comparison {
        log: args.log.first().cloned().unwrap_or_default(),
        old: args.old.clone(),
        new: "Andon, on a free port of loopback".to_owned(),
        tolerance: args.tolerance,
        connections: args.connections,
        limit: Some(args.limit),
        rate: Some(args.rate),
        header: args.header.clone(),
        insecure: args.insecure,
        show: args.show,
        html: Some(args.html.clone()),
    }
}

pub(super) fn outcome<'a>(args: &Args, comparison: &'a Comparison) -> anyhow::Result<Outcome<'a>> {
    let mut base = Base::of(args, folder(None, &args.output))?;
    if !base.is_own && args.output.exists() && !args.force {
        bail!(
            "{} is there already: --force replaces it, -o FILE writes another one, and --config {} tries it",
            args.output.display(),
            args.output.display()
        );
    }
    let log_urls = seen::read(&args.log)?;
    let cancel = interrupt::flag().context("cannot listen for signals")?;
    let headers = andon_client::headers(&args.header)?;
    let old = Server::new("OLD", &args.old, headers, args.insecure)?;
    let mut asking = Asking::new(old.client()?, args.rate, &cancel);
    let folder = folder(
        if base.is_own {
            args.config.as_deref()
        } else {
            None
        },
        &args.output,
    );
    let base_images = images_of_base(&base, folder, &log_urls)?;
    let recognition = match base.is_own {
        true => as_configured(&base_images, &log_urls.targets),
        false => recognise(
            &log_urls.targets,
            &base_images,
            &places(&toml::from_str(&base.text)?),
        )?,
    };
    let draft = draft(
        args,
        &mut base,
        &log_urls,
        &recognition,
        folder,
        &mut asking,
    )?;
    let text = draft.text(For::Use);
    check(&text, folder).context(match args.root {
        None if !base.text.is_empty() => "the configuration for this log is not sound (--root DIR takes the place of a folder that is not here)",
        _ => "the configuration for this log is not sound",
    })?;
    let trial_text = draft.text(For::Trial);
    let router = Router::new(&trial_text, folder)?;
    let sorting = Sorting {
        targets: &log_urls.targets,
        base_images: &base_images,
        recognition: &recognition,
        router: &router,
        compares_files: args.config.is_some(),
        most_asked: args.ask,
    };
    let (mut sorted, replayed) = sorting.sort(&mut |target| asking.sends_image(target));
    if !base.is_own {
        write(&args.output, &text, args.force)?;
    }
    let trial = Trial::start(&trial_text, folder)?;
    let mut measurements = replay(
        args,
        comparison,
        &log_urls,
        &replayed.indices,
        &trial,
        &cancel,
    )?;
    let draws_on_old = draws_on(&trial_text, &args.old)?;
    let plain = part_files(
        &log_urls,
        &replayed,
        draws_on_old,
        &mut measurements.report,
        &mut sorted,
    );
    for list in [&mut sorted.unread, &mut sorted.sized] {
        list.sort_by_key(|unread| std::cmp::Reverse(unread.requests));
        sort_by_reason(list);
    }
    let secrets = draft
        .unknown_secrets()
        .map(|secret| format!("{} ({})", secret.key, secret.variables.join(", ")));
    let file = match (base.is_own, &args.config) {
        (true, Some(file)) => file.clone(),
        _ => args.output.clone(),
    };
    let router = Router::new(&text, folder)?;
    let targets = || measurements.report.rows.iter().map(|row| &row.target);
    let unchecked = targets().filter(|it| router.ignores_signature(it)).count();
    let generated_targets = || targets().filter(|it| !plain.contains(*it));
    // Rules that this run imported are omitted: they are the old server's own locations, as regular expressions.
    let rules = match base.is_own {
        true => router.rules_of(generated_targets()),
        false => Vec::new(),
    };
    let others = match recognition.entries.is_empty() {
        true => generated_targets()
            .filter(|it| !router.has_rule(it))
            .count(),
        false => 0,
    };
    Ok(Outcome {
        logs: args.log.clone(),
        file,
        is_written: !base.is_own,
        page: args.html.clone(),
        seconds: log_urls.seconds,
        unsigned: router.unsigned(),
        rules,
        others,
        address: router.address(),
        unchecked,
        secrets: secrets.chain(base.unknown()).collect(),
        sorted,
        entries: recognition.entries,
        report: measurements.report,
        plain,
        repeat_seconds: measurements.repeat_seconds,
        processor: measurements.processor,
    })
}

/// Groups URLs with the same reason, in the order of the first URL of each group.
fn sort_by_reason(list: &mut [Unread]) {
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    for unread in list.iter() {
        let next = order.len();
        order.entry(unread.why.clone()).or_insert(next);
    }
    list.sort_by_key(|unread| order[&unread.why]);
}

/// Returns the command-line arguments that replay the same log against the same server.
fn words_again(args: &Args) -> String {
    let mut words: Vec<String> = Vec::new();
    for log in &args.log {
        words.extend(["--log".to_owned(), log.display().to_string()]);
    }
    for header in &args.header {
        words.extend(["-H".to_owned(), header.clone()]);
    }
    words.extend(args.insecure.then(|| "--insecure".to_owned()));
    words.push(args.old.clone());
    let words = words.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| args.old.clone())
}

/// Returns the folder that relative paths in the configuration refer to: that of the file `config`, or else that of
/// `output`.
fn folder<'a>(config: Option<&'a Path>, output: &'a Path) -> &'a Path {
    let file = config.unwrap_or(output);
    file.parent().unwrap_or(Path::new(""))
}

/// Returns for each target whether the configuration that the user gave answers it with an image.
fn images_of_base(base: &Base, folder: &Path, log_urls: &Seen) -> anyhow::Result<Vec<bool>> {
    if base.text.is_empty() {
        return Ok(vec![false; log_urls.targets.len()]);
    }
    let router = Router::new(&base.trial()?, folder).context("--config")?;
    let is_image = |target: &str| matches!(router.route(target), Route::Image(_));
    Ok(log_urls
        .targets
        .iter()
        .map(|(target, _)| is_image(target))
        .collect())
}

/// Sorts the targets that the user's andon.toml does not answer with an image (`base_images`) into files and others,
/// without recognising dialects, because an andon.toml is tried without changes.
fn as_configured(base_images: &[bool], targets: &[(String, u64)]) -> Recognised {
    let open = (0..base_images.len()).filter(|index| !base_images[*index]);
    let is_file = |index: &usize| {
        let path = targets[*index].0.split('?').next().unwrap_or_default();
        looks_like_file(path)
    };
    let (files, others) = open.partition(is_file);
    Recognised {
        files,
        others,
        ..Recognised::default()
    }
}

fn draft(
    args: &Args,
    base: &mut Base,
    log_urls: &Seen,
    recognition: &Recognised,
    folder: &Path,
    asking: &mut Asking<'_>,
) -> anyhow::Result<Draft> {
    if base.is_own {
        return Draft::new(base, &Recognised::default(), &log_urls.targets);
    }
    let mut draft = Draft::new(base, recognition, &log_urls.targets)?;
    let router = Router::new(&draft.text(For::Trial), folder)?;
    let mut sources = Sources::of(&router, &log_urls.targets, &recognition.entries);
    if base.text.is_empty() && recognition.entries.is_empty() && sources.is_empty() {
        bail!(
            "none of the {} URLs that were answered with 200 is an image of a dialect that is known (docs/index.md lists them); for URLs \
             of a script of your own, docs/behind-nginx.md has rules that turn them into Andon's: write them and an [[origin]] into an \
             andon.toml, and `andon adopt --config andon.toml {}` tries them",
            log_urls.targets.len(),
            words_again(args)
        );
    }
    if sources.name_buckets(base) {
        draft.rebase(base)?;
    }
    let table: toml::Table = toml::from_str(&base.text)?;
    let mut old = Old {
        url: &args.old,
        sends_image: &mut |target| asking.sends_image(target),
    };
    draft.origins = sources.origins(origins_of(&table), args.root.as_deref(), &mut old)?;
    let logs: Vec<String> = args
        .log
        .iter()
        .map(|log| log.display().to_string())
        .collect();
    draft.say(format!(
        "Written by `andon adopt` for the URLs of {}.",
        logs.join(", ")
    ));
    if draft.unknown_secrets().next().is_some() || base.unknown().next().is_some() {
        draft.say("Lines with SECRET need a value that no log has.");
    }
    Ok(draft)
}

/// Whether a configuration has origins for sources that are absolute URLs, and whether it has origins for sources that
/// are paths.
fn origins_of(table: &toml::Table) -> (bool, bool) {
    let origins = table.get("origin").and_then(toml::Value::as_array);
    let origins = origins.into_iter().flatten();
    let is_urls = |origin: &&toml::Value| {
        origin
            .get("http")
            .is_some_and(|it| it.get("urls").is_some())
    };
    let (urls, paths): (Vec<_>, Vec<_>) = origins.partition(is_urls);
    (!urls.is_empty(), !paths.is_empty())
}

/// Checks a configuration as `andon config check` does.
pub(super) fn check(text: &str, folder: &Path) -> anyhow::Result<()> {
    let config = Overrides::of_process().parse(text, folder)?;
    andon_server::check(&config, andon_codecs::ALL).map_err(|error| error.located(text))?;
    Ok(())
}

/// Writes the configuration. A new file can be read by its owner only, because it may contain keys.
fn write(file: &Path, text: &str, replaces: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    match replaces {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let result = options
        .open(file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    result.with_context(|| format!("cannot write {}", file.display()))
}

/// A client of the old server with a limited request rate.
struct Asking<'a> {
    client: Client<'a>,
    gap: Duration,
    next: Instant,
    cancel: &'a AtomicBool,
}

impl<'a> Asking<'a> {
    fn new(client: Client<'a>, rate: f64, cancel: &'a AtomicBool) -> Self {
        Self {
            client,
            gap: Duration::from_secs_f64(rate.recip()),
            next: Instant::now(),
            cancel,
        }
    }

    fn sends_image(&mut self, target: &str) -> bool {
        if !wait_until(self.next, self.cancel) {
            return false;
        }
        self.next = Instant::now() + self.gap;
        sends_image(&mut self.client, target)
    }
}

/// What was measured while a log's URLs were sent to the old and the new server.
struct Measured<'a> {
    report: Report<'a>,
    repeat_seconds: Vec<f64>,
    processor: Processor,
}

/// Sends the replayed URLs to both servers, and compares the responses.
fn replay<'a>(
    args: &Args,
    comparison: &'a Comparison,
    log_urls: &Seen,
    replayed: &[usize],
    trial: &Trial,
    cancel: &AtomicBool,
) -> anyhow::Result<Measured<'a>> {
    let rows = replayed.iter().take(args.limit);
    let rows: Vec<Row> = rows
        .map(|index| &log_urls.targets[*index])
        .map(|(target, count)| Row::new(target.clone(), *count))
        .collect();
    let mut left_out: BTreeMap<String, u64> = log_urls.left_out.clone();
    let rare = replayed
        .iter()
        .skip(args.limit)
        .map(|index| log_urls.targets[*index].1);
    let rare: u64 = rare.sum();
    if rare > 0 {
        left_out.insert("less frequent than the URLs of --limit".to_owned(), rare);
    }
    let mut report = Report {
        args: comparison,
        requests: rows.iter().map(|row| row.count).sum(),
        left_out,
        rows,
    };
    let servers = shadow::servers(&Comparison {
        new: trial.url.clone(),
        header: args.header.clone(),
        ..self::comparison(args)
    })?;
    let processor_time = |process: Option<u32>| process.and_then(processor_seconds);
    let before = [
        processor_time(args.old_pid),
        processor_time(Some(trial.id())),
    ];
    shadow::compare(&servers, &mut report, cancel)?;
    let after = [
        processor_time(args.old_pid),
        processor_time(Some(trial.id())),
    ];
    let [old, new] = [0, 1].map(|which: usize| Some((after[which]? - before[which]?).max(0.0)));
    let repeat_seconds = request_again(&servers[1], &report, cancel)?;
    Ok(Measured {
        report,
        repeat_seconds,
        processor: Processor { old, new },
    })
}

/// Whether an origin of the configuration fetches images from this server.
fn draws_on(text: &str, server: &str) -> anyhow::Result<bool> {
    let table: toml::Table = toml::from_str(text)?;
    let origins = table.get("origin").and_then(toml::Value::as_array);
    let mut bases = origins
        .into_iter()
        .flatten()
        .filter_map(|origin| origin.get("http")?.get("base")?.as_str());
    let server = server.trim_end_matches('/');
    let is_there = |base: &str| {
        let rest = base.strip_prefix(server);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    Ok(bases.any(is_there))
}

/// Removes those plain files from the report whose comparison proves nothing: files that the new server does not have,
/// and files that it fetches from the old server, which may have resized them. Counts all plain files, and returns the
/// targets of those that stay in the report.
fn part_files(
    log_urls: &Seen,
    replayed: &Replayed,
    draws_on_old: bool,
    report: &mut Report<'_>,
    sorted: &mut Sorted,
) -> BTreeSet<String> {
    let files = replayed.files.iter().map(|index| &log_urls.targets[*index]);
    let mut plain: BTreeMap<String, u64> = files.cloned().collect();
    let stays = |row: &Row| {
        let statuses = row.compared.statuses;
        let is_absent = statuses.is_some_and(|[old, new]| new == 404 && old != new);
        let is_passed_on = draws_on_old && row.compared.same_bytes && looks_resized(&row.target);
        is_absent || is_passed_on
    };
    let mut staying = 0;
    report.rows.retain(|row| {
        if !plain.contains_key(&row.target) || !stays(row) {
            return true;
        }
        plain.remove(&row.target);
        sorted.add_file(&row.target, row.count);
        staying += row.count;
        false
    });
    if staying > 0 {
        report.requests -= staying;
        let why = "files that the configuration does not have";
        report.left_out.insert(why.to_owned(), staying);
    }
    plain
        .values()
        .for_each(|requests| sorted.compared.add(*requests));
    plain.into_keys().collect()
}

/// Requests the compared URLs from the new server a second time, and returns the seconds that each response took.
fn request_again(
    server: &Server,
    report: &Report<'_>,
    cancel: &AtomicBool,
) -> anyhow::Result<Vec<f64>> {
    let mut client = server.client()?;
    let mut seconds = Vec::new();
    for row in report
        .rows
        .iter()
        .filter(|row| row.compared.bytes.is_some())
    {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let start = Instant::now();
        if client.get(&row.target, &[]).is_ok() {
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}
