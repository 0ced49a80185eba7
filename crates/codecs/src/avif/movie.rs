//! Image sequences, with a track of colours and optionally one of opacity.

use andon_pixels::{
    Animation, Decode, Delay, Error, FrameReader, Info, Interrupt, Metadata, Result, Timed,
};

use super::NAME;
use super::dav1d::Decoder;
use super::decode::{Canvas, frame};
use super::header::{ALPHA, Header};
use super::obus::{MOST_FRAMES, Work};
use crate::guard;
use crate::heif::{Boxes, Property, Sample, Track};

/// The tracks of an image sequence that are decoded: colours and opacity.
#[derive(Debug)]
pub(super) struct Movie<'a> {
    pub(super) colour: Track<'a>,
    pub(super) alpha: Option<Track<'a>>,
    bytes: &'a [u8],
}

impl<'a> Movie<'a> {
    /// Reads the tracks of a file whose major brand marks it as a sequence (`avis`). Returns `None` for other files,
    /// which are still images.
    pub(super) fn of(bytes: &'a [u8]) -> Result<Option<Self>> {
        let mut boxes = Boxes::of(bytes);
        let brand = boxes.next().filter(|first| &first.kind == b"ftyp");
        if brand.is_none_or(|first| !first.data.starts_with(b"avis")) {
            return Ok(None);
        }
        let Some(moov) = boxes.find(|part| &part.kind == b"moov") else {
            return Err(Error::broken(NAME, "it has no tracks"));
        };
        let mut tracks = Track::all(moov.data, NAME)?;
        let is_colour = |track: &Track<'_>| {
            &track.coding == b"av01" && [*b"pict", *b"vide"].contains(&track.handler)
        };
        let Some(index) = tracks.iter().position(is_colour) else {
            return Err(Error::broken(NAME, "it has no track of images"));
        };
        let colour = tracks.swap_remove(index);
        let is_alpha = |track: &Track<'_>| {
            track.auxiliary_of == Some(colour.id)
                && track.properties.iter().any(
                    |property| matches!(property, Property::Auxiliary(kind) if ALPHA.contains(kind)),
                )
        };
        let alpha = (tracks.iter().position(is_alpha)).map(|index| tracks.swap_remove(index));
        let movie = Self {
            colour,
            alpha,
            bytes,
        };
        movie.check()?;
        Ok(Some(movie))
    }

    fn check(&self) -> Result<()> {
        let why = match &self.alpha {
            _ if self.colour.samples.is_empty() => "it has no images",
            _ if self.colour.size.0 == 0 || self.colour.size.1 == 0 => "it says no size",
            Some(alpha) if alpha.size != self.colour.size => "its opacity is of another size",
            Some(alpha) if alpha.samples.len() < self.colour.samples.len() => {
                "some of its images have no opacity"
            }
            _ => return Ok(()),
        };
        Err(Error::broken(NAME, why))
    }

    /// Checks that the file contains all of the sequence's images.
    ///
    /// # Errors
    /// `Broken` if the file is cut off.
    pub(super) fn check_whole(&self) -> Result<()> {
        let all = [Some(&self.colour), self.alpha.as_ref()];
        let mut samples = all.iter().flatten().flat_map(|track| &track.samples);
        match samples.all(|sample| sample.data(self.bytes).is_some()) {
            true => Ok(()),
            false => Err(cut_off()),
        }
    }

    /// Returns the number of coded pixels to decode for each shown image, colours and opacity together. For each of the
    /// two tracks it is the mean over all images, or the number for the first image if that is larger.
    ///
    /// # Errors
    /// `Broken` if there are more coded frames than any encoder writes for this number of images, or if the images
    /// overlap so much that their total length exceeds twice that of the file.
    pub(super) fn work(&self) -> Result<u64> {
        let all = [Some(&self.colour), self.alpha.as_ref()];
        let work = all.into_iter().flatten().map(|track| self.work_of(track));
        work.sum()
    }

    fn work_of(&self, track: &Track<'_>) -> Result<u64> {
        let (mut bytes, mut frames, mut first) = (0_u64, 0_u64, None);
        for sample in &track.samples {
            // For a probe, the file may be only a beginning of the whole.
            if let Some(data) = sample.data(self.bytes) {
                bytes += data.len() as u64;
                let frames_of_sample = u64::from(Work::of(data)?.frames);
                first.get_or_insert(frames_of_sample);
                frames += frames_of_sample;
            }
        }
        let samples = track.samples.len() as u64;
        if frames > samples * MOST_FRAMES_EACH + u64::from(MOST_FRAMES) {
            let why = format!("it hides {} frames behind its {samples}", frames - samples);
            return Err(Error::broken(NAME, why));
        }
        if bytes > 2 * self.bytes.len() as u64 {
            return Err(Error::broken(NAME, "its images overlap in the file"));
        }
        let each = frames.div_ceil(samples.max(1)).max(first.unwrap_or(0));
        let (width, height) = track.size;
        Ok(each * u64::from(width) * u64::from(height))
    }

    /// Returns the bytes of the first image, or only their beginning if the file is cut off.
    pub(super) fn first(&self) -> &'a [u8] {
        let Some(sample) = self.colour.samples.first() else {
            return &[];
        };
        let part = Sample {
            length: u64::from(sample.length)
                .min((self.bytes.len() as u64).saturating_sub(sample.offset))
                as u32,
            ..*sample
        };
        part.data(self.bytes).unwrap_or_default()
    }

    /// Returns the number of frames and, if there are several, the properties of the animation.
    pub(super) fn frames(&self) -> (u32, Option<Animation>) {
        let samples = &self.colour.samples;
        let per_second = self.colour.per_second;
        let delays = samples
            .iter()
            .map(|sample| Delay::played(sample.ticks, per_second));
        let seconds: f64 = delays.map(Delay::seconds).sum();
        let animation = (samples.len() > 1).then(|| Animation {
            apart: false,
            plays: self.colour.plays,
            duration_ms: (seconds * 1000.0).round() as u64,
            alpha: self.alpha.is_some(),
        });
        (samples.len() as u32, animation)
    }
}

/// Maximum number of coded frames of a sequence for each shown frame. A frame that is coded first and shown later
/// counts twice.
const MOST_FRAMES_EACH: u64 = 3;

fn cut_off() -> Error {
    Error::broken(NAME, "it is cut off")
}

/// The state of decoding a track. Its images may refer to earlier ones.
struct Decoding<'a> {
    decoder: Decoder<'a>,
    samples: Vec<Sample>,
    size: (u32, u32),
}

impl<'a> Decoding<'a> {
    fn of(track: &Track<'_>) -> Result<Self> {
        let (width, height) = track.size;
        let point = track.properties.iter().find_map(|property| match property {
            Property::OperatingPoint(point) => Some(*point),
            _ => None,
        });
        Ok(Self {
            decoder: Decoder::open(
                u64::from(width) * u64::from(height),
                point.unwrap_or(0),
                false,
            )?,
            samples: track.samples.clone(),
            size: track.size,
        })
    }

    /// Decodes an image and returns it with its duration in ticks. All earlier images must have been decoded.
    fn image(
        &mut self,
        bytes: &'a [u8],
        number: usize,
        interrupt: &dyn Interrupt,
    ) -> Result<Option<(Canvas, u32)>> {
        let Some(sample) = self.samples.get(number) else {
            return Ok(None);
        };
        let data = sample.data(bytes).ok_or_else(cut_off)?;
        let image = self.decoder.image(data, None, interrupt)?;
        if image.size() != self.size {
            return Err(Error::broken(NAME, "its bitstream is of another size"));
        }
        let mut canvas = Canvas::empty(self.size.0, self.size.1, &image);
        canvas.put(&image, 0, 0)?;
        Ok(Some((canvas, sample.ticks)))
    }
}

/// Reads the frames of a sequence, each of which is a whole image.
pub(super) struct Reader<'a> {
    header: Header<'a>,
    metadata: Metadata,
    bytes: &'a [u8],
    colour: Decoding<'a>,
    alpha: Option<Decoding<'a>>,
    per_second: u32,
    number: usize,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Reader<'a> {
    /// Opens a sequence. The first frame is decoded by the first call of `next`.
    pub(super) fn open(bytes: &'a [u8], info: &Info, how: &Decode<'a>) -> Result<Self> {
        let header = Header::read(bytes)?;
        let (width, height) = header.size();
        guard::check_probed(width, height, info, how.limits)?;
        guard::size(header.colour.width, header.colour.height, how.limits)?;
        let movie = header.movie.as_ref();
        let movie = movie.ok_or_else(|| Error::Internal("a still was opened".to_owned()))?;
        movie.check_whole()?;
        Ok(Self {
            metadata: guard::read_metadata(how, |most| header.metadata(most))?,
            bytes,
            colour: Decoding::of(&movie.colour)?,
            alpha: movie.alpha.as_ref().map(Decoding::of).transpose()?,
            per_second: movie.colour.per_second.max(1),
            number: 0,
            interrupt: how.interrupt,
            header,
        })
    }
}

impl FrameReader for Reader<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        guard::check_interrupt(self.interrupt)?;
        let (bytes, number) = (self.bytes, self.number);
        let Some((colour, ticks)) = self.colour.image(bytes, number, self.interrupt)? else {
            return Ok(None);
        };
        let alpha = match &mut self.alpha {
            Some(alpha) => alpha.image(bytes, number, self.interrupt)?,
            None => None,
        };
        self.number += 1;
        let frame = frame(&self.header, colour, alpha.map(|(canvas, _)| canvas))?;
        let delay = Delay::played(ticks, self.per_second);
        Ok(Some(Timed { frame, delay }))
    }
}
