//! How ImageMagick interprets a quality in each format.

use andon_recipe::{Facts, Goal, Output};

use super::SmallLightRules;

impl SmallLightRules {
    /// Returns the output settings. An image on a canvas does not inherit the source's quality, and gets ImageMagick's
    /// defaults instead.
    pub(super) fn output_for(&self, facts: &Facts) -> Output {
        let mut output = self.output.clone();
        let format = self.output.format_or(&facts.format);
        let on_canvas = self.canvas.is_some();
        match format {
            "png" => {
                if let Some(quality) = self.quality {
                    output.options.extend(png(quality));
                }
            }
            // GIF has no quality to set.
            "gif" => {}
            "webp" => {
                let source_quality = facts.quality.filter(|_| !on_canvas).map(u16::from);
                output.lossless = self
                    .quality
                    .or(source_quality)
                    .is_some_and(|quality| quality >= 100);
                if !output.lossless {
                    output.goal = goal(self.quality.or(on_canvas.then_some(75)));
                }
                output.progressive = false;
            }
            "jpeg" => output.goal = goal(self.quality.or(on_canvas.then_some(92))),
            _ => output.goal = goal(self.quality),
        }
        output
    }
}

/// Converts a quality to an encoding goal. Values above 100 count as 100.
fn goal(quality: Option<u16>) -> Option<Goal> {
    // The value is at most 100, and so fits into a u8.
    quality.map(|quality| Goal::Quality(quality.min(100) as u8))
}

/// Splits a PNG quality into filter and compression level. It is zlib's level times ten, plus the number of the filter,
/// where 5 and above mean "choose for each row". Below 10, ImageMagick compresses without looking for matches; level 1
/// is nearest to that.
fn png(quality: u16) -> [(String, String); 2] {
    let filters = ["none", "sub", "up", "average", "paeth"];
    let filter = filters.get(usize::from(quality % 10));
    let level = (quality / 10).clamp(1, 9);
    [
        (
            "filter".to_owned(),
            filter.unwrap_or(&"adaptive").to_string(),
        ),
        ("level".to_owned(), level.to_string()),
    ]
}
