//! Codecs whose files are a line of words and raw planes, so that planner and engine are tested without any real
//! format: `jpeg 400x300 ycbcr420 q90 turned:6`, a line feed, and the samples. Plans need only the line.

use andon_recipe::{Arg, Colour, Word, options};

use andon_pixels::codec::{Decode, Encode, Info, Orientation, Scale, Scales};
use andon_pixels::frame::{Depth, Frame, Grid, Image, Model, Plane, Subsampling, Traits};
use andon_pixels::limits::Interrupt;
use andon_pixels::{
    Codec, Cost, Drawings, Encoder, Error, Format, Metadata, Result, Tags, Text, Vector, color,
};
use andon_pixels::{Matrix, Range, RegionF, Space, Window};

/// All fake codecs.
pub(crate) const ALL: &[&dyn Codec] = &[
    &JPEG, &FINE_JPEG, &PNG, &WEBP, &AVIF, &GIF, &DRAWING, &Drawing,
];

static JPEG: Fake = Fake {
    name: "jpeg",
    aliases: &["jpg"],
    scales: &[Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL],
};

/// A JPEG decoder that supports every N/8, like libjpeg.
static FINE_JPEG: Fake = Fake {
    name: "finejpeg",
    aliases: &[],
    scales: &[
        Scale(1),
        Scale(2),
        Scale(3),
        Scale(4),
        Scale(5),
        Scale(6),
        Scale(7),
        Scale(8),
    ],
};

static PNG: Fake = Fake {
    name: "png",
    aliases: &[],
    scales: &[Scale::FULL],
};

static WEBP: Fake = Fake {
    name: "webp",
    aliases: &[],
    scales: &[Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL],
};

/// A codec for gray, and for YCbCr of any matrix, range, depth and subsampling.
static AVIF: Fake = Fake {
    name: "avif",
    aliases: &[],
    scales: &[Scale::FULL],
};

/// A codec that reads but cannot write.
static GIF: Fake = Fake {
    name: "gif",
    aliases: &[],
    scales: &[Scale::FULL],
};

/// A vector format that is drawn at any size: each px is the stored px in which its middle lies.
static DRAWING: Fake = Fake {
    name: "drawing",
    aliases: &[],
    scales: &[Scale::HALF, Scale::FULL],
};

const DEPTH: Word = Word {
    args: &[Arg::choice("bits", &["8", "16"])],
    ..options::DEPTH
};

const LEVEL: Word = Word {
    name: "level",
    args: &[Arg::whole("level", 1, 9)],
    help: "how hard it tries",
    example: "with:level:6",
};

/// Returns the file of a frame. `words` are the rest of its first line, such as `q90 turned:6`.
pub(crate) fn file(format: &str, frame: &Frame, words: &str) -> Vec<u8> {
    let traits = frame.traits();
    let mut bytes = format!(
        "{format} {}x{} {} {words}\n",
        frame.width,
        frame.height,
        color::name(traits)
    )
    .into_bytes();
    for plane in frame.planes.iter().chain(&frame.alpha) {
        match plane {
            Plane::U8(grid) => bytes.extend(grid.samples()),
            Plane::U16(grid) => {
                bytes.extend(
                    grid.samples()
                        .iter()
                        .flat_map(|sample| sample.to_le_bytes()),
                );
            }
        }
    }
    bytes
}

/// A codec that draws every document as a half transparent orange square in the lower right corner, of a quarter of the
/// size.
struct Drawing;

impl Codec for Drawing {
    fn format(&self) -> Format {
        Format {
            name: "svg",
            aliases: &[],
            media_type: "image/svg+xml",
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"<svg")
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let text = String::from_utf8_lossy(bytes);
        let side = |name: &str| {
            let value = text
                .split_once(&format!("{name}=\""))?
                .1
                .split('"')
                .next()?;
            value.parse().ok()
        };
        let broken = || Error::broken("svg", "no size");
        Ok(Info {
            alpha: true,
            ..Info::new(
                "svg",
                side("width").ok_or_else(broken)?,
                side("height").ok_or_else(broken)?,
                Model::Rgb,
            )
        })
    }

    fn decode(&self, _: &[u8], info: &Info, _: &Decode<'_>) -> Result<Image> {
        let (width, height) = (info.width, info.height);
        let plane = |inside: u8, outside: u8| {
            let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            let samples = places.map(|(x, y)| match x >= width / 2 && y >= height / 2 {
                true => inside,
                false => outside,
            });
            Grid::from_samples(width, height, samples.collect()).map(Plane::U8)
        };
        let colours = [255, 136, 0].map(|level| plane(level, level));
        let colours = colours.into_iter().collect::<Result<_>>()?;
        let frame = Frame::new(Model::Rgb, width, height, colours, Some(plane(128, 0)?))?;
        Ok(Image::read(frame, Metadata::default(), info.space))
    }

    fn extent(&self, bytes: &[u8], _info: &Info, _how: &Decode<'_>) -> Result<usize> {
        Ok(bytes.len())
    }

    fn decode_cost(&self, _: u64, _: &Info, _: Scales) -> Cost {
        Cost::default()
    }

    fn drawings(&self) -> Option<&dyn Drawings> {
        Some(self)
    }
}

impl Drawings for Drawing {
    fn text(&self, text: &Text<'_>) -> Result<Vec<u8>> {
        let Text { width, height, .. } = text;
        Ok(format!("<svg width=\"{width}\" height=\"{height}\">").into_bytes())
    }

    fn solid(&self, _: Colour) -> Vec<u8> {
        b"<svg width=\"1\" height=\"1\">".to_vec()
    }

    fn undrawn_letters(&self, _: &str) -> Vec<char> {
        Vec::new()
    }

    fn unknown_families(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn fonts(&self) -> String {
        String::new()
    }
}

struct Fake {
    name: &'static str,
    aliases: &'static [&'static str],
    scales: &'static [Scale],
}

impl Fake {
    fn is_jpeg(&self) -> bool {
        self.name.ends_with("jpeg")
    }
}

impl Codec for Fake {
    fn format(&self) -> Format {
        Format {
            name: self.name,
            aliases: self.aliases,
            media_type: match self.name {
                "png" => "image/png",
                "webp" => "image/webp",
                "avif" => "image/avif",
                "gif" => "image/gif",
                _ => "image/jpeg",
            },
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.strip_prefix(self.name.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&b' '))
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let line = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let line = std::str::from_utf8(line).map_err(|_| Error::broken(self.name, "no text"))?;
        let mut info = Info {
            lossless: !self.is_jpeg(),
            ..Info::new(self.name, 0, 0, Model::Rgb)
        };
        for word in line.split_whitespace().skip(1) {
            self.read_word(word, &mut info)?;
        }
        Ok(info)
    }

    fn decode(&self, bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
        let start = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut rest = &bytes[start..];
        let (width, height) = info.scaled(how.scales.luma);
        let traits = self.decoded(info, how.scales);
        let mut planes = Vec::new();
        for index in 0..info.model.planes() {
            let size = info.model.plane_size(index, info.width, info.height);
            let plane = self.read_plane(&mut rest, info.depth, size)?;
            let scale = match info.model {
                Model::YCbCr { .. } if index > 0 => how.scales.chroma,
                _ => how.scales.luma,
            };
            let size = traits.model.plane_size(index, width, height);
            planes.push(shrunk(&plane, scale, size));
        }
        let alpha = if info.alpha {
            let plane = self.read_plane(&mut rest, info.depth, (info.width, info.height))?;
            Some(shrunk(&plane, how.scales.luma, (width, height)))
        } else {
            None
        };
        let frame = Frame::new(traits.model, width, height, planes, alpha).unwrap();
        Ok(Image::read(
            frame.with_depth(info.depth).unwrap(),
            Metadata::default(),
            info.space,
        ))
    }

    fn scales(&self, _: &Info) -> &'static [Scale] {
        self.scales
    }

    fn splits_chroma(&self, _: &Info, luma: Scale) -> bool {
        self.is_jpeg() && luma < Scale::FULL
    }

    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        let model = match info.model {
            Model::YCbCr { sub, range, matrix } => Model::YCbCr {
                sub: scales.subsampling(sub),
                range,
                matrix,
            },
            other => other,
        };
        Traits {
            model,
            depth: info.depth,
            alpha: info.alpha,
            space: info.space,
        }
    }

    fn extent(&self, bytes: &[u8], _info: &Info, _how: &Decode<'_>) -> Result<usize> {
        Ok(bytes.len())
    }

    fn extent_cost(&self, _bytes: u64, _info: &Info) -> Cost {
        Cost::default()
    }

    fn decode_cost(&self, _: u64, info: &Info, scales: Scales) -> Cost {
        let (width, height) = info.scaled(scales.luma);
        Cost {
            nanos: info.pixels() + u64::from(width) * u64::from(height),
            scratch: u64::from(info.width) * 64,
        }
    }

    fn hands_on_subsampling(&self) -> bool {
        self.name == "jpeg"
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        (self.name != "gif").then_some(self)
    }

    fn vector(&self) -> Option<&dyn Vector> {
        Some(self)
    }
}

impl Vector for Fake {
    fn draw_cost(&self, _: u64, _: &Info, window: &Window) -> Option<Cost> {
        let (width, height) = window.to;
        (self.name == "drawing").then(|| Cost {
            nanos: u64::from(width) * u64::from(height),
            scratch: u64::from(width),
        })
    }

    fn draw(&self, bytes: &[u8], info: &Info, how: &Decode<'_>, window: &Window) -> Result<Image> {
        let full = Decode {
            scales: Scales::FULL,
            ..*how
        };
        let frame = self.decode(bytes, info, &full)?.frame;
        let (width, height) = window.to;
        let place = |at: u32, to: u32, start: f64, length: f64| {
            (start + (f64::from(at) + 0.5) * length / f64::from(to)) as usize
        };
        let RegionF { x, y, w, h } = window.from;
        let drawn = |plane: &Plane| {
            let Plane::U8(grid) = plane else {
                unreachable!("drawings have 8 bits")
            };
            let rows = (0..height).map(|at| grid.row(place(at, height, y, h) as u32));
            let samples = rows.flat_map(|row| (0..width).map(|at| row[place(at, width, x, w)]));
            Grid::from_samples(width, height, samples.collect()).map(Plane::U8)
        };
        let planes = frame.planes.iter().map(drawn).collect::<Result<_>>()?;
        let alpha = frame.alpha.as_ref().map(drawn).transpose()?;
        let frame = Frame::new(frame.model, width, height, planes, alpha)?;
        Ok(Image::read(frame, Metadata::default(), info.space))
    }
}

impl Encoder for Fake {
    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        let quality = how.quality.unwrap_or(92);
        let plain = |model| Traits::new(model, Depth::U8);
        match self.name {
            "png" => Traits {
                model: match have.model {
                    Model::Gray => Model::Gray,
                    _ => Model::Rgb,
                },
                depth: how.depth.unwrap_or(have.depth),
                ..have
            },
            "avif" => Traits {
                model: match have.model {
                    Model::Rgb | Model::Cmyk => Model::YCbCr {
                        sub: how.chroma.unwrap_or(Subsampling::NONE),
                        range: Range::Limited,
                        matrix: Matrix::Bt709,
                    },
                    model => model,
                },
                depth: how.depth.unwrap_or(have.depth),
                ..have
            },
            "webp" => Traits {
                model: if how.lossless {
                    Model::Rgb
                } else {
                    Model::YCbCr {
                        sub: Subsampling::C420,
                        range: Range::Limited,
                        matrix: Matrix::Bt601,
                    }
                },
                depth: Depth::U8,
                ..have
            },
            _ => match have.model {
                Model::Gray | Model::Cmyk => plain(have.model),
                _ => {
                    let by_quality = if quality >= 90 {
                        Subsampling::NONE
                    } else {
                        Subsampling::C420
                    };
                    plain(Model::ycbcr(how.chroma.unwrap_or(by_quality)))
                }
            },
        }
    }

    fn encode(&self, image: &Image, how: &Encode, _: &dyn Interrupt) -> Result<Vec<u8>> {
        let words = how.quality.map_or(String::new(), |q| format!("q{q}"));
        Ok(file(self.name, &image.frame, &words))
    }

    fn tags(&self) -> Tags {
        Tags::Icc
    }

    fn options(&self) -> &'static [&'static Word] {
        match self.name {
            "jpeg" | "finejpeg" => &[
                &options::QUALITY,
                &options::PROGRESSIVE,
                &options::CHROMA,
                &options::EFFORT,
            ],
            "webp" => &[&options::QUALITY, &options::LOSSLESS, &options::EFFORT],
            "avif" => &[&options::QUALITY, &options::DEPTH, &options::CHROMA],
            "png" => &[&options::LOSSLESS, &DEPTH, &options::PROGRESSIVE, &LEVEL],
            _ => &[],
        }
    }

    fn says_orientation(&self) -> bool {
        matches!(self.name, "jpeg" | "finejpeg" | "png" | "avif")
    }

    fn inherits_quality(&self) -> bool {
        matches!(self.name, "jpeg" | "webp")
    }

    fn encode_cost(&self, width: u32, height: u32, _: Traits, _: &Encode) -> Cost {
        Cost {
            nanos: 2 * u64::from(width) * u64::from(height),
            scratch: u64::from(width) * 16,
        }
    }
}

impl Fake {
    fn read_word(&self, word: &str, info: &mut Info) -> Result<()> {
        let broken = || Error::broken(self.name, format!("the word `{word}`"));
        if let Some((width, height)) = word.split_once('x')
            && let (Ok(width), Ok(height)) = (width.parse(), height.parse())
        {
            (info.width, info.height) = (width, height);
        } else if let Some(number) = word.strip_prefix("turned:") {
            info.orientation = Orientation::from_exif(number.parse().map_err(|_| broken())?);
        } else if let Some(number) = word.strip_prefix("frames:") {
            info.frames = number.parse().map_err(|_| broken())?;
        } else if let Some(traits) = named_traits(word) {
            (info.model, info.depth, info.alpha) = (traits.model, traits.depth, traits.alpha);
        } else if let Some(Ok(quality)) = word.strip_prefix('q').map(str::parse) {
            info.quality = Some(quality);
        } else {
            match word {
                "palette" => info.palette = true,
                "icc" => info.space = Space::PROFILED,
                "p3" => info.space = Space::DISPLAY_P3,
                "progressive" => info.progressive = true,
                "metadata" => info.metadata = true,
                _ => return Err(broken()),
            }
        }
        Ok(())
    }

    fn read_plane(&self, rest: &mut &[u8], depth: Depth, (w, h): (u32, u32)) -> Result<Plane> {
        let count = w as usize * h as usize;
        let length = match depth {
            Depth::U8 => count,
            _ => count * 2,
        };
        let Some((bytes, after)) = rest.split_at_checked(length) else {
            return Err(Error::broken(self.name, "samples are missing"));
        };
        *rest = after;
        Ok(match depth {
            Depth::U8 => Plane::U8(Grid::from_samples(w, h, bytes.to_vec()).unwrap()),
            _ => {
                let samples = bytes
                    .chunks_exact(2)
                    .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                    .collect();
                Plane::U16(Grid::from_samples(w, h, samples).unwrap())
            }
        })
    }
}

/// Returns the traits that are printed as `word`.
fn named_traits(word: &str) -> Option<Traits> {
    let mut models = vec![Model::Gray, Model::Rgb, Model::Cmyk];
    for h in [1, 2, 4] {
        for v in [1, 2, 4] {
            for range in [Range::Full, Range::Limited] {
                let sub = Subsampling { h, v };
                let matrices = Matrix::ALL.into_iter();
                models.extend(matrices.map(|matrix| Model::YCbCr { sub, range, matrix }));
            }
        }
    }
    for model in models {
        for depth in Depth::ALL {
            for alpha in [false, true] {
                let traits = Traits {
                    model,
                    depth,
                    alpha,
                    space: Space::UNSPECIFIED,
                };
                if color::name(traits) == word {
                    return Some(traits);
                }
            }
        }
    }
    None
}

/// Returns a plane at N/8. Each sample is the mean of the 8/N × 8/N samples that it covers, clipped at the edges.
fn shrunk(plane: &Plane, scale: Scale, (width, height): (u32, u32)) -> Plane {
    if scale == Scale::FULL {
        return plane.clone();
    }
    let sample = |x: u32, y: u32| match plane {
        Plane::U8(grid) => f64::from(grid.row(y)[x as usize]),
        Plane::U16(grid) => f64::from(grid.row(y)[x as usize]),
    };
    let step = 1.0 / scale.factor();
    let means = (0..height).flat_map(|y| {
        let down = shares(f64::from(y) * step, step, plane.height());
        (0..width).map(move |x| {
            let across = shares(f64::from(x) * step, step, plane.width());
            let (mut sum, mut weight) = (0.0, 0.0);
            for (row, down) in &down {
                for (column, across) in across.iter() {
                    sum += sample(*column, *row) * across * down;
                    weight += across * down;
                }
            }
            sum / weight
        })
    });
    match plane {
        Plane::U8(_) => Plane::U8(
            Grid::from_samples(
                width,
                height,
                means.map(|mean| mean.round() as u8).collect(),
            )
            .unwrap(),
        ),
        _ => Plane::U16(
            Grid::from_samples(
                width,
                height,
                means.map(|mean| mean.round() as u16).collect(),
            )
            .unwrap(),
        ),
    }
}

/// Returns the samples that `start..start + length` covers, each with its share.
fn shares(start: f64, length: f64, side: u32) -> Vec<(u32, f64)> {
    let end = (start + length).min(f64::from(side));
    let first = (start as u32).min(side - 1);
    (first..side)
        .take_while(|sample| f64::from(*sample) < end)
        .map(|sample| {
            let (from, to) = (f64::from(sample), f64::from(sample) + 1.0);
            (sample, (to.min(end) - from.max(start)).max(0.0))
        })
        .filter(|(_, share)| *share > 0.0)
        .collect()
}
