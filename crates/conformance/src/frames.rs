//! Pictures that move: what is shown, for how long, how often.

use std::path::Path;

use andon_pixels::{Error, Info};
use serde::Deserialize;
use serde_json::Value;

use crate::judge::{Judged, Source, close};
use crate::rgba::Rgba;
use crate::rows::Row;

/// The answer's file.
#[derive(Deserialize)]
struct Answer {
    /// A number, nothing, or `unknown`.
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

/// A contact sheet.
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

/// How often it is shown, in words that all formats share: 0 is forever.
fn plays(answer: &Answer) -> u64 {
    let more = (answer.loop_meaning.as_deref()).is_some_and(|text| text.contains("NETSCAPE"));
    match (more, answer.r#loop.as_u64()) {
        (true, None) => 1,
        (true, Some(0)) => 0,
        (true, Some(more)) => more + 1,
        (false, plays) => plays.unwrap_or(0),
    }
}

/// Are all frames right? True: to the bit.
pub(crate) fn judge(
    row: &Row,
    source: &Source,
    answer: &Path,
    set: &Path,
) -> Result<Judged<bool>, Error> {
    let answer: Answer = match read(answer) {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(why)),
    };
    let (codec, info) = source.header()?;
    let mut own = Vec::new();
    if codec.composed(&info).is_some() {
        let mut reader = codec.open(&source.bytes, &info, &source.how())?;
        while let Some(timed) = reader.next()? {
            own.push((timed.delay.seconds() * 1000.0, Rgba::of(timed.frame)?));
        }
    } else {
        let image = codec.decode(&source.bytes, &info, &source.how())?;
        for frame in image.frames {
            own.push((
                answer.frames.first().map_or(0.0, |frame| frame.delay_ms),
                Rgba::of(frame)?,
            ));
        }
    }
    if codec.composed(&info).is_none() && row.may_stand_still() {
        return Ok(Ok(false));
    }
    let tolerance = row.expected.get("tolerance").unwrap_or(&Value::Null);
    Ok(compare(&info, &own, &answer, set, tolerance))
}

fn read(path: &Path) -> Judged<Answer> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn compare(
    info: &Info,
    own: &[(f64, Rgba)],
    answer: &Answer,
    set: &Path,
    tolerance: &Value,
) -> Judged<bool> {
    if own.len() != answer.frames.len() || info.frames as usize != own.len() {
        let (told, wanted) = (info.frames, answer.frames.len());
        return Err(format!("{} frames of {wanted}, {told} told", own.len()));
    }
    if let Some(animation) = info.animation
        && !answer.r#loop.is_string()
        && u64::from(animation.plays) != plays(answer)
    {
        return Err(format!(
            "shown {} times instead of {}",
            animation.plays,
            plays(answer)
        ));
    }
    let mut others = Vec::new();
    for (number, ((delay, picture), wanted)) in own.iter().zip(&answer.frames).enumerate() {
        if (delay - wanted.delay_ms).abs() > 0.5 {
            return Err(format!(
                "frame {number} stays {delay} ms instead of {}",
                wanted.delay_ms
            ));
        }
        if wanted
            .rgba_sha256
            .as_ref()
            .is_some_and(|hash| *hash != picture.sha256())
        {
            others.push(number);
        }
        let within = tolerance["mean"].as_f64().unwrap_or(0.0).max(1.0);
        let means = picture.means();
        for (own, mean) in means.iter().zip(wanted.mean_rgba.iter().flatten()) {
            if (own - mean).abs() > within {
                return Err(format!(
                    "frame {number}: a mean of {own:.2} instead of {mean:.2}"
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
        let own = own[number].1.reduced(strip.reduce);
        let (column, row) = (cell % strip.columns, cell / strip.columns);
        let answer = sheet.part(column * own.width, row * own.height, own.width, own.height);
        let answer = answer.ok_or_else(|| format!("frame {number} is larger than its answer"))?;
        close(&own, &answer, tolerance).map_err(|why| format!("frame {number}: {why}"))?;
    }
    Ok(false)
}
