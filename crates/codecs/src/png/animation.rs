//! Animated PNG. For reading and for writing, each frame is wrapped as a separate PNG, so that stills and animations
//! share the code that inflates and deflates.

use andon_pixels::{
    Damaged, Decode, Delay, Encode, Error, Frame, FrameReader, FrameWriter, Grid, Head, Image,
    Info, Interrupt, Limits, Metadata, Plane, Result, Timed,
};

use super::NAME;
use super::header::{self, Chunks, Control, Header, SIGNATURE};
use super::{decode, encode};
use crate::animation::{Canvas, Part, Place, crop_frame, find_change};
use crate::guard;

/// Reads the frames of an animation.
pub(super) struct Reader<'a> {
    chunks: Chunks<'a>,
    /// Info of the file as for a still image, with the size of the whole canvas.
    info: Info,
    ihdr: &'a [u8],
    /// The palette (`PLTE`) and transparency (`tRNS`) chunks, which apply to all frames.
    shared: Vec<([u8; 4], &'a [u8])>,
    next: Option<Control>,
    /// Number of frames that have not been returned yet.
    left: u32,
    metadata: Metadata,
    canvas: Canvas,
    limits: &'a Limits,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Reader<'a> {
    /// Opens an animation. The first frame is decoded by the first call of `next`.
    pub(super) fn open(bytes: &'a [u8], info: &Info, how: &Decode<'a>) -> Result<Self> {
        let header = Header::read(bytes)?;
        guard::check_probed(header.width, header.height, info, how.limits)?;
        let end = match header::extent(bytes) {
            // A damaged file: all frames before the damage can be shown.
            Err(_) if how.limits.damaged == Damaged::Shown => bytes.len(),
            end => end?,
        };
        let mut chunks = Chunks::of(&bytes[..end])?;
        let ihdr = match chunks.next() {
            Some(chunk) => chunk?.data,
            None => return Err(broken("it has no header")),
        };
        Ok(Self {
            chunks,
            info: header.info(),
            ihdr,
            shared: Vec::new(),
            next: None,
            left: info.frames,
            metadata: guard::read_metadata(how, |most| decode::metadata(&header, most))?,
            canvas: Canvas::of(info),
            limits: how.limits,
            interrupt: how.interrupt,
        })
    }

    /// Returns the next frame's control chunk, and its deflated pixels as a separate PNG. A default image that is not a
    /// frame is skipped.
    fn next_file(&mut self) -> Result<Option<(Control, Vec<u8>)>> {
        let mut control = self.next.take();
        let mut file = Vec::new();
        while let Some(chunk) = self.chunks.next() {
            let chunk = chunk?;
            let pixels = match &chunk.kind {
                b"PLTE" | b"tRNS" => {
                    // Only the first chunk of each kind is stored, because all of these are copied for every frame.
                    if self.shared.iter().all(|(kind, _)| *kind != chunk.kind) {
                        self.shared.push((chunk.kind, chunk.data));
                    }
                    continue;
                }
                b"fcTL" => {
                    let read = Control::read(chunk.data);
                    let read =
                        read.ok_or_else(|| broken("a frame's control has a wrong length"))?;
                    if control.is_some() && !file.is_empty() {
                        self.next = Some(read);
                        break;
                    }
                    control = Some(read);
                    continue;
                }
                b"IDAT" => chunk.data,
                // The pixels follow the sequence number of the chunk.
                b"fdAT" => chunk.data.get(4..).unwrap_or_default(),
                _ => continue,
            };
            let Some(control) = &control else {
                continue;
            };
            if file.is_empty() {
                file = self.file_start(control.place)?;
            }
            push_chunk(&mut file, *b"IDAT", pixels);
        }
        if file.is_empty() {
            return match control {
                Some(_) => Err(broken("its last frame has no pixels")),
                None => Ok(None),
            };
        }
        push_chunk(&mut file, *b"IEND", &[]);
        Ok(control.map(|control| (control, file)))
    }

    /// Returns the beginning of a PNG file that contains only one frame of the animation: everything before its pixels.
    fn file_start(&self, place: Place) -> Result<Vec<u8>> {
        let mut ihdr = self.ihdr.to_vec();
        let (Some(size), true) = (ihdr.get_mut(..8), place.width > 0 && place.height > 0) else {
            return Err(broken("one of its frames is empty"));
        };
        size[..4].copy_from_slice(&place.width.to_be_bytes());
        size[4..].copy_from_slice(&place.height.to_be_bytes());
        let mut file = SIGNATURE.to_vec();
        push_chunk(&mut file, *b"IHDR", &ihdr);
        for (kind, data) in &self.shared {
            push_chunk(&mut file, *kind, data);
        }
        Ok(file)
    }
}

impl FrameReader for Reader<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let Some((control, file)) = self.next_file()? else {
            return Ok(None);
        };
        let place = control.place;
        let inside =
            |at: u32, length: u32, side: u32| at.checked_add(length).is_some_and(|end| end <= side);
        if !inside(place.x, place.width, self.info.width)
            || !inside(place.y, place.height, self.info.height)
        {
            return Err(broken("one of its frames reaches over the edge"));
        }
        guard::size(place.width, place.height, self.limits)?;
        let info = Info {
            width: place.width,
            height: place.height,
            ..self.info.clone()
        };
        let frame = decode::pixels(&file, &info, self.interrupt)?;
        drop(file);
        let frame = self
            .canvas
            .draw(&part(frame, place)?, control.blend, control.disposal)?;
        Ok(Some(Timed {
            frame,
            delay: control.delay,
        }))
    }
}

/// Converts a frame to 8-bit red, green and blue, with its opacity.
fn part(frame: Frame, place: Place) -> Result<Part> {
    let narrow = |plane: Plane| match plane {
        Plane::U8(grid) => grid,
        Plane::U16(grid) => grid.map(|sample| ((u32::from(sample) + 128) / 257) as u8),
    };
    let mut planes: Vec<Grid<u8>> = frame.planes.into_iter().map(narrow).collect();
    if let [gray] = &planes[..] {
        planes = vec![gray.clone(), gray.clone(), gray.clone()];
    }
    planes.extend(frame.alpha.map(narrow));
    Part::new(place, planes)
}

/// Writes an animation frame by frame. Of each frame only the changed part is written, which replaces the earlier
/// content there.
pub(super) struct Writer<'a> {
    out: Vec<u8>,
    how: Encode,
    head: Head,
    /// Offset of the `acTL` chunk, which contains the number of frames.
    count_at: usize,
    frames: u32,
    /// Number of frame chunks (`fcTL` and `fdAT`) written so far, which is the next sequence number.
    chunks: u32,
    previous: Option<Frame>,
    interrupt: &'a dyn Interrupt,
}

impl<'a> Writer<'a> {
    /// Creates a writer. The header is written with the first frame.
    pub(super) fn new(head: &Head, how: &Encode, interrupt: &'a dyn Interrupt) -> Self {
        Self {
            out: Vec::new(),
            // Not interlaced, because players show a frame only when it is complete.
            how: Encode {
                progressive: false,
                ..encode::in_full_colour(how)
            },
            head: head.clone(),
            count_at: 0,
            frames: 0,
            chunks: 0,
            previous: None,
            interrupt,
        }
    }

    fn number(&mut self) -> [u8; 4] {
        let number = self.chunks;
        self.chunks += 1;
        number.to_be_bytes()
    }

    fn push_control(&mut self, place: Place, delay: Delay) {
        let (ticks, per_second) = fraction(delay);
        let mut control = self.number().to_vec();
        for number in [place.width, place.height, place.x, place.y] {
            control.extend(number.to_be_bytes());
        }
        control.extend(ticks.to_be_bytes());
        control.extend(per_second.to_be_bytes());
        // Disposal: keep the frame. Blending: replace the earlier pixels.
        control.extend([0, 0]);
        push_chunk(&mut self.out, *b"fcTL", &control);
    }
}

impl FrameWriter for Writer<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        let Timed { frame, delay } = timed;
        let place = find_change(self.previous.as_ref(), &frame);
        let metadata = if self.previous.is_none() {
            self.head.metadata.clone()
        } else {
            Metadata::default()
        };
        let still = Image {
            metadata,
            ..Image::still(crop_frame(&frame, place)?)
        };
        let file = encode::encode(&still, &self.how, self.interrupt)?;
        if self.previous.is_none() {
            self.out.extend_from_slice(SIGNATURE);
        }
        let mut has_control = false;
        for chunk in Chunks::of(&file)? {
            let chunk = chunk?;
            match &chunk.kind {
                b"IDAT" => {
                    if !has_control {
                        if self.previous.is_none() {
                            self.count_at = self.out.len();
                            push_chunk(&mut self.out, *b"acTL", &[0; 8]);
                        }
                        self.push_control(place, delay);
                        has_control = true;
                    }
                    if self.previous.is_none() {
                        push_chunk(&mut self.out, *b"IDAT", chunk.data);
                    } else {
                        let mut data = self.number().to_vec();
                        data.extend_from_slice(chunk.data);
                        push_chunk(&mut self.out, *b"fdAT", &data);
                    }
                }
                b"IEND" => {}
                _ if self.previous.is_none() => push_chunk(&mut self.out, chunk.kind, chunk.data),
                _ => {}
            }
        }
        self.frames += 1;
        self.previous = Some(frame);
        Ok(())
    }

    fn written(&self) -> u64 {
        self.out.len() as u64
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        let mut counts = self.frames.to_be_bytes().to_vec();
        counts.extend(self.head.plays.to_be_bytes());
        let mut chunk = Vec::new();
        push_chunk(&mut chunk, *b"acTL", &counts);
        let end = self.count_at + chunk.len();
        let place = self.out.get_mut(self.count_at..end);
        let place = place.ok_or_else(|| Error::Internal("a PNG without frames".to_owned()))?;
        place.copy_from_slice(&chunk);
        push_chunk(&mut self.out, *b"IEND", &[]);
        Ok(self.out)
    }
}

/// Returns a delay as stored in PNG, as ticks and ticks per second: in its own unit if both numbers fit into 16 bits,
/// otherwise in milliseconds.
fn fraction(delay: Delay) -> (u16, u16) {
    match (u16::try_from(delay.ticks), u16::try_from(delay.per_second)) {
        (Ok(ticks), Ok(per_second)) => (ticks, per_second),
        _ => (
            (delay.seconds() * 1000.0).round().min(65_535.0) as u16,
            1000,
        ),
    }
}

/// Appends a chunk with its length and checksum.
pub(super) fn push_chunk(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    out.extend((data.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend_from_slice(data);
    let checksum = crc32fast::hash(&out[start..]);
    out.extend(checksum.to_be_bytes());
}

fn broken(why: &str) -> Error {
    Error::broken(NAME, why)
}
