//! Judges the responses of a server. Every image is requested over HTTP in the ways in which clients request images.

use std::path::Path;

use andon_codecs::ALL;
use andon_recipe::options;
use serde_json::json;

use crate::apng;
use crate::decoders::Decoders;
use crate::frames::Moving;
use crate::judge::{self, Judged, close};
use crate::rgba::Rgba;
use crate::rows::Row;
use crate::server::Server;
use crate::verdict::Verdict;
use crate::way::{Miss, Way};

/// Judges a row (a file and the expected answer) by the responses of the server.
pub(crate) fn judge(row: &Row, set: &Path, server: &Server) -> Verdict {
    let upright = row.is_upright();
    judge::judge(
        row,
        set,
        &Served {
            server,
            path: escaped(&row.path),
            upright,
            file: std::fs::read(set.join(&row.path)).unwrap_or_default(),
            is_drawing: row.format == "svg",
        },
    )
}

/// Options with which a PNG is encoded again with 8 bits, so that a source PNG is not just copied.
const WRITTEN: &str = "depth:8,with:level:1";

/// A file as served by the server.
struct Served<'a> {
    server: &'a Server,
    path: String,
    upright: bool,
    file: Vec<u8>,
    is_drawing: bool,
}

impl Served<'_> {
    /// Returns whether an SVG has filters. As in browsers, filters are applied to the pixels of the result, so a
    /// smaller rendering is a different image.
    fn is_filtered(&self) -> bool {
        self.is_drawing && String::from_utf8_lossy(&self.file).contains("<filter")
    }

    fn get(&self, target: &str) -> Result<Vec<u8>, Miss> {
        let reply = self.server.get(target).map_err(|error| error.to_string())?;
        let why = || {
            let text = String::from_utf8_lossy(&reply.body);
            format!("{}: {}", reply.status, text.trim())
        };
        match reply.status {
            200 => Ok(reply.body),
            415 => Err(Miss::Unsupported(why())),
            // 400 is not among these, because only this program is responsible for the request.
            413 | 422 => Err(Miss::Refused(why())),
            _ => Err(Miss::Wrong(why())),
        }
    }

    /// Renders the file by a recipe, in the file's own colour space. The image is turned upright only if the expected
    /// answer is.
    fn numbers(&self, recipe: &str) -> Result<Vec<u8>, Miss> {
        let turned = if self.upright { "" } else { "stored:verbatim," };
        self.rendered(&format!("{turned}{recipe},profile:ignore"))
    }

    fn png(&self, recipe: &str) -> Result<Rgba, Miss> {
        let png = self.numbers(&format!("{recipe},as:png,{WRITTEN}"))?;
        Ok(Rgba::png(&png).map_err(|error| format!("{error:#}"))?)
    }

    /// Judges the image at half its size. As resampling filters differ, the means of blocks are compared, weighted by
    /// alpha.
    fn scaled(&self, output: &Rgba) -> Result<(), Miss> {
        let half = output.reduced(2);
        let scaled = self.png(&format!("frame:1,exact:{}x{}", half.width, half.height))?;
        let size = (half.width, half.height);
        if (scaled.width, scaled.height) != size {
            return Err(format!("{}×{} px", scaled.width, scaled.height).into());
        }
        // In a small image, most pixels are at an edge.
        if size.0.min(size.1) < 32 || self.is_filtered() {
            return Ok(());
        }
        let blocks = size.0.max(size.1).div_ceil(4);
        let small = |image: &Rgba| image.reduced(blocks).premultiplied();
        Ok(close(&small(&scaled), &small(&half), &json!({ "mean": 8 })).map(drop)?)
    }

    /// Judges single frames: the first, the middle and the last one.
    fn frames(&self, output: &[Rgba]) -> Result<(), Miss> {
        for number in [1, output.len().div_ceil(2), output.len()] {
            let frame = self.png(&format!("frame:{number}"))?;
            close(&frame, &output[number - 1], &json!({ "max": 2 }))
                .map_err(|why| format!("frame {number}: {why}"))?;
        }
        Ok(())
    }

    /// Judges the image encoded in its own format if Andon can write that, lossless where possible.
    fn encoded(&self, output: &[Rgba], format: &str) -> Result<(), Miss> {
        let codec = ALL.iter().find(|codec| codec.name() == format);
        let Some(encoder) = codec.and_then(|codec| codec.encoder()) else {
            return Ok(());
        };
        let lossless = encoder
            .options()
            .iter()
            .any(|word| word.name == options::LOSSLESS.name);
        let (recipe, tolerance) = match (lossless, format) {
            (true, _) => (format!("as:{format},lossless"), json!({ "max": 2 })),
            (false, "jpeg") => ("as:jpeg,q:95".to_owned(), json!({ "mean": 6 })),
            (false, "gif") => ("as:gif".to_owned(), json!({ "mean": 6 })),
            (false, _) => (format!("as:{format}"), json!({ "max": 2 })),
        };
        let made = Decoders::of(self.numbers(&recipe)?);
        let moving = made.moving()?;
        if made.format()? != format {
            return Err(format!("it is {}", made.format()?).into());
        }
        if moving.frame_count as usize != output.len() {
            return Err(format!("{} frames of {}", moving.frame_count, output.len()).into());
        }
        for (frame, output) in moving.images().iter().zip(output) {
            close(frame, output, &tolerance)?;
        }
        Ok(())
    }

    /// Judges the image as requested by a URL in the dialect of another server, imgproxy.
    fn dialect(&self, output: &Rgba, format: &str) -> Result<(), Miss> {
        let (width, height) = (output.width, output.height);
        let (sized, size) = match format {
            "svg" => (
                format!("exact:{width}x{height},"),
                format!("rs:force:{width}:{height}/"),
            ),
            _ => Default::default(),
        };
        let turned = if self.upright { "" } else { "stored:verbatim," };
        let native = self.rendered(&format!("{turned}{sized}frame:1,profile:keep,as:png"))?;
        let (turn, path) = (u8::from(self.upright), &self.path);
        let other = self.get(&format!(
            "/imgproxy/x/{size}ar:{turn}/scp:0/f:png/pngo:1/plain/local:///{path}"
        ))?;
        // A file that is passed on unchanged is correct, even if it contains another image for viewers without support
        // for animations.
        if [&native, &other].contains(&&self.file) {
            return Ok(());
        }
        let [native, other] = [native, other].map(|png| Rgba::png(&png));
        let (native, other) = (
            native.map_err(|error| format!("{error:#}"))?,
            other.map_err(|error| format!("{error:#}"))?,
        );
        Ok(close(&other, &native, &json!({ "max": 2 })).map(drop)?)
    }
}

impl Way for Served<'_> {
    fn still(&self, row: &Row) -> Result<Rgba, Miss> {
        let output = self.png("frame:1")?;
        let size = |output: &Rgba| (Some(output.width as u32), Some(output.height as u32));
        match (row.width, row.height) {
            // Drawings have no fixed size.
            (Some(width), Some(height))
                if row.format == "svg" && size(&output) != (Some(width), Some(height)) =>
            {
                self.png(&format!("fit:{width}x{height}:enlarge"))
            }
            _ => Ok(output),
        }
    }

    fn moving(&self) -> Result<Moving, Miss> {
        let made = self.numbers(&format!("as:apng,{WRITTEN}"))?;
        Ok(apng::read(&made).map_err(|error| format!("{error:#}"))?)
    }

    fn rendered(&self, recipe: &str) -> Result<Vec<u8>, Miss> {
        self.get(&format!("/r/{recipe}/{}", self.path))
    }

    fn has_fonts(&self) -> bool {
        false
    }

    fn beside(&self, row: &Row, output: &[Rgba]) -> Judged {
        let Some(first) = output.first() else {
            return Ok(());
        };
        let frames = match output.len() {
            1 => Ok(()),
            _ => self.frames(output),
        };
        let format = match row.format.as_str() {
            "cur" => "ico",
            format => format,
        };
        let ways = [
            ("scaled", self.scaled(first)),
            ("single frames", frames),
            (format, self.encoded(output, format)),
            ("imgproxy", self.dialect(first, format)),
        ];
        let wrong = (ways.into_iter())
            .filter_map(|(name, asked)| Some(format!("{name}: {}", asked.err()?)))
            .collect::<Vec<_>>();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join("; ")),
        }
    }
}

/// Percent-encodes a path for a URL.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                text.push(char::from(byte));
            }
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}
