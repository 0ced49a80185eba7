//! Judges animations: which frames are shown, for how long, and how many times.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::judge::{Judged, close};
use crate::rgba::Rgba;
use crate::rows::Row;

/// The frames of an animation as they are expected, read from a JSON file of the conformance set.
#[derive(Deserialize)]
struct Answer {
    /// The loop count as the file stores it: a number, null, or the text `unknown`. `loop_meaning` says whether it
    /// counts repetitions (NETSCAPE) or all plays.
    r#loop: Value,
    loop_meaning: Option<String>,
    frames: Vec<Expected>,
    strip: Option<Strip>,
}

#[derive(Deserialize)]
struct Expected {
    delay_ms: f64,
    rgba_sha256: Option<String>,
    mean_rgba: Option<[f64; 4]>,
}

/// A contact sheet of several expected frames.
#[derive(Deserialize)]
struct Strip {
    file: String,
    frames: Vec<usize>,
    columns: usize,
    #[serde(default = "one")]
    reduce: usize,
}

fn one() -> usize {
    1
}

/// Returns how many times the animation is shown in total. 0 means forever.
fn plays(answer: &Answer) -> u64 {
    let more = (answer.loop_meaning.as_deref()).is_some_and(|text| text.contains("NETSCAPE"));
    match (more, answer.r#loop.as_u64()) {
        (true, None) => 1,
        (true, Some(0)) => 0,
        (true, Some(more)) => more + 1,
        (false, plays) => plays.unwrap_or(0),
    }
}

/// The frames of an image, with their timing.
pub(crate) struct Moving {
    /// Each frame, and how long it is shown in ms. The time is `None` for a still image.
    pub(crate) frames: Vec<(Option<f64>, Rgba)>,
    /// The number of frames that the file's header declares.
    pub(crate) frame_count: u32,
    /// How many times the animation is shown. 0 means forever. `None` for an image that is not animated.
    pub(crate) plays: Option<u32>,
}

impl Moving {
    pub(crate) fn images(self) -> Vec<Rgba> {
        (self.frames.into_iter()).map(|(_, image)| image).collect()
    }

    fn stands(&self) -> bool {
        self.frames.iter().all(|(delay, _)| delay.is_none())
    }
}

/// Compares an animation with the expected one. Returns `Ok(true)` if all frames are exact, and `Ok(false)` if they are
/// right within the tolerance, or if the result is a still image and may be one. An error is the reason why the
/// animation is wrong.
pub(crate) fn judge(row: &Row, output: &Moving, answer: &Path, set: &Path) -> Judged<bool> {
    let answer = read(answer)?;
    if output.stands() && row.may_stand_still() {
        return Ok(false);
    }
    let tolerance = row.expected.get("tolerance").unwrap_or(&Value::Null);
    compare(output, &answer, set, tolerance)
}

fn read(path: &Path) -> Judged<Answer> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns how long browsers show a frame, in ms. They show a delay of up to 10 ms as 100 ms.
fn browser_delay(delay: f64) -> f64 {
    if delay <= 10.0 { 100.0 } else { delay }
}

fn compare(output: &Moving, answer: &Answer, set: &Path, tolerance: &Value) -> Judged<bool> {
    let Moving {
        frames: output,
        frame_count,
        plays: often,
    } = output;
    if output.len() != answer.frames.len() || *frame_count as usize != output.len() {
        let wanted = answer.frames.len();
        return Err(format!(
            "{} frames of {wanted}, {frame_count} told",
            output.len()
        ));
    }
    if let Some(often) = often
        && !answer.r#loop.is_string()
        && u64::from(*often) != plays(answer)
    {
        return Err(format!("shown {often} times instead of {}", plays(answer)));
    }
    let mut others = Vec::new();
    for (number, ((delay, image), wanted)) in output.iter().zip(&answer.frames).enumerate() {
        if let Some(delay) = delay
            && (browser_delay(*delay) - browser_delay(wanted.delay_ms)).abs() > 0.5
        {
            return Err(format!(
                "frame {number} stays {delay} ms instead of {}",
                wanted.delay_ms
            ));
        }
        if wanted
            .rgba_sha256
            .as_ref()
            .is_some_and(|hash| *hash != image.sha256())
        {
            others.push(number);
        }
        let within = tolerance["mean"].as_f64().unwrap_or(0.0).max(1.0);
        let means = image.means();
        for (output, mean) in means.iter().zip(wanted.mean_rgba.iter().flatten()) {
            if (output - mean).abs() > within {
                return Err(format!(
                    "frame {number}: a mean of {output:.2} instead of {mean:.2}"
                ));
            }
        }
    }
    let exact = others.is_empty()
        && answer
            .frames
            .iter()
            .all(|frame| frame.rgba_sha256.is_some());
    if exact {
        return Ok(true);
    }
    let Some(strip) = answer.strip.as_ref().filter(|_| tolerance.is_object()) else {
        return Err(format!("frames {others:?} have other pixels"));
    };
    if let Some(number) = others.iter().find(|number| !strip.frames.contains(number)) {
        return Err(format!("frame {number} has other pixels"));
    }
    let sheet = Rgba::read(&set.join(&strip.file)).map_err(|error| format!("{error:#}"))?;
    for (cell, &number) in strip.frames.iter().enumerate() {
        let output = output[number].1.reduced(strip.reduce);
        let (column, row) = (cell % strip.columns, cell / strip.columns);
        let answer = sheet.part(
            column * output.width,
            row * output.height,
            output.width,
            output.height,
        );
        let answer = answer.ok_or_else(|| format!("frame {number} is larger than its answer"))?;
        close(&output, &answer, tolerance).map_err(|why| format!("frame {number}: {why}"))?;
    }
    Ok(false)
}
