//! The header of a JPEG XL file: its properties before pixels are decoded.

use andon_pixels::{Animation, Delay, Depth, Error, Info, Model, Never, Result};
use jxl::api::{
    Endianness, Event, ExtraChannel, JxlBasicInfo, JxlBitDepth, JxlColorType, JxlDataFormat,
    JxlDecoder, JxlDecoderOptions, JxlPixelFormat, ProfileLevel,
};

use super::boxes::Container;
use super::colour::{self, Profile};
use super::runner::Runner;
use super::{NAME, broken};

/// The properties of a file, read without decoding pixels.
#[derive(Debug)]
pub(super) struct Header<'a> {
    /// Width in px of the image as shown, after the header's orientation is applied.
    pub(super) width: u32,
    /// Height in px of the image as shown, after the header's orientation is applied.
    pub(super) height: u32,
    /// The colour model of the planes.
    pub(super) model: Model,
    /// Bit depth of the samples. Floating-point samples become 16 bits.
    pub(super) depth: Depth,
    /// Index of the extra channel for opacity.
    pub(super) alpha: Option<usize>,
    /// Number of extra channels.
    pub(super) extra: usize,
    /// Colour space of the decoded pixels.
    pub(super) profile: Profile,
    /// Clock of an animation: a number of ticks, and the number of seconds that they take.
    pub(super) ticks: Option<(u32, u32)>,
    /// Contents of the file besides the codestream.
    pub(super) container: Container<'a>,
    frames: u32,
    animation: Option<Animation>,
    lossless: bool,
}

/// Maximum number of frames that are counted, because counting takes some memory for each.
const MOST_FRAMES: usize = 10_000;

/// Returns the decoder options that apply to every use of the decoder.
pub(super) fn options() -> JxlDecoderOptions {
    let mut options = JxlDecoderOptions::default();
    options.max_profile_level = ProfileLevel::Main10;
    options
}

impl<'a> Header<'a> {
    /// Reads the header and, for an animation, the headers of all frames in the file.
    pub(super) fn read(file: &'a [u8]) -> Result<Self> {
        let container = Container::read(file)?;
        let mut options = options();
        options.scan_frames_only = true;
        let mut decoder = JxlDecoder::new(options);
        let mut rest = file;
        let mut header = Self::read_start(&mut decoder, &mut rest, container)?;
        if header.ticks.is_some() {
            let plays = decoder.basic_info().and_then(|info| info.animation.clone());
            header.count(&mut decoder, rest)?;
            let frames = decoder.scanned_frames().iter();
            let delays = frames.map(|frame| header.delay(frame.duration_ticks));
            let seconds: f64 = delays.map(Delay::seconds).sum();
            header.animation = (header.frames > 1).then(|| Animation {
                apart: false,
                plays: plays.map_or(0, |animation| animation.num_loops),
                duration_ms: (seconds * 1000.0).round() as u64,
                alpha: header.alpha.is_some(),
            });
        }
        Ok(header)
    }

    /// Returns the duration of a frame of `ticks` ticks.
    pub(super) fn delay(&self, ticks: u32) -> Delay {
        let (per_second, seconds) = self.ticks.unwrap_or((1000, 1));
        Delay::played(ticks.saturating_mul(seconds), per_second)
    }

    /// Reads up to the header of the first frame, and sets the decoder's sample format.
    pub(super) fn read_start(
        decoder: &mut JxlDecoder,
        rest: &mut &[u8],
        container: Container<'a>,
    ) -> Result<Self> {
        match decoder.process(rest, None, None).map_err(broken)? {
            Event::BasicInfo => {}
            _ => return Err(cut_off()),
        }
        let (Some(info), Some(format)) = (decoder.basic_info(), decoder.current_pixel_format())
        else {
            return Err(cut_off());
        };
        let channel = |channel_kind| {
            let mut kinds = info.extra_channels.iter().map(|channel| channel.ec_type);
            kinds.position(|kind| kind == channel_kind)
        };
        let model = match (format.color_type, channel(ExtraChannel::Black)) {
            (JxlColorType::Grayscale, _) => Model::Gray,
            (_, Some(_)) => Model::Cmyk,
            (_, None) => Model::Rgb,
        };
        let (width, height) = size(info)?;
        let animation = info.animation.as_ref();
        let mut header = Self {
            width,
            height,
            model,
            depth: depth(&info.bit_depth),
            alpha: channel(ExtraChannel::Alpha),
            extra: info.extra_channels.len(),
            profile: Profile::default(),
            ticks: animation.map(|it| (it.tps_numerator.max(1), it.tps_denominator)),
            frames: 1,
            animation: None,
            lossless: info.uses_original_profile && !container.jpeg,
            container,
        };
        // The colour space of the decoder's output depends on the sample format.
        let format = header.pixel_format();
        decoder.set_pixel_format(format).map_err(broken)?;
        if let Some(profile) = decoder.output_color_profile() {
            header.profile = colour::read(profile);
        }
        Ok(header)
    }

    /// Returns the sample format to request, with alpha interleaved with the colours if the decoder supports that.
    fn pixel_format(&self) -> JxlPixelFormat {
        let format = match self.depth {
            Depth::U8 => JxlDataFormat::U8 { bit_depth: 8 },
            _ => JxlDataFormat::U16 {
                endianness: Endianness::native(),
                bit_depth: 16,
            },
        };
        let mut extra = vec![None; self.extra];
        let color_type = match (self.model, self.alpha) {
            (Model::Gray, None) => JxlColorType::Grayscale,
            (Model::Gray, Some(_)) => JxlColorType::GrayscaleAlpha,
            (Model::Cmyk, alpha) => {
                if let Some(place) = alpha.and_then(|alpha| extra.get_mut(alpha)) {
                    *place = Some(format);
                }
                JxlColorType::Cmyk
            }
            (_, None) => JxlColorType::Rgb,
            (_, Some(_)) => JxlColorType::Rgba,
        };
        JxlPixelFormat {
            color_type,
            color_data_format: Some(format),
            extra_channel_format: extra,
        }
    }

    /// Counts the visible frames.
    fn count(&mut self, decoder: &mut JxlDecoder, mut rest: &[u8]) -> Result<()> {
        let mut runner = Runner::of_headers(&Never);
        while decoder.scanned_frames().len() < MOST_FRAMES {
            let event = decoder.process(&mut rest, None, Some(&mut runner));
            match runner.check_result(event)? {
                // For a probe, the file may be only a beginning of the whole. Decoding reports missing data.
                Event::Complete | Event::NeedMoreInput { .. } => break,
                _ => {}
            }
        }
        self.frames = decoder.scanned_frames().len().max(1) as u32;
        Ok(())
    }

    /// Converts the header to the format-independent `Info`.
    pub(super) fn info(&self) -> Info {
        Info {
            depth: self.depth,
            alpha: self.alpha.is_some(),
            space: self.profile.space,
            frames: self.frames,
            animation: self.animation,
            // The orientation is not set: the decoder applies the header's orientation, and EXIF's is ignored.
            lossless: self.lossless,
            metadata: self.container.metadata || self.profile.icc.is_some(),
            decoder_bytes: self.decoder_bytes(),
            ..Info::new(NAME, self.width, self.height, self.model)
        }
    }

    /// Estimates the memory in bytes for decoding: the interleaved copy of the pixels, and the decoder's own data. No
    /// test compares it with a measurement yet.
    fn decoder_bytes(&self) -> u64 {
        let pixels = u64::from(self.width) * u64::from(self.height);
        let output_channels = self.model.planes() as u64 + u64::from(self.alpha.is_some());
        let decoder_bytes_per_pixel = (3 + self.extra as u64) * BYTES_PER_SAMPLE;
        pixels * (output_channels * self.depth.bytes() as u64 + decoder_bytes_per_pixel)
            + DECODER_BYTES
    }
}

/// Returns the maximum number of samples of a frame. Layers may be larger than the image into which they are composed,
/// and may have channels that are not shown.
pub(super) fn sample_limit(info: &Info) -> usize {
    let samples = (info.decoder_bytes / BYTES_PER_SAMPLE).saturating_mul(2);
    usize::try_from(samples.max(LEAST_SAMPLES)).unwrap_or(usize::MAX)
}

/// Lower bound of the sample limit, so that small images may have larger layers.
const LEAST_SAMPLES: u64 = 1 << 24;
/// Bytes that the decoder stores per sample: coefficients of all passes or the samples of a lossless frame, and
/// reference frames.
const BYTES_PER_SAMPLE: u64 = 8;
const DECODER_BYTES: u64 = 8 << 20;

fn size(info: &JxlBasicInfo) -> Result<(u32, u32)> {
    let (width, height) = info.size;
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width), Ok(height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(Error::broken(NAME, format!("its size is {width}×{height}"))),
    }
}

fn depth(bits: &JxlBitDepth) -> Depth {
    match bits {
        JxlBitDepth::Int { bits_per_sample } => match bits_per_sample {
            0..=8 => Depth::U8,
            9..=10 => Depth::U10,
            11..=12 => Depth::U12,
            _ => Depth::U16,
        },
        JxlBitDepth::Float { .. } => Depth::U16,
    }
}

pub(super) fn cut_off() -> Error {
    Error::broken(NAME, "it is cut off")
}
