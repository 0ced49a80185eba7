//! What is right for a row, by the keys of its `expected`.

use std::path::Path;

use andon_codecs::ALL;
use andon_pixels::{
    Alone, Codec, Decode, Engine, Error, Fault, Frame, Image, Info, Limits, Never, NoMaterials,
    Run, Scale, Scales,
};
use andon_recipe::Recipe;
use serde_json::Value;

use crate::alone::Verdict;
use crate::rgba::{self, Rgba};
use crate::rows::Row;
use crate::{colours, frames, gain_maps, planes};

/// A row that is missed, and why.
pub(crate) type Judged<T = ()> = Result<T, String>;

/// A file, opened.
pub(crate) struct Source {
    pub(crate) bytes: Vec<u8>,
    pub(crate) limits: Limits,
    pub(crate) engine: Engine,
}

impl Source {
    fn read(path: &Path) -> Judged<Self> {
        let limits = Limits::default();
        Ok(Self {
            bytes: std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
            limits,
            engine: Engine::new(ALL, limits),
        })
    }

    pub(crate) fn how(&self) -> Decode<'_> {
        Decode {
            scales: Scales::FULL,
            limits: &self.limits,
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: true,
        }
    }

    pub(crate) fn header(&self) -> Result<(&'static dyn Codec, Info), Error> {
        let info = self.engine.probe(&self.bytes)?;
        let codec = ALL.iter().find(|codec| codec.name() == info.format);
        Ok((*codec.ok_or(Error::UnknownFormat)?, info))
    }

    /// The first frame in its own numbers, not turned; what is drawn at any size as large as its answer.
    fn decoded(&self, row: &Row) -> Result<(Info, Frame), Error> {
        let (codec, info) = self.header()?;
        let answered = |scale: &&Scale| {
            let (width, height) = info.scaled(**scale);
            **scale > Scale::FULL && (Some(width), Some(height)) == (row.width, row.height)
        };
        let scale = codec.scales(&info).iter().find(answered);
        let how = Decode {
            scales: Scales::both(scale.copied().unwrap_or(Scale::FULL)),
            ..self.how()
        };
        let Image { frames, .. } = codec.decode(&self.bytes, &info, &how)?;
        let frame = frames.into_iter().next();
        Ok((
            info,
            frame.ok_or_else(|| Error::Internal("no frame".to_owned()))?,
        ))
    }

    /// What the server would answer.
    pub(crate) fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Error> {
        let recipe: Recipe =
            (recipe.parse()).map_err(|error| Error::Internal(format!("{recipe}: {error}")))?;
        let plan = (self.engine).plan_with(&recipe, &self.bytes, &NoMaterials, None, None)?;
        let rendered = self.engine.run(&plan, Run::of(&self.bytes))?;
        Ok(rendered.bytes(&self.bytes).to_vec())
    }
}

/// A refusal that a client is told: a 4xx.
fn is_refusal(error: &Error) -> bool {
    error.fault() != Fault::Us && *error != Error::Interrupted
}

/// Judges a row.
pub(crate) fn judge(row: &Row, set: &Path) -> Judged<Verdict> {
    let source = Source::read(&set.join(&row.path))?;
    match row.kind() {
        "refuse" | "refuse or picture" => refused(row, &source),
        _ => match shown(row, set, &source) {
            Ok(verdict) => verdict,
            Err(error) if is_refusal(&error) && row.may_be_refused() => Ok(passed(false)),
            Err(Error::Unsupported { .. }) if row.may_be_unsupported() => Ok(passed(false)),
            Err(error) => Err(error.to_string()),
        },
    }
}

fn passed(exact: bool) -> Verdict {
    Verdict::Passed {
        exact,
        left: Vec::new(),
    }
}

/// Everything that a request may come to: a copy, a picture that is decoded whole, and all of its frames.
fn refused(row: &Row, source: &Source) -> Judged<Verdict> {
    let codec = ALL.iter().find(|codec| codec.sniff(&source.bytes));
    let never_copied = match codec.map(|codec| codec.name()) {
        Some("png") => "as:webp,lossless",
        _ => "as:png",
    };
    let still = source.rendered(never_copied);
    let moves = source.header().is_ok_and(|(_, info)| info.frames > 1);
    for recipe in ["original", "as:apng"]
        .into_iter()
        .take(1 + usize::from(moves))
    {
        match source.rendered(recipe) {
            Err(error) if !is_refusal(&error) => return Err(format!("{recipe}: {error}")),
            _ => {}
        }
    }
    let all_green = row.note.contains("the picture is all #00ff00");
    match still {
        Err(error) if is_refusal(&error) => Ok(passed(false)),
        Err(error) => Err(error.to_string()),
        Ok(_) if row.kind() == "refuse" => Err("it is not refused".to_owned()),
        Ok(png) if all_green => {
            let picture = Rgba::png(&png).map_err(|error| error.to_string())?;
            match picture
                .pixels
                .iter()
                .all(|pixel| *pixel == [0, 255, 0, 255])
            {
                true => Ok(passed(true)),
                false => Err("it is not all green".to_owned()),
            }
        }
        Ok(_) => Ok(passed(false)),
    }
}

/// A picture: whatever its row has an answer to. Errors are refusals of the file itself.
fn shown(row: &Row, set: &Path, source: &Source) -> Result<Judged<Verdict>, Error> {
    let (mut exact, mut left) = (false, Vec::new());
    if let Some(answer) = row.text("frames") {
        match frames::judge(row, source, &set.join(answer), set)? {
            Ok(same) => exact = same,
            Err(why) => return Ok(Err(why)),
        }
    } else if row.expected.contains_key("file") || row.expected.contains_key("planes") {
        let (info, frame) = source.decoded(row)?;
        match picture(row, set, &info, frame, &mut left) {
            Ok(same) => exact = same,
            Err(why) => return Ok(Err(why)),
        }
    }
    if let Some(jpeg) = row.expected.get("jpeg") {
        let own = rgba::hex(&source.rendered("metadata:all,profile:keep,as:jpeg")?);
        if jpeg["sha256"].as_str() != Some(&own) {
            return Ok(Err("the JPEG that comes out of it is another".to_owned()));
        }
    }
    if row.expected.contains_key("colours") || row.expected.contains_key("srgb") {
        let converted = source.rendered(colours::RECIPE)?;
        if let Err(why) = colours::judge(row, set, &converted) {
            return Ok(Err(why));
        }
    }
    if row.expected.contains_key("gainmap") {
        match gain_maps::judge(source)? {
            Ok(true) => {}
            Ok(false) => left.push("the gain map".to_owned()),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Ok(Verdict::Passed { exact, left }))
}

/// A still picture; is it the answer to the bit?
fn picture(
    row: &Row,
    set: &Path,
    info: &Info,
    frame: Frame,
    left: &mut Vec<String>,
) -> Judged<bool> {
    let planes = match row.expected.get("planes") {
        // Frames are straight.
        Some(_) if row.note.contains("stored premultiplied") => false,
        Some(answer) => planes::judge(&frame, answer)?,
        None => true,
    };
    if !planes {
        left.push("the planes".to_owned());
    }
    // What a format says of its own; EXIF counts only in the gain maps' pictures.
    let turned =
        matches!(row.format.as_str(), "avif" | "heic" | "jxl") || row.folder() == "gainmap";
    let mut own = Rgba::of(frame).map_err(|error| error.to_string())?;
    if turned {
        own = own.oriented(info.orientation);
    }
    if let (Some(width), Some(height)) = (row.width, row.height)
        && (own.width, own.height) != (width as usize, height as usize)
    {
        return Err(format!(
            "{}×{} px instead of {width}×{height}",
            own.width, own.height
        ));
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
    close(
        &own,
        &answer,
        row.expected.get("tolerance").unwrap_or(&Value::Null),
    )
}

/// Are two pictures as close as they have to be? True: they are the same.
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
