//! Chooses the URL forms, each with its prefix, that explain the URLs of a log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use andon_dialects::Form;
use andon_dialects::forms::{Room, Suits, looks_like_file};

use super::probe::{Probes, Reading};

/// A URL form at a prefix, and the targets that were recognised as such URLs.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: &'static Form,
    /// Path prefix of the URLs, without the slash at its end.
    pub(super) prefix: String,
    /// The index of each target, with its interpretation.
    pub(super) readings: Vec<(usize, Reading)>,
}

/// The targets of a log, by what they were recognised as.
#[derive(Debug, Default)]
pub(super) struct Recognised {
    pub(super) entries: Vec<Found>,
    /// Indices of targets that match no URL form of a dialect and end in an image's extension: plain files.
    pub(super) files: Vec<usize>,
    /// Indices of targets that are neither URLs of a dialect nor plain files.
    pub(super) others: Vec<usize>,
}

/// A URL form, and the prefix of its URLs without the slash at the end.
pub(super) type Place = (&'static Form, String);

/// Recognises the targets whose entry in `skip` is not set. `base_places` are the dialects and prefixes that the
/// configuration to be completed already has.
pub(super) fn recognise(
    targets: &[(String, u64)],
    skip: &[bool],
    base_places: &[Place],
) -> anyhow::Result<Recognised> {
    let probes = Probes::new(targets)?;
    let mut open: BTreeMap<usize, Vec<Reading>> = BTreeMap::new();
    for (index, (target, _)) in targets.iter().enumerate() {
        if !skip.get(index).copied().unwrap_or_default() {
            open.insert(index, probes.readings(target));
        }
    }
    let mut recognition = Recognised::default();
    let forms: Vec<&Form> = andon_dialects::forms().collect();
    for row in forms.chunk_by(|a, b| a.order.0 == b.order.0) {
        while let Some((kind, prefix)) = best(row, &open, &recognition.entries, base_places) {
            let is_it = |reading: &Reading| reading.kind == kind && reading.prefix == prefix;
            let mut readings = Vec::new();
            open.retain(|index, all| match all.iter().position(is_it) {
                Some(at) => {
                    readings.push((*index, all.swap_remove(at)));
                    false
                }
                None => true,
            });
            recognition.entries.push(Found {
                kind,
                prefix,
                readings,
            });
        }
    }
    for index in open.into_keys() {
        let path = targets[index].0.split('?').next().unwrap_or_default();
        match looks_like_file(path) {
            true => recognition.files.push(index),
            false => recognition.others.push(index),
        }
    }
    Ok(recognition)
}

/// Chooses one of the URL forms in `row` and a prefix: the combination that can interpret most of the targets in
/// `open`, which are not recognised yet. A prefix that names exactly its URL form takes precedence. Returns `None` if
/// no combination is left that is not in use and has a target that is unmistakably of its URL form.
fn best(
    row: &[&'static Form],
    open: &BTreeMap<usize, Vec<Reading>>,
    entries: &[Found],
    base_places: &[Place],
) -> Option<Place> {
    let mut scores: BTreeMap<Place, (usize, usize, usize)> = BTreeMap::new();
    let mut suits: BTreeMap<Place, Suits> = BTreeMap::new();
    let all = open.values().flatten();
    for reading in all.filter(|reading| row.contains(&reading.kind)) {
        let place = (reading.kind, reading.prefix.clone());
        suits.insert(place.clone(), reading.suits);
        let (strong, clean, total) = scores.entry(place).or_default();
        *strong += usize::from(reading.is_strong);
        *clean += usize::from(reading.is_clean);
        *total += 1;
    }
    let is_free = |(kind, prefix): &Place| {
        let mut others = entries.iter().filter(|other| row.contains(&other.kind));
        // Two variants of a dialect that share a configuration key cannot both be configured.
        let mut variants = entries.iter().filter(|other| other.kind != *kind);
        let same_key = |other: &Found| {
            other.kind.dialect == kind.dialect && other.kind.prefix_key == kind.prefix_key
        };
        // Two endpoints at one path could only be told apart by their queries.
        let places_here = entries.iter().map(|it| (it.kind, &it.prefix));
        let mut places_here = places_here.chain(base_places.iter().map(|(other, at)| (*other, at)));
        let has_endpoint = kind.is_endpoint()
            && places_here.any(|(other, at)| other.is_endpoint() && at == prefix);
        // A dialect that is configured at this prefix would refuse the URLs of a related one, and would be in the way
        // of files.
        let is_file = matches!(kind.room, Room::Files(_));
        let mut places = base_places.iter().filter(|(_, other)| other == prefix);
        let is_taken = places.any(|(other, _)| is_file || row.contains(other));
        !others.any(|other| other.prefix == *prefix)
            && !variants.any(same_key)
            && !has_endpoint
            && !is_taken
    };
    let places = scores.into_iter().filter(|(_, (strong, ..))| *strong > 0);
    let free = places.filter(|(place, _)| is_free(place));
    let winner = free.max_by_key(|(place, (_, clean, total))| {
        // The number of targets counts most, because a wrong prefix reads fewer of them.
        let suits = suits.get(place).copied().unwrap_or_default();
        let is_sure = suits == Suits::Sure;
        let preference = preference(suits, &place.1);
        (is_sure, *total, *clean, preference, Reverse(place.0))
    });
    winner.map(|(place, _)| place)
}

/// Returns the score of a prefix. Of several prefixes with which equally many targets can be interpreted, the one with
/// the highest score is chosen.
fn preference(suits: Suits, prefix: &str) -> usize {
    let segments = prefix.matches('/').count();
    match suits {
        Suits::Sure => 1000,
        Suits::Variant => 900,
        Suits::Named => 500,
        Suits::Long => segments,
        Suits::Short => usize::from(u8::MAX).saturating_sub(segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is recognised in these targets of a log: a line with the kind, the prefix and the number of targets
    /// of each form of URL, then a line with the numbers of plain files and of targets that are neither.
    fn explain(targets: &[&str]) -> Vec<String> {
        let targets: Vec<(String, u64)> = targets
            .iter()
            .map(|target| ((*target).to_owned(), 1))
            .collect();
        let recognised = recognise(&targets, &[], &[]).expect("probes");
        let found = recognised.entries.iter();
        let mut said: Vec<String> = found
            .map(|it| format!("{} {} {}", it.kind, it.prefix, it.readings.len()))
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
                "Next.js /_next/image 1",
                "imgproxy /img 2",
                "thumbor /thumbs 2",
                "1 files, 2 others"
            ]
        );
    }

    #[test]
    fn thumbor_and_imagor_are_told_apart_by_filters_and_signatures() {
        let path = "/UBxLALN6vtd9ae4xwZDmjIQfmhg=/300x200";
        for (targets, name) in [
            (vec![format!("{path}/a.jpg")], "thumbor"),
            // An unparsable colour is no characteristic of the other dialect.
            (vec![format!("{path}/filters:fill(ff00)/a.jpg")], "thumbor"),
            (vec![format!("{path}/filters:equalize()/a.jpg")], "thumbor"),
            (vec![format!("{path}/filters:hue(20)/a.jpg")], "imagor"),
            (vec![format!("{path}/filters:sharpen(1.5)/a.jpg")], "imagor"),
            (
                vec!["/BxLALN6vtd9ae4xwZDmjIQfmhgBxLALN6vtd9a/300x200/a.jpg".to_owned()],
                "imagor",
            ),
        ] {
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            let expected = [format!("{name}  1"), "0 files, 0 others".to_owned()];
            assert_eq!(explain(&targets), expected, "{targets:?}");
        }
    }

    #[test]
    fn a_configuration_keeps_its_places_from_relatives_and_files() {
        let targets = [
            "/cdn/unsafe/300x200/a.jpg",
            "/cdn/insecure/rs:fill:9:9/plain/https://a.example/a.jpg",
            "/a.jpg?w=300&auto=format",
        ];
        let targets = targets.map(|target| (target.to_owned(), 1));
        let taken = |dialect: &str, prefix: &str| {
            let mut forms = andon_dialects::forms();
            let form = forms.find(|it| it.dialect == dialect).expect("a form");
            vec![(form, prefix.to_owned())]
        };
        let names = |taken: &[Place]| {
            let recognised = recognise(&targets, &[], taken).expect("probes");
            let found = recognised.entries.iter();
            found.map(|it| it.kind.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&[]), "imgproxy thumbor imgix");
        assert_eq!(names(&taken("imagor", "/cdn")), "imgproxy imgix");
        assert_eq!(names(&taken("imgix", "")), "imgproxy thumbor");
        let endpoint = [("/_next/image?url=%2Fa.jpg&w=5&h=5".to_owned(), 1)];
        for (taken, found) in [(taken("next", "/_next/image"), 0), (Vec::new(), 1)] {
            let recognised = recognise(&endpoint, &[], &taken).expect("probes");
            assert_eq!(recognised.entries.len(), found);
        }
    }

    #[test]
    fn an_endpoint_is_of_one_kind_only() {
        let said = explain(&[
            "/_vercel/image?url=%2Fa.jpg&w=640&q=75",
            "/_vercel/image?url=%2Fa%25.jpg&w=640&q=75",
        ]);
        assert_eq!(said, ["Vercel /_vercel/image 1", "0 files, 1 others"]);
    }

    #[test]
    fn versions_and_relatives_are_told_apart_by_what_they_know() {
        let two = explain(&[
            "/iiif/2/a%2Fb.jpg/full/full/0/default.jpg",
            "/iiif/2/a%2Fb.jpg/full/300,/0/default.jpg",
            "/iiif/2/a%2Fb.jpg/info.json",
        ]);
        assert_eq!(two, ["IIIF 2 /iiif/2 3", "0 files, 0 others"]);
        let both = explain(&[
            "/iiif/2/a.jpg/full/300,/0/default.jpg",
            "/iiif/2/b.jpg/full/300,/0/default.jpg",
            "/iiif/3/a.jpg/full/^300,/0/default.jpg",
        ]);
        assert_eq!(
            both,
            ["IIIF 2 /iiif/2 2", "IIIF 3 /iiif/3 1", "0 files, 0 others"]
        );
        let three = explain(&["/iiif/3/b/c.jpg/full/^300,/0/default.jpg"]);
        assert_eq!(three, ["IIIF 3 /iiif/3 1", "0 files, 0 others"]);
        let photon = explain(&["/a/b.jpg?resize=300,200&strip=all", "/a/c.jpg?w=300"]);
        assert_eq!(photon, ["Photon  2", "0 files, 0 others"]);
        let imgix = explain(&["/a/b.jpg?w=300&auto=format", "/a/c.jpg?w=300"]);
        assert_eq!(imgix, ["imgix  2", "0 files, 0 others"]);
        let imagor = explain(&[
            "/unsafe/fit-in/300x200/a.jpg",
            "/unsafe/300x200/10x10/filters:proportion(50)/a.jpg",
        ]);
        assert!(imagor[0].ends_with(" 2"), "{imagor:?}");
    }
}
