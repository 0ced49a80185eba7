//! Judges a row of the manifest by its expected answer, whether its images come from the decoders or from a server.

use std::path::Path;

use andon_codecs::ALL;
use serde_json::Value;

use crate::rgba::{self, Rgba};
use crate::rows::Row;
use crate::verdict::Verdict;
use crate::way::{Miss, Way};
use crate::{colours, frames, gain_maps};

/// The result of judging. The error is the reason why the row is missed.
pub(crate) type Judged<T = ()> = Result<T, String>;

/// Judges a row (a file and the expected answer), with images obtained in the given way.
pub(crate) fn judge(row: &Row, set: &Path, way: &dyn Way) -> Verdict {
    let verdict = match row.kind() {
        "refuse" | "refuse or picture" => judge_refusal(row, set, way),
        _ => judge_display(row, set, way),
    };
    match verdict {
        Ok(verdict) => verdict,
        Err(Miss::Refused(_) | Miss::Unsupported(_)) if row.may_be_refused() => pass(false),
        Err(Miss::Unsupported(_)) if row.may_be_unsupported() => pass(false),
        Err(miss) => Verdict::Missed(miss.to_string()),
    }
}

fn pass(exact: bool) -> Verdict {
    Verdict::Passed {
        exact,
        gaps: Vec::new(),
    }
}

/// Judges a file that must not be displayed, or that need not be, such as a damaged one. Tries every kind of request: a
/// copy, an image that is decoded completely, and all frames.
fn judge_refusal(row: &Row, set: &Path, way: &dyn Way) -> Result<Verdict, Miss> {
    let bytes = std::fs::read(set.join(&row.path)).map_err(|error| error.to_string())?;
    let codec = ALL.iter().find(|codec| codec.sniff(&bytes));
    let never_copied = match codec.map(|codec| codec.name()) {
        Some("png") => "as:webp,lossless",
        _ => "as:png",
    };
    let still = way.rendered(never_copied);
    for recipe in ["original", "as:apng"] {
        if let Err(Miss::Wrong(why)) = way.rendered(recipe) {
            return Err(Miss::Wrong(format!("{recipe}: {why}")));
        }
    }
    let all_green = row.note.contains("the picture is all #00ff00");
    match still {
        Err(Miss::Wrong(why)) => Err(Miss::Wrong(why)),
        Err(_) => Ok(pass(false)),
        Ok(_) if row.kind() == "refuse" => Err(Miss::Wrong("it is not refused".to_owned())),
        Ok(png) if all_green => {
            let image = Rgba::png(&png).map_err(|error| error.to_string())?;
            match (image.pixels.iter()).all(|pixel| *pixel == [0, 255, 0, 255]) {
                true => Ok(pass(true)),
                false => Err(Miss::Wrong("it is not all green".to_owned())),
            }
        }
        Ok(_) => Ok(pass(false)),
    }
}

/// Judges a file that has to be displayed, by all parts of its expected answer.
fn judge_display(row: &Row, set: &Path, way: &dyn Way) -> Result<Verdict, Miss> {
    let (mut exact, mut gaps) = (false, Vec::new());
    let output = match row.text("frames") {
        Some(answer) => {
            let moving = way.moving()?;
            exact = frames::judge(row, &moving, &set.join(answer), set)?;
            moving.images()
        }
        None => {
            let output = way.still(row)?;
            if row.expected.contains_key("file") || row.expected.contains_key("planes") {
                exact = still_image(row, set, way, &output, &mut gaps)?;
            }
            vec![output]
        }
    };
    if let Some(jpeg) = row.expected.get("jpeg") {
        let output = rgba::hex(&way.rendered("metadata:all,profile:keep,as:jpeg")?);
        if jpeg["sha256"].as_str() != Some(&output) {
            return Err("the JPEG that comes out of it is another".to_owned().into());
        }
    }
    if row.expected.contains_key("colours") || row.expected.contains_key("srgb") {
        colours::judge(row, set, &way.rendered(colours::RECIPE)?)?;
    }
    if row.expected.contains_key("gainmap") {
        let file = std::fs::read(set.join(&row.path)).map_err(|error| error.to_string())?;
        if !gain_maps::judge(&file, &way.rendered(gain_maps::RECIPE)?)? {
            gaps.push("the gain map".to_owned());
        }
    }
    way.beside(row, &output)?;
    Ok(Verdict::Passed { exact, gaps })
}

/// Judges a still image. Returns whether it matches the expected answer exactly.
fn still_image(
    row: &Row,
    set: &Path,
    way: &dyn Way,
    output: &Rgba,
    gaps: &mut Vec<String>,
) -> Result<bool, Miss> {
    if let (Some(width), Some(height)) = (row.width, row.height)
        && (output.width, output.height) != (width as usize, height as usize)
    {
        return Err(Miss::Wrong(format!(
            "{}×{} px instead of {width}×{height}",
            output.width, output.height
        )));
    }
    // Frames have straight alpha.
    let planes = (row.expected.get("planes")).filter(|_| way.has_planes());
    if let Some(answer) = planes
        && (row.note.contains("stored premultiplied") || !way.planes(row, answer)?)
    {
        gaps.push("the planes".to_owned());
    }
    if row.needs_fonts() && !way.has_fonts() {
        return Ok(false);
    }
    if row
        .text("rgba_sha256")
        .is_some_and(|hash| hash == output.sha256())
    {
        return Ok(true);
    }
    let Some(answer) = row.text("file") else {
        return Ok(false);
    };
    let answer = Rgba::read(&set.join(answer)).map_err(|error| format!("{error:#}"))?;
    let output = output.reduced(row.number("reduce").unwrap_or(1) as usize);
    let tolerance = row.expected.get("tolerance").unwrap_or(&Value::Null);
    Ok(close(&output, &answer, tolerance)?)
}

/// Checks whether two images are as close as the tolerance demands. Returns `Ok(true)` if they are identical.
pub(crate) fn close(output: &Rgba, answer: &Rgba, tolerance: &Value) -> Judged<bool> {
    let Some(off) = output.distance(answer) else {
        return Err(format!(
            "{}×{} px instead of {}×{}",
            output.width, output.height, answer.width, answer.height
        ));
    };
    if let Some(text) = tolerance.as_str() {
        let most = off.means[..3]
            .iter()
            .fold(0.0, |most: f64, mean| mean.abs().max(most));
        // All other texts demand only the size.
        return match text.contains("mean per channel within 40") && most > 40.0 {
            true => Err(format!("a channel's mean is {most:.0} off")),
            false => Ok(off.max == 0),
        };
    }
    let number = |key: &str| tolerance[key].as_f64();
    let mut excesses = Vec::new();
    match (number("max"), number("pixels")) {
        (Some(max), Some(share)) if off.beyond(max) > share => excesses.push(format!(
            "{:.2} % of the pixels are more than {max} off (worst {})",
            off.beyond(max) * 100.0,
            off.max
        )),
        (Some(max), None) if f64::from(off.max) > max => {
            excesses.push(format!(
                "{} off, {:.2} % of the pixels more than {max}",
                off.max,
                off.beyond(max) * 100.0
            ));
        }
        _ => {}
    }
    if number("mean").is_some_and(|mean| off.mean > mean) {
        excesses.push(format!("{:.2} off in the mean", off.mean));
    }
    if number("p999").is_some_and(|most| f64::from(off.p999) > most) {
        excesses.push(format!("99.9 % within {}", off.p999));
    }
    match excesses.is_empty() {
        true => Ok(off.max == 0),
        false => Err(excesses.join(", ")),
    }
}
