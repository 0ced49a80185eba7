//! Converts locations of the ngx_small_light module to rewrites.

use super::super::model::*;
use super::super::pattern::Pattern;

impl Site {
    /// Applies `small_light_getparam_mode on` of locations. Andon's `getparam_mode` affects all paths, and disables
    /// paths with `small_light(…)`. So it stays off if another location has such paths.
    pub(in super::super) fn getparam_of_locations(&mut self, locations: &[Location]) {
        if self.small_light.getparam_mode {
            return;
        }
        let has_paths = |it: &Location| {
            let mut words = it.words.iter();
            !it.scope.getparam_mode && words.any(|word| word.contains("small_light"))
        };
        let is_lost = locations.iter().any(has_paths);
        let why = match is_lost {
            true => {
                "not taken over: `getparam_mode` in [small_light] is for every path here, and would end the paths with small_light(…) \
                 of other locations"
            }
            false => "`getparam_mode` in [small_light] is for every path here",
        };
        for directive in std::mem::take(&mut self.small_light.getparam_of_locations) {
            self.small_light.getparam_mode |= !is_lost;
            self.note(&directive, why);
        }
    }

    /// Adds a note that the `image_filter` of a location is not applied to the results of `small_light`.
    pub(super) fn filter_beside(&mut self, location: &Location) {
        let words = location.words.join(" ");
        let why = format!(
            "location {words}: image_filter is not applied, because small_light makes the image"
        );
        self.notes.push((location.place.clone(), why));
    }

    /// Adds the rewrite of a location with `small_light`. The options are in the URL, at the part of the location's
    /// regular expression that contains `small_light`.
    pub(super) fn small_light_location(
        &mut self,
        location: &Location,
        pattern: &Pattern,
        path: &str,
    ) -> Result<(), String> {
        let from = &pattern.from;
        let Some((at, segment)) = options(from) else {
            // Without options in its paths, the location does not change images.
            self.rewrite(location, pattern, path.to_owned());
            return Ok(());
        };
        // The options are wrapped in a group, so the numbers of all later groups increase by one.
        let (before, after) = (&from[..at], &from[at + segment.len()..]);
        let group = groups(before) + 1;
        let from = format!(r"{before}(small_light\([^)/]*\))[^/]*{after}");
        let mut to = path.to_owned();
        for number in (group..=8).rev() {
            to = to.replace(&format!("${number}"), &format!("${}", number + 1));
        }
        self.push_rewrite(location, from, format!("/${group}{to}"));
        Ok(())
    }
}

/// Whether an expression for paths contains the options of `small_light`.
pub(super) fn has_options(from: &str) -> bool {
    options(from).is_some()
}

/// Returns the byte position of `small_light`'s options in an expression for paths, and the part of the expression that
/// matches them.
fn options(from: &str) -> Option<(usize, &'static str)> {
    const SEGMENTS: [&str; 3] = [
        "small_light[^/]*",
        "small_light[^/]+",
        r"small_light\([^\)]*\)",
    ];
    let mut matches = SEGMENTS
        .iter()
        .filter_map(|segment| Some((from.find(segment)?, *segment)));
    matches.next()
}

/// Returns the number of capture groups that a regular expression has.
fn groups(text: &str) -> usize {
    let bytes = text.as_bytes();
    let opens = |at: &usize| {
        let is_escaped = bytes[..*at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 2
            == 1;
        let rest = &text[at + 1..];
        let named = ["?<", "?P<"].iter().any(|start| rest.starts_with(start));
        bytes[*at] == b'(' && !is_escaped && (named || !rest.starts_with('?'))
    };
    (0..bytes.len()).filter(opens).count()
}
