//! Judges a row by the keys of its `expected`, however its images are obtained.

use std::path::Path;

use andon_codecs::ALL;
use serde_json::Value;

use crate::rgba::{self, Rgba};
use crate::rows::Row;
use crate::verdict::Verdict;
use crate::way::{Miss, Way};
use crate::{colours, frames, gain_maps};

/// The result of judging. An error says why the row is missed.
pub(crate) type Judged<T = ()> = Result<T, String>;

/// Judges a row, with images obtained in the given way.
pub(crate) fn judge(row: &Row, set: &Path, way: &dyn Way) -> Verdict {
    let verdict = match row.kind() {
        "refuse" | "refuse or picture" => refused(row, set, way),
        _ => shown(row, set, way),
    };
    match verdict {
        Ok(verdict) => verdict,
        Err(Miss::Refused(_) | Miss::Unsupported(_)) if row.may_be_refused() => passed(false),
        Err(Miss::Unsupported(_)) if row.may_be_unsupported() => passed(false),
        Err(miss) => Verdict::Missed(miss.to_string()),
    }
}

fn passed(exact: bool) -> Verdict {
    Verdict::Passed {
        exact,
        left: Vec::new(),
    }
}

/// Judges a file that has to be refused, or may be. Every kind of request is tried: a copy, an image that is decoded
/// whole, and all frames.
fn refused(row: &Row, set: &Path, way: &dyn Way) -> Result<Verdict, Miss> {
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
        Err(_) => Ok(passed(false)),
        Ok(_) if row.kind() == "refuse" => Err(Miss::Wrong("it is not refused".to_owned())),
        Ok(png) if all_green => {
            let picture = Rgba::png(&png).map_err(|error| error.to_string())?;
            match (picture.pixels.iter()).all(|pixel| *pixel == [0, 255, 0, 255]) {
                true => Ok(passed(true)),
                false => Err(Miss::Wrong("it is not all green".to_owned())),
            }
        }
        Ok(_) => Ok(passed(false)),
    }
}

/// Judges a file that has to be shown, by everything that its row has an answer to.
fn shown(row: &Row, set: &Path, way: &dyn Way) -> Result<Verdict, Miss> {
    let (mut exact, mut left) = (false, Vec::new());
    let own = match row.text("frames") {
        Some(answer) => {
            let moving = way.moving()?;
            exact = frames::judge(row, &moving, &set.join(answer), set)?;
            moving.pictures()
        }
        None => {
            let own = way.still(row)?;
            if row.expected.contains_key("file") || row.expected.contains_key("planes") {
                exact = picture(row, set, way, &own, &mut left)?;
            }
            vec![own]
        }
    };
    if let Some(jpeg) = row.expected.get("jpeg") {
        let own = rgba::hex(&way.rendered("metadata:all,profile:keep,as:jpeg")?);
        if jpeg["sha256"].as_str() != Some(&own) {
            return Err("the JPEG that comes out of it is another".to_owned().into());
        }
    }
    if row.expected.contains_key("colours") || row.expected.contains_key("srgb") {
        colours::judge(row, set, &way.rendered(colours::RECIPE)?)?;
    }
    if row.expected.contains_key("gainmap") {
        let file = std::fs::read(set.join(&row.path)).map_err(|error| error.to_string())?;
        if !gain_maps::judge(&file, &way.rendered(gain_maps::RECIPE)?)? {
            left.push("the gain map".to_owned());
        }
    }
    way.beside(row, &own)?;
    Ok(Verdict::Passed { exact, left })
}

/// Judges a still image. Returns whether it matches the answer exactly.
fn picture(
    row: &Row,
    set: &Path,
    way: &dyn Way,
    own: &Rgba,
    left: &mut Vec<String>,
) -> Result<bool, Miss> {
    if let (Some(width), Some(height)) = (row.width, row.height)
        && (own.width, own.height) != (width as usize, height as usize)
    {
        return Err(Miss::Wrong(format!(
            "{}×{} px instead of {width}×{height}",
            own.width, own.height
        )));
    }
    // Frames are straight.
    let planes = (row.expected.get("planes")).filter(|_| way.has_planes());
    if let Some(answer) = planes
        && (row.note.contains("stored premultiplied") || !way.planes(row, answer)?)
    {
        left.push("the planes".to_owned());
    }
    if row.needs_fonts() && !way.has_fonts() {
        return Ok(false);
    }
    if row
        .text("rgba_sha256")
        .is_some_and(|hash| hash == own.sha256())
    {
        return Ok(true);
    }
    let Some(answer) = row.text("file") else {
        return Ok(false);
    };
    let answer = Rgba::read(&set.join(answer)).map_err(|error| format!("{error:#}"))?;
    let own = own.reduced(row.number("reduce").unwrap_or(1) as usize);
    let tolerance = row.expected.get("tolerance").unwrap_or(&Value::Null);
    Ok(close(&own, &answer, tolerance)?)
}

/// Checks whether two images are as close as the tolerance demands. `Ok(true)` means that they are identical.
pub(crate) fn close(own: &Rgba, answer: &Rgba, tolerance: &Value) -> Judged<bool> {
    let Some(off) = own.distance(answer) else {
        return Err(format!(
            "{}×{} px instead of {}×{}",
            own.width, own.height, answer.width, answer.height
        ));
    };
    if let Some(text) = tolerance.as_str() {
        let most = off.means[..3]
            .iter()
            .fold(0.0, |most: f64, mean| mean.abs().max(most));
        // The others ask for the size only.
        return match text.contains("mean per channel within 40") && most > 40.0 {
            true => Err(format!("a channel's mean is {most:.0} off")),
            false => Ok(off.max == 0),
        };
    }
    let number = |key: &str| tolerance[key].as_f64();
    let mut beyond = Vec::new();
    match (number("max"), number("pixels")) {
        (Some(max), Some(share)) if off.beyond(max) > share => beyond.push(format!(
            "{:.2} % of the pixels are more than {max} off (worst {})",
            off.beyond(max) * 100.0,
            off.max
        )),
        (Some(max), None) if f64::from(off.max) > max => {
            beyond.push(format!(
                "{} off, {:.2} % of the pixels more than {max}",
                off.max,
                off.beyond(max) * 100.0
            ));
        }
        _ => {}
    }
    if number("mean").is_some_and(|mean| off.mean > mean) {
        beyond.push(format!("{:.2} off in the mean", off.mean));
    }
    if number("p999").is_some_and(|most| f64::from(off.p999) > most) {
        beyond.push(format!("99.9 % within {}", off.p999));
    }
    match beyond.is_empty() {
        true => Ok(off.max == 0),
        false => Err(beyond.join(", ")),
    }
}
