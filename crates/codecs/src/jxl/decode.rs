//! Decodes a JPEG XL to planes.

use andon_pixels::{
    Cost, Decode, Depth, Error, Frame, FrameReader, Grid, Image, Info, Interrupt, Metadata, Model,
    Plane, Result, Timed,
};
use jxl::api::{AlphaMode, Event, JxlDecoder, JxlOutputBuffer};

use super::NAME;
use super::boxes::Container;
use super::header::{self, Header, cut_off};
use super::runner::Runner;
use crate::guard;

/// Decodes the first visible frame.
pub(super) fn decode(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<Image> {
    let mut reader = Reader::open(bytes, info, how)?;
    let metadata = reader.metadata();
    let Some(timed) = reader.next()? else {
        return Err(Error::broken(NAME, "it shows no frame"));
    };
    let mut image = Image::still(timed.frame);
    image.metadata = metadata;
    Ok(image)
}

/// Returns the offset in bytes at which the image ends. Its first frame is decoded; all others only have to be present.
pub(super) fn extent(bytes: &[u8], info: &Info, how: &Decode<'_>) -> Result<usize> {
    let probed = guard::check_probed(info.width, info.height, info, how.limits);
    let mut rest = bytes;
    let mut options = header::options();
    options.scan_frames_only = true;
    let mut decoder = JxlDecoder::new(options);
    let mut runner = Runner::of_frame((info.width, info.height), how.interrupt);
    let codestream = loop {
        let event = decoder.process(&mut rest, None, Some(&mut runner));
        match runner.check_result(event)? {
            Event::NeedMoreInput { .. } => return Err(cut_off()),
            _ => {
                if let Some(end) = decoder.file_length() {
                    break end as usize;
                }
            }
        }
    };
    let container = Container::read(bytes)?;
    if probed.is_ok() {
        match decode(bytes, info, how) {
            Ok(_) | Err(Error::Limit { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(codestream.max(container.end))
}

/// Estimates the cost of decoding, measured with photos on one core. A lossless sample takes longer than a lossy one.
pub(super) fn cost(info: &Info) -> Cost {
    let channels = info.model.planes() as u64 + u64::from(info.alpha);
    let each = if info.lossless {
        LOSSLESS_NANOS
    } else {
        LOSSY_NANOS
    };
    Cost {
        nanos: info.pixels() * channels * each,
        scratch: info.decoder_bytes,
    }
}

/// Time to decode a sample of a lossy image, in ns.
const LOSSY_NANOS: u64 = 15;
/// Time to decode a sample of a lossless image, in ns.
const LOSSLESS_NANOS: u64 = 20;

/// Reads the frames of a file, one after the other.
pub(super) struct Reader<'a> {
    decoder: JxlDecoder,
    rest: &'a [u8],
    header: Header<'a>,
    metadata: Metadata,
    interrupt: &'a dyn Interrupt,
    runner: Runner<'a>,
}

impl<'a> Reader<'a> {
    /// Opens a file. The first frame is decoded by the first call of `next`.
    pub(super) fn open(bytes: &'a [u8], info: &Info, how: &Decode<'a>) -> Result<Self> {
        guard::check_interrupt(how.interrupt)?;
        let container = Container::read(bytes)?;
        let mut options = header::options();
        options.alpha_mode = AlphaMode::Unpremultiplied;
        // Options cannot be changed after the header has been read, so the limit is derived from the probed header.
        options.sample_limit = Some(header::sample_limit(info));
        let mut decoder = JxlDecoder::new(options);
        let mut rest = bytes;
        let header = Header::read_start(&mut decoder, &mut rest, container)?;
        guard::check_probed(header.width, header.height, info, how.limits)?;
        let metadata = guard::read_metadata(how, |most| metadata(&header, most))?;
        let runner = Runner::of_frame((header.width, header.height), how.interrupt);
        Ok(Self {
            decoder,
            rest,
            header,
            metadata,
            interrupt: how.interrupt,
            runner,
        })
    }

    /// Reads up to the pixels of the next frame. Returns `false` after the last one.
    fn advance(&mut self) -> Result<bool> {
        loop {
            match self.process(None)? {
                Event::FrameHeader => return Ok(true),
                Event::Complete => return Ok(false),
                Event::NeedMoreInput { .. } => return Err(cut_off()),
                Event::BasicInfo | Event::FrameComplete { .. } => {}
            }
        }
    }

    fn process(&mut self, buffers: Option<&mut [JxlOutputBuffer<'_>]>) -> Result<Event> {
        let runner = &mut self.runner;
        let event = (self.decoder).process(&mut self.rest, buffers, Some(runner));
        self.runner.check_result(event)
    }

    fn frame(&mut self) -> Result<Frame> {
        let (width, height) = (self.header.width, self.header.height);
        let pixels = width as usize * height as usize;
        let bytes = self.header.depth.bytes();
        let is_interleaved = self.header.alpha.is_some() && self.header.model != Model::Cmyk;
        let channels = self.header.model.planes() + usize::from(is_interleaved);
        let mut colours = Buffer::new(pixels * channels * bytes);
        let mut alpha_buffer =
            (self.header.alpha.is_some() && !is_interleaved).then(|| Buffer::new(pixels * bytes));
        let row = width as usize * bytes;
        let mut buffers = vec![JxlOutputBuffer::new(
            colours.bytes(),
            height as usize,
            row * channels,
        )];
        if let Some(alpha_buffer) = &mut alpha_buffer {
            buffers.push(JxlOutputBuffer::new(
                alpha_buffer.bytes(),
                height as usize,
                row,
            ));
        }
        match self.process(Some(&mut buffers))? {
            Event::FrameComplete { .. } => {}
            _ => return Err(cut_off()),
        }
        let size = (width, height);
        let depth = self.header.depth;
        let mut planes = deal(colours.bytes(), channels, size, depth)?;
        let alpha = match alpha_buffer {
            Some(mut alpha_buffer) => deal(alpha_buffer.bytes(), 1, size, depth)?.pop(),
            None if is_interleaved => planes.pop(),
            None => None,
        };
        if self.header.model == Model::Cmyk {
            // In JPEG XL, 0 means full ink.
            planes.iter_mut().for_each(invert);
        }
        let frame = Frame::new(self.header.model, width, height, planes, alpha)?;
        Ok(frame.with_depth(depth)?.with_colour(andon_pixels::Colour {
            space: self.header.profile.space,
            icc: self.metadata.icc.clone(),
        }))
    }
}

impl FrameReader for Reader<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        let size = (self.header.width, self.header.height);
        self.runner = Runner::of_frame(size, self.interrupt);
        if !self.advance()? {
            return Ok(None);
        }
        let ticks = self.decoder.scanned_frames().last();
        let ticks = ticks.map_or(0, |frame| frame.duration_ticks);
        let delay = self.header.delay(ticks);
        let frame = self.frame()?;
        Ok(Some(Timed { frame, delay }))
    }
}

fn metadata(header: &Header<'_>, most: u64) -> Result<Metadata> {
    let icc = header.profile.icc.clone();
    let length = icc.as_ref().map_or(0, |icc| icc.len());
    guard::metadata(length, most)?;
    Ok(Metadata {
        icc,
        exif: header.container.exif(most)?,
        xmp: header.container.xmp(most)?,
        ..Metadata::default()
    })
}

/// A byte buffer that is aligned for 16-bit samples.
struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        let mut memory = vec![0; bytes + 1];
        let start = memory.as_ptr().align_offset(2).min(1);
        memory.truncate(start + bytes);
        Self { memory, start }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..]
    }
}

/// Splits interleaved samples into planes.
fn deal(
    pixels: &[u8],
    channels: usize,
    (width, height): (u32, u32),
    depth: Depth,
) -> Result<Vec<Plane>> {
    let plane = |channel: usize| match depth {
        Depth::U8 => {
            let samples = pixels.chunks_exact(channels).map(|pixel| pixel[channel]);
            Grid::from_buffer(width, height, samples.collect()).map(Plane::U8)
        }
        _ => {
            let sample =
                |pixel: &[u8]| u16::from_ne_bytes([pixel[2 * channel], pixel[2 * channel + 1]]);
            let samples = pixels.chunks_exact(2 * channels).map(sample);
            Grid::from_buffer(width, height, samples.collect()).map(Plane::U16)
        }
    };
    (0..channels).map(plane).collect()
}

fn invert(plane: &mut Plane) {
    match plane {
        Plane::U8(grid) => grid.samples_mut().iter_mut().for_each(|v| *v = !*v),
        Plane::U16(grid) => grid.samples_mut().iter_mut().for_each(|v| *v = !*v),
    }
}
