//! Derives the settings that the URLs of a log require, other than prefixes and keys.

use std::collections::BTreeSet;

use andon_dialects::forms::{Room, is_host};
use andon_dialects::{Form, ImagorConfig, NextConfig, Source};

use super::recognise::Found;
use crate::import::quoted;

/// A target and its interpretation.
type Read<'a> = (&'a str, &'a super::probe::Reading);

/// Returns the settings that a dialect needs to accept all of its URLs in the log, as lines of TOML for its table. URL
/// prefixes and signing keys are not included. `kind` is one of the dialect's URL forms.
pub(super) fn lines(kind: &Form, entries: &[&Found], targets: &[(String, u64)]) -> Vec<String> {
    let readings: Vec<Read<'_>> = entries
        .iter()
        .flat_map(|entry| &entry.readings)
        .map(|(index, reading)| (&*targets[*index].0, reading))
        .collect();
    match kind.dialect {
        "next" => next(entries, &readings),
        "thumbor" => thumbor(&readings),
        "imagor" => imagor(&readings),
        "imgproxy" => {
            let mut lines = imgproxy(&readings);
            if kind.lenient.contains("only_presets") {
                lines.push("only_presets = true  # the log's URLs name presets only".to_owned());
            }
            lines
        }
        "photon" if matches!(kind.room, Room::Files(_)) => vec!["source = \"path\"".to_owned()],
        _ => Vec::new(),
    }
}

/// Returns the raw value of an argument of a target's query.
pub(super) fn argument<'a>(target: &'a str, name: &str) -> Option<&'a str> {
    let (_, query) = target.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| (key == name).then_some(value))
}

fn next(entries: &[&Found], readings: &[Read<'_>]) -> Vec<String> {
    let numbers = |name| -> BTreeSet<u32> {
        let values = readings
            .iter()
            .filter_map(|(target, _)| argument(target, name));
        values.filter_map(|value| value.parse().ok()).collect()
    };
    let usual = NextConfig::default();
    let mut lines = Vec::new();
    let widths: BTreeSet<u32> = usual
        .device_sizes
        .iter()
        .chain(&usual.image_sizes)
        .copied()
        .collect();
    let further: Vec<u32> = numbers("w").difference(&widths).copied().collect();
    if !further.is_empty() {
        let all: BTreeSet<u32> = further.into_iter().chain(usual.device_sizes).collect();
        lines.push(format!(
            "device_sizes = {}  # those of Next.js and of the log",
            list(all)
        ));
    }
    let qualities = numbers("q");
    if !qualities.iter().all(|quality| *quality == 75) {
        lines.push(format!(
            "qualities = {}  # those of the log",
            list(qualities)
        ));
    }
    let ends = ["/_next/image", "/_vercel/image"];
    let prefixes = entries.iter().map(|entry| entry.prefix.as_str());
    let mut bases = prefixes.flat_map(|it| ends.iter().filter_map(move |end| it.strip_suffix(end)));
    let base = bases.next();
    if let Some(base) = base.filter(|base| !base.is_empty()) {
        lines.push(format!("base_path = {}", quoted(base)));
    }
    let hosts: BTreeSet<&str> = readings
        .iter()
        .filter_map(|(_, it)| host(&it.source))
        .collect();
    if !hosts.is_empty() {
        let hosts: Vec<String> = hosts.into_iter().map(quoted).collect();
        lines.push(format!(
            "domains = [{}]  # those of the log",
            hosts.join(", ")
        ));
    }
    let has_query = |source: &Source| matches!(source, Source::Path(_) | Source::Escaped(_));
    let versions = readings.iter().any(|(target, it)| {
        has_query(&it.source) && argument(target, "url").is_some_and(|url| url.contains("%3F"))
    });
    if versions {
        lines.push(
            "local_patterns = [{ pathname = \"/**\" }]  # paths with a query, too".to_owned(),
        );
    }
    lines
}

/// Returns the host of a URL, without its port.
fn host(source: &Source) -> Option<&str> {
    let Source::Url(url) = source else {
        return None;
    };
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    Some(host.split(':').next().unwrap_or(host))
}

fn list(numbers: impl IntoIterator<Item = u32>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|it| it.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}

fn thumbor(readings: &[Read<'_>]) -> Vec<String> {
    let mut lines = loader("http", readings);
    let is_signed = signatures(readings).any(|it| it != UNSAFE);
    lines.extend(unsafe_line(readings).filter(|_| is_signed));
    lines
}

fn imagor(readings: &[Read<'_>]) -> Vec<String> {
    let mut lines = loader("https", readings);
    // imagor refuses all URLs if it has neither a key nor this setting.
    lines.extend(unsafe_line(readings));
    let signature = signatures(readings).filter(|it| *it != UNSAFE).min();
    lines.extend(signature.into_iter().flat_map(|it| digest(it.len())));
    let filters = |target: &str| target.matches("):").count() + 1;
    let most = readings.iter().map(|(target, _)| filters(target)).max();
    if most > Some(ImagorConfig::default().max_filters) {
        lines.push("max_filters = 0".to_owned());
    }
    lines
}

/// The word that unsigned URLs have instead of a signature.
const UNSAFE: &str = "unsafe";

/// Returns the line `loader = "SCHEME"`, with which thumbor's and imagor's sources are host names with paths, if most
/// sources are. Otherwise returns nothing.
fn loader(scheme: &str, readings: &[Read<'_>]) -> Vec<String> {
    let line = format!(
        "loader = \"{scheme}\"  # sources are hosts and paths there; \"https\" and \"http\" say how they are fetched"
    );
    let has_hosts = names_hosts(readings.iter().map(|(_, it)| &it.source));
    has_hosts.then_some(line).into_iter().collect()
}

/// Returns the line that permits unsigned URLs, if there are any.
fn unsafe_line(readings: &[Read<'_>]) -> Option<String> {
    let has_some = signatures(readings).any(|it| it == UNSAFE);
    has_some.then(|| "allow_unsafe = true  # the log has such URLs".to_owned())
}

/// Returns the line for the digest of imagor's signatures, guessed from their length in characters. SHA-1 has 28; a
/// length that no digest has means that signatures are truncated.
fn digest(length: usize) -> Vec<String> {
    let (name, truncate) = match length {
        28 => return Vec::new(),
        44 => ("sha256", None),
        88 => ("sha512", None),
        27 => ("sha1", Some(length)),
        29..=43 => ("sha256", Some(length)),
        _ => ("sha512", Some(length)),
    };
    let mut lines = vec![format!(
        "digest = \"{name}\"  # by the length of the signatures"
    )];
    lines.extend(truncate.map(|length| format!("truncate = {length}")));
    lines
}

/// Whether most relative sources begin with a host name.
pub(super) fn names_hosts<'a>(sources: impl Iterator<Item = &'a Source>) -> bool {
    let paths = sources.filter(|source| !matches!(source, Source::Url(_)));
    let (mut hosts, mut all) = (0, 0);
    for source in paths {
        let place = source.place();
        all += 1;
        hosts += usize::from(
            place
                .split_once('/')
                .is_some_and(|(first, _)| is_host(first)),
        );
    }
    hosts * 2 > all
}

fn signatures<'a>(readings: &[Read<'a>]) -> impl Iterator<Item = &'a str> {
    readings
        .iter()
        .filter_map(|(_, it)| it.signature.as_deref())
}

/// How the imgproxy URLs of a log are signed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Signatures {
    /// Length of signatures in bytes; `None` if the URLs are unsigned.
    pub(super) bytes: Option<usize>,
    /// Words that URLs of the log have where other URLs have a signature, such as `unsafe`.
    pub(super) words: BTreeSet<String>,
}

/// Separates the signatures at the beginning of imgproxy's URLs from words in their place, such as `unsafe`: by their
/// length, and because a word is the same in the URLs of many sources.
pub(super) fn imgproxy_signatures<'a>(all: impl Iterator<Item = &'a str>) -> Signatures {
    let all: Vec<&str> = all.collect();
    let distinct: BTreeSet<&str> = all.iter().copied().collect();
    let length = |text: &&str| text.trim_end_matches('=').len();
    let whole = |text: &&str| length(text) == 43;
    // Without a full-length digest, texts of one length that hardly repeat are truncated signatures.
    let first = distinct.iter().map(length).max().unwrap_or_default();
    let alike = distinct.iter().filter(|text| length(text) == first).count();
    let is_truncated = first >= 6 && alike > 1 && alike * 2 > all.len();
    let is_signature = |text: &&str| whole(text) || is_truncated && length(text) == first;
    let is_signed = distinct.iter().any(is_signature);
    Signatures {
        bytes: is_signed.then(|| match distinct.iter().any(whole) {
            true => 32,
            false => first * 3 / 4,
        }),
        words: distinct
            .iter()
            .filter(|text| !is_signature(text))
            .map(|text| (*text).to_owned())
            .collect(),
    }
}

/// imgproxy's options in URLs that clients may use only if the configuration permits them.
const LIMITS: [&str; 8] = [
    "/max_src_resolution:",
    "/msr:",
    "/max_src_file_size:",
    "/msfs:",
    "/max_animation_frames:",
    "/maf:",
    "/max_result_dimension:",
    "/mrd:",
];

fn imgproxy(readings: &[Read<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    let signing = imgproxy_signatures(signatures(readings));
    if let Some(bytes) = signing.bytes.filter(|bytes| *bytes != 32) {
        lines.push(format!("signature_size = {bytes}"));
    }
    let has_keys = signing.bytes.is_some() || readings.iter().any(|(_, it)| it.is_sealed);
    if has_keys && !signing.words.is_empty() {
        let words: Vec<String> = signing.words.iter().map(|word| quoted(word)).collect();
        lines.push(format!("trusted_signatures = [{}]", words.join(", ")));
    }
    let sets = |target: &&str| LIMITS.iter().any(|limit| target.contains(limit));
    if readings.iter().any(|(target, _)| sets(target)) {
        lines.push("allow_security_options = true".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_told_from_words() {
        let whole = "A".repeat(43);
        let of = |all: &[&str]| imgproxy_signatures(all.iter().copied());
        assert_eq!(of(&[&whole, "insecure"]).bytes, Some(32));
        assert!(of(&[&whole, "insecure"]).words.contains("insecure"));
        assert_eq!(of(&["_", "_", "insecure"]).bytes, None);
        assert_eq!(of(&["AbCdEfGh", "ZxYwVuTs", "QqRrSsTt"]).bytes, Some(6));
        assert_eq!(of(&["unsigned", "unsigned", "unsigned"]).bytes, None);
    }

    #[test]
    fn digests_follow_from_lengths() {
        assert!(digest(28).is_empty());
        assert_eq!(digest(40)[1], "truncate = 40");
        assert!(digest(88)[0].contains("sha512"));
    }
}
