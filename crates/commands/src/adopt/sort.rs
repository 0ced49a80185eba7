//! Sorts the targets of a log: images that a configuration reads, those that it does not, files, and pages.

use andon_dialects::forms::has_page_extension;

use super::outcome::{Group, Sorted, Unread};
use super::recognise::Recognised;
use super::routes::{Route, Router};

/// What is needed to sort.
pub(super) struct Sorting<'a> {
    pub(super) targets: &'a [(String, u64)],
    /// Whether the configuration that everything is based on reads each target already.
    pub(super) known: &'a [bool],
    pub(super) recognised: &'a Recognised,
    /// Reads targets as the trial will.
    pub(super) router: &'a Router,
    /// Number of targets that the old server may be asked for.
    pub(super) most_asked: usize,
}

impl Sorting<'_> {
    /// Returns the sorted targets, and the indices of those that can be replayed. `is_image` asks the old server
    /// whether it answers a target with an image.
    pub(super) fn sort(&self, is_image: &mut dyn FnMut(&str) -> bool) -> (Sorted, Vec<usize>) {
        let mut sorted = Sorted::default();
        let mut replayed = Vec::new();
        let known = (0..self.targets.len()).filter(|index| self.known.get(*index) == Some(&true));
        self.group(
            &mut sorted,
            ("as configured", "", false),
            known,
            &mut replayed,
        );
        for found in &self.recognised.found {
            let place = if found.prefix.is_empty() {
                "/"
            } else {
                &found.prefix
            };
            let (sealed, open): (Vec<_>, Vec<_>) = found
                .readings
                .iter()
                .partition(|(_, reading)| reading.is_sealed);
            let mut tried = open
                .into_iter()
                .map(|(index, _)| *index)
                .collect::<Vec<_>>();
            for (index, _) in sealed {
                match self.router.route(&self.targets[*index].0) {
                    Route::Image(_) => tried.push(*index),
                    _ => sorted.sealed.add(self.targets[*index].1),
                }
            }
            let sends_files = found.kind.dialect == "imgproxy";
            let group = (found.kind.name, place, sends_files);
            self.group(&mut sorted, group, tried.into_iter(), &mut replayed);
        }
        for index in &self.recognised.files {
            sorted.files.add(self.targets[*index].1);
        }
        let asked = self.ask(&mut sorted, is_image);
        let group = ("told by asking", "", false);
        self.group(&mut sorted, group, asked.into_iter(), &mut replayed);
        replayed.sort_unstable();
        (sorted, replayed)
    }

    /// Adds a group: its name, where its URLs are, and whether some of them ask for originals.
    fn group(
        &self,
        sorted: &mut Sorted,
        (name, place, sends_files): (&str, &str, bool),
        indices: impl Iterator<Item = usize>,
        replayed: &mut Vec<usize>,
    ) {
        let mut group = Group {
            name: name.to_owned(),
            place: place.to_owned(),
            urls: 0,
            requests: 0,
        };
        for index in indices {
            let (target, requests) = &self.targets[index];
            let why = match self.router.route(target) {
                // An original, as imgproxy's URLs may ask for it, is a file to the parser.
                route
                    if matches!(route, Route::Image(_)) || route == Route::File && sends_files =>
                {
                    group.urls += 1;
                    group.requests += requests;
                    sorted.read.add(*requests);
                    replayed.push(index);
                    continue;
                }
                Route::Refused(why) => why,
                _ => "the configuration reads it as something else".to_owned(),
            };
            sorted.unread.push(Unread {
                target: target.clone(),
                requests: *requests,
                why: format!("{name}: {why}"),
            });
        }
        if group.urls > 0 {
            sorted.groups.push(group);
        }
    }

    /// Asks the old server for what is neither recognised nor a file. Returns the indices of images that the
    /// configuration reads although their URLs have no mark of a dialect.
    fn ask(&self, sorted: &mut Sorted, is_image: &mut dyn FnMut(&str) -> bool) -> Vec<usize> {
        let mut read = Vec::new();
        let mut asked = 0;
        for index in &self.recognised.others {
            let (target, requests) = &self.targets[*index];
            let path = target.split('?').next().unwrap_or_default();
            if has_page_extension(path) || path == "/" && !target.contains('?') {
                sorted.pages.add(*requests);
                continue;
            }
            if asked == self.most_asked {
                sorted.unasked.push((target.clone(), *requests));
                continue;
            }
            asked += 1;
            if !is_image(target) {
                sorted.pages.add(*requests);
                continue;
            }
            let why = match self.router.route(target) {
                Route::Image(_) => {
                    read.push(*index);
                    continue;
                }
                Route::Refused(why) => format!("{UNREAD} ({why})"),
                _ => UNREAD.to_owned(),
            };
            sorted.unread.push(Unread {
                target: target.clone(),
                requests: *requests,
                why,
            });
        }
        read
    }
}

/// Why a target is listed that nothing recognises.
const UNREAD: &str = "the old server sends an image, and no dialect reads the URL";
