//! Hashes of results, recorded together with the revision that produced them: when results change, the revision has to
//! change, too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The environment variable that makes tests record the current results: `ANDON_BLESS=1`.
const SWITCH: &str = "ANDON_BLESS";

/// Compares `rows`, the names and hashes of results, with those recorded in `file` for `revision`, which the source
/// defines at `place`.
///
/// # Panics
/// When a result changed and the revision did not, and when the file is not up to date.
pub(crate) fn compare(file: &Path, revision: u32, place: &str, rows: &BTreeMap<String, u64>) {
    let recorded = std::fs::read_to_string(file).unwrap_or_default();
    let (old_revision, old) = read(&recorded);
    let changed = rows
        .iter()
        .filter(|(name, hash)| old.get(*name).is_some_and(|old| old != *hash))
        .map(|(name, _)| name.as_str())
        .collect::<Vec<_>>();
    assert!(
        changed.is_empty() || revision > old_revision,
        "the results of revision {revision} have changed ({}). Cached results and ETags of the earlier build \
         would be taken for those of this one. If the change is intended, increase {place} and record the \
         results with {SWITCH}=1 in the environment of this test",
        changed.join(", "),
    );
    let text = written(revision, rows);
    if std::env::var_os(SWITCH).is_some() {
        std::fs::write(file, text).expect("the file of hashes can be written");
    } else {
        assert!(
            text == recorded,
            "{} does not list the results of revision {revision}: run this test once with {SWITCH}=1 in its \
             environment",
            file.display()
        );
    }
}

/// Returns the FNV-1a hash: a short function with the same result on every machine.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn written(revision: u32, rows: &BTreeMap<String, u64>) -> String {
    let mut text = format!("revision {revision}\n");
    for (name, hash) in rows {
        let _ = writeln!(text, "{hash:016x} {name}");
    }
    text
}

fn read(text: &str) -> (u32, BTreeMap<String, u64>) {
    let mut lines = text.lines();
    let revision = lines
        .next()
        .and_then(|line| line.strip_prefix("revision "))
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    let rows = lines.filter_map(|line| {
        let (hash, name) = line.split_once(' ')?;
        Some((name.to_owned(), u64::from_str_radix(hash, 16).ok()?))
    });
    (revision, rows.collect())
}
