//! Sorts the targets of a log into images that a configuration answers, images that it does not answer, files, and
//! pages.

use std::collections::{BTreeMap, BTreeSet};

use andon_dialects::forms::{has_page_extension, is_script};

use super::outcome::{Group, Sorted};
use super::recognise::Recognised;
use super::routes::{Route, Router};

/// The inputs for sorting the targets of a log.
pub(super) struct Sorting<'a> {
    pub(super) targets: &'a [(String, u64)],
    /// For each target, whether the configuration that the user gave answers it with an image.
    pub(super) base_images: &'a [bool],
    pub(super) recognition: &'a Recognised,
    /// Resolves targets as the trial server will.
    pub(super) router: &'a Router,
    /// Whether plain files are compared as well, because a configuration was given that may answer them.
    pub(super) compares_files: bool,
    /// Maximum number of targets that are requested from the old server.
    pub(super) most_asked: usize,
}

/// The targets to be replayed against both servers.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Indices of all targets to be replayed, in ascending order.
    pub(super) indices: Vec<usize>,
    /// Indices of the replayed targets that the configuration answers with something other than a generated image, such
    /// as a plain file, although no dialect was recognised in them.
    pub(super) files: BTreeSet<usize>,
}

impl Sorting<'_> {
    /// Sorts the targets. Returns the counts, and the targets that can be replayed. `is_image` asks the old server
    /// whether it answers a target with an image.
    pub(super) fn sort(&self, is_image: &mut dyn FnMut(&str) -> bool) -> (Sorted, Replayed) {
        let mut sorted = Sorted::default();
        let mut selection = Vec::new();
        let mut files = BTreeSet::new();
        let known_indices =
            (0..self.targets.len()).filter(|index| self.base_images.get(*index) == Some(&true));
        self.group(
            &mut sorted,
            ("as configured", "", false),
            known_indices,
            &mut selection,
        );
        for entry in &self.recognition.entries {
            let place = if entry.prefix.is_empty() {
                "/"
            } else {
                &entry.prefix
            };
            let (sealed, open): (Vec<_>, Vec<_>) = entry
                .readings
                .iter()
                .partition(|(_, reading)| reading.is_sealed);
            let mut candidates = open
                .into_iter()
                .map(|(index, _)| *index)
                .collect::<Vec<_>>();
            for (index, _) in sealed {
                match self.router.route(&self.targets[*index].0) {
                    Route::Image(_) => candidates.push(*index),
                    _ => sorted.sealed.add(self.targets[*index].1),
                }
            }
            let sends_files = entry.kind.dialect == "imgproxy";
            let group = (entry.kind.name, place, sends_files);
            self.group(&mut sorted, group, candidates.into_iter(), &mut selection);
        }
        for index in &self.recognition.files {
            let (target, requests) = &self.targets[*index];
            if self.router.leads_to_script(target) {
                sorted.add_unread(&self.targets[*index], self.router.why_unread(target));
                continue;
            }
            match self.compares_files && self.answers(target) {
                true => _ = files.insert(*index),
                false => sorted.add_file(target, *requests),
            }
        }
        let unmarked_images = self.ask(&mut sorted, is_image, &mut files);
        let group = ("told by asking", "", false);
        self.group(
            &mut sorted,
            group,
            unmarked_images.into_iter(),
            &mut selection,
        );
        selection.extend(&files);
        selection.sort_unstable();
        let selection = Replayed {
            indices: selection,
            files,
        };
        (sorted, selection)
    }

    /// Whether the configuration does not refuse a target.
    fn answers(&self, target: &str) -> bool {
        !matches!(self.router.route(target), Route::Refused(_))
    }

    /// Adds a group of targets, given by their indices in the list of targets. The tuple holds the group's name, its
    /// path prefix, and whether its URLs may request original files.
    fn group(
        &self,
        sorted: &mut Sorted,
        (name, place, sends_files): (&str, &str, bool),
        indices: impl Iterator<Item = usize>,
        selection: &mut Vec<usize>,
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
                // imgproxy's URLs can request the original, which the router reports as a file.
                route
                    if matches!(route, Route::Image(_)) || route == Route::File && sends_files =>
                {
                    group.urls += 1;
                    group.requests += requests;
                    sorted.read.add(*requests);
                    selection.push(index);
                    continue;
                }
                Route::Refused(why) => why,
                _ => "the configuration reads it as something else".to_owned(),
            };
            sorted.add_unread(&self.targets[index], format!("{name}: {why}"));
        }
        if group.urls > 0 {
            sorted.groups.push(group);
        }
    }

    /// Requests from the old server each target that is neither recognised nor a file. If the response is an image, and
    /// the configuration answers the target with an image as well, the result contains the target's index. If files are
    /// compared, targets of images that the configuration answers with something else, such as a plain file, are added
    /// to `files`.
    fn ask(
        &self,
        sorted: &mut Sorted,
        is_image: &mut dyn FnMut(&str) -> bool,
        files: &mut BTreeSet<usize>,
    ) -> Vec<usize> {
        let mut images = Vec::new();
        let mut request_count = 0;
        let mut scripts = Scripts::default();
        for index in &self.recognition.others {
            let (target, requests) = &self.targets[*index];
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let is_page = match is_script(path) && !query.is_empty() {
                true => scripts.are_pages(path),
                false => has_page_extension(path) || path == "/" && query.is_empty(),
            };
            if is_page {
                sorted.pages.add(*requests);
                continue;
            }
            if request_count == self.most_asked {
                sorted.unasked.push((target.clone(), *requests));
                continue;
            }
            request_count += 1;
            let sends_image = is_image(target);
            scripts.add(path, sends_image);
            if !sends_image {
                sorted.pages.add(*requests);
                continue;
            }
            let why = match self.router.route(target) {
                Route::Image(_) => {
                    images.push(*index);
                    continue;
                }
                Route::Refused(why) => format!("{} ({why})", self.router.why_unread(target)),
                _ if self.compares_files && !is_script(path) => {
                    files.insert(*index);
                    continue;
                }
                _ => self.router.why_unread(target),
            };
            sorted.add_unread(&self.targets[*index], why);
        }
        images
    }
}

/// For each path, the number of its URLs that were requested from the old server, and whether any response was an
/// image. A path may be that of a script, which has many URLs with different queries.
#[derive(Default)]
struct Scripts(BTreeMap<String, (usize, bool)>);

impl Scripts {
    fn add(&mut self, path: &str, is_image: bool) {
        let (request_count, sends_images) = self.0.entry(path.to_owned()).or_default();
        *request_count += 1;
        *sends_images |= is_image;
    }

    /// Whether the script at this path sent no image for its `ASKED_OF_SCRIPT` most frequent URLs, so that its other
    /// URLs count as pages.
    fn are_pages(&self, path: &str) -> bool {
        let (request_count, sends_images) = self.0.get(path).copied().unwrap_or_default();
        request_count >= ASKED_OF_SCRIPT && !sends_images
    }
}

/// Number of URLs that are requested of each script. If it sends no image for them, its other URLs are considered
/// pages.
const ASKED_OF_SCRIPT: usize = 3;
