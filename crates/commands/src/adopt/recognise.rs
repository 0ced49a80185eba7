//! Chooses the kinds of URLs, each with its prefix, that explain a log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::form;
use super::kinds::{Kind, ROWS};
use super::probe::{Probes, Reading};

/// A kind of URLs at a prefix, and the targets that are read so.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Path below which the URLs are, without a slash at its end.
    pub(super) prefix: String,
    /// Index of each target, and how it is read.
    pub(super) readings: Vec<(usize, Reading)>,
}

/// What the targets of a log are.
#[derive(Debug, Default)]
pub(super) struct Recognised {
    pub(super) found: Vec<Found>,
    /// Indices of targets that no kind reads, and that end in the extension of an image: files as they are.
    pub(super) files: Vec<usize>,
    /// Indices of all other targets.
    pub(super) others: Vec<usize>,
}

type Place = (Kind, String);

pub(super) fn recognise(targets: &[(String, u64)], skip: &[bool]) -> anyhow::Result<Recognised> {
    let probes = Probes::new()?;
    let mut open: BTreeMap<usize, Vec<Reading>> = BTreeMap::new();
    for (index, (target, _)) in targets.iter().enumerate() {
        if !skip.get(index).copied().unwrap_or_default() {
            open.insert(index, probes.readings(target));
        }
    }
    let mut recognised = Recognised::default();
    for row in ROWS {
        while let Some((kind, prefix)) = best(row, &open, &recognised.found) {
            let is_it = |reading: &Reading| reading.kind == kind && reading.prefix == prefix;
            let mut readings = Vec::new();
            open.retain(|index, all| match all.iter().position(is_it) {
                Some(at) => {
                    readings.push((*index, all.swap_remove(at)));
                    false
                }
                None => true,
            });
            recognised.found.push(Found {
                kind,
                prefix,
                readings,
            });
        }
    }
    for index in open.into_keys() {
        let path = targets[index].0.split('?').next().unwrap_or_default();
        match form::looks_like_file(path) {
            true => recognised.files.push(index),
            false => recognised.others.push(index),
        }
    }
    Ok(recognised)
}

/// Returns the kind and prefix that read most of the remaining targets, if any does for sure.
fn best(row: &[Kind], open: &BTreeMap<usize, Vec<Reading>>, found: &[Found]) -> Option<Place> {
    let mut scores: BTreeMap<Place, (usize, usize, usize)> = BTreeMap::new();
    let all = open.values().flatten();
    for reading in all.filter(|reading| row.contains(&reading.kind)) {
        let place = (reading.kind, reading.prefix.clone());
        let (strong, clean, read) = scores.entry(place).or_default();
        *strong += usize::from(reading.is_strong);
        *clean += usize::from(reading.is_clean);
        *read += 1;
    }
    let is_free = |(kind, prefix): &Place| {
        let mut others = found.iter().filter(|other| row.contains(&other.kind));
        // Only one variant of a dialect can be configured where both have the same keys.
        let mut variants = found.iter().filter(|other| other.kind != *kind);
        let same_key = |other: &Found| {
            other.kind.table() == kind.table() && other.kind.prefix_key() == kind.prefix_key()
        };
        !others.any(|other| other.prefix == *prefix) && !variants.any(same_key)
    };
    let places = scores.into_iter().filter(|(_, (strong, ..))| *strong > 0);
    let free = places.filter(|(place, _)| is_free(place));
    let chosen = free.max_by_key(|((kind, prefix), (_, clean, read))| {
        // The number of targets counts most, because a wrong prefix reads fewer of them.
        let preference = preference(*kind, prefix);
        (
            preference >= SURE,
            *read,
            *clean,
            preference,
            Reverse(*kind),
        )
    });
    chosen.map(|(place, _)| place)
}

/// Preference of prefixes that say what they are the prefix of, so that another one that reads more is not better.
const SURE: i32 = 100;

/// Returns how well a prefix suits a kind, if several read equally many targets.
fn preference(kind: Kind, prefix: &str) -> i32 {
    let segments = prefix.matches('/').count() as i32;
    match kind {
        // Identifiers may have slashes, so that each beginning of a path can be the prefix.
        Kind::Iiif3 | Kind::Iiif2 => {
            let last = prefix.rsplit('/').next().unwrap_or_default();
            let says = |number: &str| {
                let plain = last.trim_start_matches("iiif").trim_start_matches('v');
                prefix.contains("iiif") && plain == number
            };
            let other = if kind == Kind::Iiif3 { "2" } else { "3" };
            let own = if kind == Kind::Iiif3 { "3" } else { "2" };
            match (says(own), says(other), last.starts_with("iiif")) {
                (true, ..) => SURE,
                (_, true, _) => 90,
                (_, _, true) => 50,
                _ => segments,
            }
        }
        _ => -segments,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds and prefixes of a log, with the number of targets of each, then those of files and of others.
    fn explain(targets: &[&str]) -> Vec<String> {
        let targets: Vec<(String, u64)> = targets
            .iter()
            .map(|target| ((*target).to_owned(), 1))
            .collect();
        let recognised = recognise(&targets, &[]).expect("probes");
        let found = recognised.found.iter();
        let mut said: Vec<String> = found
            .map(|it| format!("{:?} {} {}", it.kind, it.prefix, it.readings.len()))
            .collect();
        said.sort();
        said.push(format!(
            "{} files, {} others",
            recognised.files.len(),
            recognised.others.len()
        ));
        said
    }

    #[test]
    fn mixtures_are_taken_apart() {
        let said = explain(&[
            "/thumbs/unsafe/300x200/a.jpg",
            "/thumbs/unsafe/300x200/filters:quality(80)/b.jpg",
            "/img/insecure/rs:fill:100:100/plain/https://a.example/a.jpg",
            "/img/insecure/rs:fill:100:100/aHR0cHM6Ly9hLmV4YW1wbGUvYS5qcGc.webp",
            "/_next/image?url=%2Fa.jpg&w=640&q=75",
            "/logo.png",
            "/",
            "/app.js",
        ]);
        assert_eq!(
            said,
            [
                "Imgproxy /img 2",
                "Next /_next/image 1",
                "Thumbor /thumbs 2",
                "1 files, 2 others"
            ]
        );
    }

    #[test]
    fn versions_and_relatives_are_told_apart_by_what_they_know() {
        let two = explain(&[
            "/iiif/2/a%2Fb.jpg/full/full/0/default.jpg",
            "/iiif/2/a%2Fb.jpg/full/300,/0/default.jpg",
            "/iiif/2/a%2Fb.jpg/info.json",
        ]);
        assert_eq!(two, ["Iiif2 /iiif/2 3", "0 files, 0 others"]);
        let both = explain(&[
            "/iiif/2/a.jpg/full/300,/0/default.jpg",
            "/iiif/2/b.jpg/full/300,/0/default.jpg",
            "/iiif/3/a.jpg/full/^300,/0/default.jpg",
        ]);
        assert_eq!(
            both,
            ["Iiif2 /iiif/2 2", "Iiif3 /iiif/3 1", "0 files, 0 others"]
        );
        let three = explain(&["/iiif/3/b/c.jpg/full/^300,/0/default.jpg"]);
        assert_eq!(three, ["Iiif3 /iiif/3 1", "0 files, 0 others"]);
        let photon = explain(&["/a/b.jpg?resize=300,200&strip=all", "/a/c.jpg?w=300"]);
        assert_eq!(photon, ["PhotonPath  2", "0 files, 0 others"]);
        let imgix = explain(&["/a/b.jpg?w=300&auto=format", "/a/c.jpg?w=300"]);
        assert_eq!(imgix, ["Imgix  2", "0 files, 0 others"]);
        let imagor = explain(&[
            "/unsafe/fit-in/300x200/a.jpg",
            "/unsafe/300x200/10x10/filters:proportion(50)/a.jpg",
        ]);
        assert!(imagor[0].ends_with(" 2"), "{imagor:?}");
    }
}
