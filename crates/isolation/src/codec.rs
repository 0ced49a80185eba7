//! A codec whose work on strangers' bytes is done by worker processes.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use andon_pixels::{
    Codec, Cores, Cost, Decode, Encode, Error, Foreign, Format, Frame, FrameReader, FrameWriter,
    GainHeader, GainParams, Head, Image, Info, Interrupt, Limits, Metadata, Never, Result, Scale,
    Scales, Tags, Timed, Traits, Window,
};
use andon_recipe::{Area, Word};

use crate::facts::Facts;
use crate::job::{Call, How, Job, Kind};
use crate::pool::{Lease, Pool, Question};
use crate::wire::{List, Output, Wire};

/// A codec whose files are read, or written, in worker processes.
pub(crate) struct Isolated {
    pub(crate) codec: &'static dyn Codec,
    pub(crate) pool: &'static Pool,
    /// What of its work is done elsewhere.
    pub(crate) elsewhere: Foreign,
    pub(crate) facts: Facts,
}

/// What a job may take.
#[derive(Clone, Copy)]
struct Ceiling<'a> {
    limits: &'a Limits,
    cost: Cost,
    /// Bytes of images that it is given or gives.
    pictures: u64,
}

/// How long reading a header may take.
const PROBE: Duration = Duration::from_secs(1);

/// Plans are no farther off than this: `./dev bench plans` keeps to it.
const SAFETY: u64 = 8;

/// Seconds that any job may compute.
const LEAST_SECONDS: u64 = 2;

/// Seconds for an animation that is written: how many frames come is not known.
const WRITING: u64 = 600;

/// What stands beside the pixels of an answer.
const FACTS: u64 = 64 << 20;

impl Isolated {
    fn read<T: Wire>(
        &self,
        bytes: &[u8],
        ceiling: Ceiling<'_>,
        call: Call,
        interrupt: &dyn Interrupt,
    ) -> Result<T> {
        let header = matches!(call, Call::Probe);
        self.refuse_suspects(bytes)?;
        let job = self.job(bytes, ceiling, call);
        let mut lease = Lease::new(self.pool, header, interrupt)?;
        lease.ask(&Question {
            kind: Kind::Job,
            message: Output::of(&job),
            most: ceiling.pictures.saturating_add(FACTS),
            format: self.codec.name(),
            file: bytes,
            interrupt,
        })
    }

    fn refuse_suspects(&self, bytes: &[u8]) -> Result<()> {
        match self.pool.suspects.refuses(bytes) {
            true => Err(Error::Suspect {
                format: self.codec.name(),
            }),
            false => Ok(()),
        }
    }

    fn job<'a>(&self, bytes: &'a [u8], ceiling: Ceiling<'_>, call: Call) -> Job<'a> {
        let source = bytes.len() as u64;
        let planned = (ceiling.cost.scratch)
            .saturating_add(ceiling.pictures)
            .saturating_add(source);
        Job {
            format: self.codec.name().to_owned(),
            limits: *ceiling.limits,
            memory: planned.saturating_add(planned / 2).saturating_add(source),
            seconds: (ceiling.cost.nanos / 1_000_000_000)
                .saturating_mul(SAFETY)
                .saturating_add(LEAST_SECONDS),
            bytes: Cow::Borrowed(bytes),
            call,
        }
    }

    /// For a decode at these scales.
    fn decoding<'a>(&self, bytes: &[u8], info: &Info, how: &Decode<'a>) -> Ceiling<'a> {
        Ceiling {
            limits: how.limits,
            cost: self.codec.decode_cost(bytes.len() as u64, info, how.scales),
            pictures: self.decoded_bytes(info, how.scales),
        }
    }

    /// Bytes of a frame that is decoded at these scales.
    fn decoded_bytes(&self, info: &Info, scales: Scales) -> u64 {
        let traits = self.codec.decoded(info, scales);
        let (width, height) = info.scaled(scales.luma);
        bytes_of(width, height, traits)
    }

    /// Bytes of what is drawn for a window.
    fn drawn_bytes(&self, info: &Info, window: &Window) -> u64 {
        let traits = self.codec.decoded(info, Scales::FULL);
        bytes_of(window.to.0, window.to.1, traits)
    }

    fn whole<'a>(limits: &'a Limits, cost: Cost) -> Ceiling<'a> {
        Ceiling {
            limits,
            cost,
            pictures: limits.memory,
        }
    }
}

/// Bytes of a frame of this kind.
fn bytes_of(width: u32, height: u32, traits: Traits) -> u64 {
    let plane = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
    let colours: u64 = (0..traits.model.planes())
        .map(|index| plane(traits.model.plane_size(index, width, height)))
        .sum();
    let alpha = if traits.alpha {
        plane((width, height))
    } else {
        0
    };
    (colours + alpha) * traits.depth.bytes() as u64
}

fn how(decode: &Decode<'_>) -> How {
    How {
        scales: decode.scales,
        keep_metadata: decode.keep_metadata,
    }
}

/// Nobody wants the answer after a while.
struct Until(Instant);

impl Interrupt for Until {
    fn interrupted(&self) -> bool {
        Instant::now() >= self.0
    }
}

impl Codec for Isolated {
    fn format(&self) -> Format {
        self.codec.format()
    }

    fn sniff(&self, head: &[u8]) -> bool {
        self.codec.sniff(head)
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        if !self.elsewhere.headers {
            return self.codec.probe(bytes);
        }
        let limits = Limits::default();
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost {
                nanos: 0,
                scratch: limits.metadata_bytes,
            },
            pictures: 0,
        };
        let until = Until(Instant::now() + PROBE);
        self.facts.of(bytes, || {
            let info: Info = self.read(bytes, ceiling, Call::Probe, &until)?;
            match info.format == self.codec.name() {
                true => Ok(info),
                false => Err(Error::Internal("facts of another format".to_owned())),
            }
        })
    }

    fn probes_at_once(&self, bytes: &[u8]) -> bool {
        !self.elsewhere.headers && self.codec.probes_at_once(bytes)
    }

    fn decode(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Image> {
        if !self.elsewhere.reads {
            return self.codec.decode(bytes, info, decode);
        }
        let call = Call::Decode(Box::new(info.clone()), how(decode));
        let ceiling = self.decoding(bytes, info, decode);
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn salvage(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Image> {
        if !self.elsewhere.reads {
            return self.codec.salvage(bytes, info, decode);
        }
        let call = Call::Salvage(Box::new(info.clone()), how(decode));
        let ceiling = self.decoding(bytes, info, decode);
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn extent(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<usize> {
        if !self.elsewhere.reads {
            return self.codec.extent(bytes, info, decode);
        }
        let cost = self.codec.extent_cost(bytes.len() as u64, info);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost,
            pictures: 0,
        };
        let call = Call::Extent(Box::new(info.clone()), how(decode));
        let length: usize = self.read(bytes, ceiling, call, decode.interrupt)?;
        Ok(length.min(bytes.len()))
    }

    fn end(&self, bytes: &[u8], decode: &Decode<'_>) -> Result<usize> {
        if !self.elsewhere.reads {
            return self.codec.end(bytes, decode);
        }
        let ceiling = Self::whole(decode.limits, Cost::default());
        let length: usize = self.read(bytes, ceiling, Call::End(how(decode)), decode.interrupt)?;
        Ok(length.min(bytes.len()))
    }

    fn end_marker(&self) -> &'static [u8] {
        self.codec.end_marker()
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        self.beside(self.codec.extent_cost(bytes, info), bytes, 0)
    }

    fn decode_at_once(
        &self,
        bytes: &[u8],
        info: &Info,
        decode: &Decode<'_>,
        scales: &[Scales],
    ) -> Result<Option<Vec<Image>>> {
        if !self.elsewhere.reads {
            return self.codec.decode_at_once(bytes, info, decode, scales);
        }
        let cost = self
            .codec
            .decode_cost(bytes.len() as u64, info, Scales::FULL);
        let ceiling = Self::whole(decode.limits, cost);
        let call = Call::DecodeAtOnce(Box::new(info.clone()), how(decode), List(scales.to_vec()));
        let images: Option<List<Image>> = self.read(bytes, ceiling, call, decode.interrupt)?;
        match images {
            Some(List(images)) if images.len() == scales.len() => Ok(Some(images)),
            Some(_) => Err(Error::Internal(
                "an image for each scale is missing".to_owned(),
            )),
            None => Ok(None),
        }
    }

    fn decodes_at_once(&self, info: &Info, one: Scales, other: Scales) -> bool {
        self.codec.decodes_at_once(info, one, other)
    }

    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost> {
        let cost = self.codec.draw_cost(bytes, info, window)?;
        Some(self.beside(cost, bytes, self.drawn_bytes(info, window)))
    }

    fn draw(
        &self,
        bytes: &[u8],
        info: &Info,
        decode: &Decode<'_>,
        window: &Window,
    ) -> Result<Image> {
        if !self.elsewhere.reads {
            return self.codec.draw(bytes, info, decode, window);
        }
        let cost = self.codec.draw_cost(bytes.len() as u64, info, window);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost: cost.unwrap_or_default(),
            pictures: self.drawn_bytes(info, window),
        };
        let call = Call::Draw(Box::new(info.clone()), how(decode), *window);
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn undrawn_letters(&self, text: &str) -> Vec<char> {
        self.codec.undrawn_letters(text)
    }

    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost> {
        self.codec.index_cost(bytes, info)
    }

    fn index(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Option<Vec<u8>>> {
        if !self.elsewhere.reads {
            return self.codec.index(bytes, info, decode);
        }
        let cost = self.codec.index_cost(bytes.len() as u64, info);
        let ceiling = Self::whole(decode.limits, cost.unwrap_or_default());
        let call = Call::Index(Box::new(info.clone()), how(decode));
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], wanted: Area) -> Option<Area> {
        if !self.elsewhere.headers {
            return self.codec.part(bytes, info, index, wanted);
        }
        let limits = Limits::default();
        let call = Call::Part(Box::new(info.clone()), index.to_vec(), wanted);
        let ceiling = Self::whole(&limits, Cost::default());
        let part: Result<Option<Area>> = self.read(bytes, ceiling, call, &Never);
        part.ok().flatten()
    }

    fn decode_part(
        &self,
        bytes: &[u8],
        info: &Info,
        decode: &Decode<'_>,
        index: &[u8],
        part: Area,
    ) -> Result<Image> {
        if !self.elsewhere.reads {
            return self.codec.decode_part(bytes, info, decode, index, part);
        }
        let call = Call::DecodePart(Box::new(info.clone()), how(decode), index.to_vec(), part);
        let ceiling = self.decoding(bytes, info, decode);
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn composed(&self, info: &Info) -> Option<Traits> {
        self.codec.composed(info)
    }

    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        decode: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        if !self.elsewhere.reads {
            return self.codec.open(bytes, info, decode);
        }
        self.refuse_suspects(bytes)?;
        let one = self
            .codec
            .decode_cost(bytes.len() as u64, info, Scales::FULL);
        let traits = self
            .codec
            .composed(info)
            .unwrap_or(Traits::new(info.model, info.depth));
        let frame = bytes_of(info.width, info.height, traits);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost: Cost {
                nanos: one.nanos.saturating_mul(info.frames.into()),
                ..one
            },
            // The canvas, what is drawn on it, and what it was before.
            pictures: frame.saturating_mul(4),
        };
        let job = self.job(
            bytes,
            ceiling,
            Call::Open(Box::new(info.clone()), how(decode)),
        );
        let most = frame.saturating_mul(2).saturating_add(FACTS);
        let (session, metadata) = Session::begin(self, &job, bytes, most, decode.interrupt)?;
        Ok(Box::new(Frames { session, metadata }))
    }

    fn animates(&self) -> Option<&'static str> {
        self.codec.animates()
    }

    fn moves_everywhere(&self) -> bool {
        self.codec.moves_everywhere()
    }

    fn writer<'a>(
        &self,
        head: &Head,
        encode: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        if !self.elsewhere.writes {
            return self.codec.writer(head, encode, interrupt);
        }
        let limits = Limits::default();
        let cost = self
            .codec
            .frame_cost(head.width, head.height, head.traits, encode);
        let ceiling = Self::whole(&limits, cost);
        let call = Call::Write(Box::new(head.clone()), encode.clone());
        let job = Job {
            seconds: WRITING,
            ..self.job(&[], ceiling, call)
        };
        let (session, ()) = Session::begin(self, &job, &[], limits.memory, interrupt)?;
        Ok(Box::new(Written { session, bytes: 0 }))
    }

    fn scales(&self, info: &Info) -> &'static [Scale] {
        self.codec.scales(info)
    }

    fn splits_chroma(&self, info: &Info, luma: Scale) -> bool {
        self.codec.splits_chroma(info, luma)
    }

    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        self.codec.decoded(info, scales)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        let cost = self.codec.decode_cost(bytes, info, scales);
        self.beside(cost, bytes, self.decoded_bytes(info, scales))
    }

    fn gain_map(&self, bytes: &[u8], info: &Info) -> Option<GainHeader> {
        if !self.elsewhere.headers {
            return self.codec.gain_map(bytes, info);
        }
        let limits = Limits::default();
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost::default(),
            pictures: 0,
        };
        let call = Call::GainMap(Box::new(info.clone()));
        let until = Until(Instant::now() + PROBE);
        let map: Result<Option<GainHeader>> = self.read(bytes, ceiling, call, &until);
        map.ok().flatten()
    }

    fn decode_gain_map(&self, bytes: &[u8], decode: &Decode<'_>) -> Result<Frame> {
        if !self.elsewhere.reads {
            return self.codec.decode_gain_map(bytes, decode);
        }
        let ceiling = Self::whole(decode.limits, Cost::default());
        let call = Call::DecodeGainMap(how(decode));
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn holds_gain_map(&self, params: &GainParams) -> bool {
        self.codec.holds_gain_map(params)
    }

    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool {
        if !self.elsewhere.headers {
            return self.codec.recodes(bytes, info, to);
        }
        let limits = Limits::default();
        let ceiling = Self::whole(&limits, Cost::default());
        let call = Call::Recodes(Box::new(info.clone()), to.to_owned());
        let until = Until(Instant::now() + PROBE);
        let recodes: Result<bool> = self.read(bytes, ceiling, call, &until);
        recodes.unwrap_or(false)
    }

    fn recode(
        &self,
        bytes: &[u8],
        info: &Info,
        to: &str,
        decode: &Decode<'_>,
    ) -> Result<Option<Vec<u8>>> {
        if !self.elsewhere.reads {
            return self.codec.recode(bytes, info, to, decode);
        }
        let cost = self.codec.recode_cost(bytes.len() as u64, info);
        let ceiling = Self::whole(decode.limits, cost);
        let call = Call::Recode(Box::new(info.clone()), to.to_owned(), how(decode));
        self.read(bytes, ceiling, call, decode.interrupt)
    }

    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost {
        self.codec.recode_cost(bytes, info)
    }

    fn options(&self) -> &'static [&'static Word] {
        self.codec.options()
    }

    fn instead(&self, info: &Info) -> Option<&'static str> {
        self.codec.instead(info)
    }

    fn accepts(&self, have: Traits, encode: &Encode) -> Option<Traits> {
        self.codec.accepts(have, encode)
    }

    fn encode(&self, image: &Image, encode: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        let Some(frame) = image.frames.first().filter(|_| self.elsewhere.writes) else {
            return self.codec.encode(image, encode, interrupt);
        };
        let limits = Limits::default();
        let traits = frame.traits();
        let cost = self
            .codec
            .encode_cost(frame.width, frame.height, traits, encode);
        let spread = self.codec.encode_spread(encode);
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost {
                nanos: cost.nanos.saturating_mul(spread),
                ..cost
            },
            // The image, and a file that is no larger.
            pictures: image.bytes().saturating_mul(2),
        };
        let call = Call::Encode(Box::new(image.clone()), encode.clone());
        let job = self.job(&[], ceiling, call);
        Lease::new(self.pool, false, interrupt)?.ask(&Question {
            kind: Kind::Job,
            message: Output::of(&job),
            most: ceiling.pictures.saturating_add(FACTS),
            format: self.codec.name(),
            file: &[],
            interrupt,
        })
    }

    fn encode_shared(
        &self,
        image: &Image,
        encode: &Encode,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u8>> {
        match self.elsewhere.writes {
            true => self.encode(image, encode, interrupt),
            false => self.codec.encode_shared(image, encode, cores, interrupt),
        }
    }

    fn tags(&self) -> Tags {
        self.codec.tags()
    }

    fn says_orientation(&self) -> bool {
        self.codec.says_orientation()
    }

    fn inherits_quality(&self) -> bool {
        self.codec.inherits_quality()
    }

    fn default_quality(&self) -> Option<u8> {
        self.codec.default_quality()
    }

    fn hands_on_subsampling(&self) -> bool {
        self.codec.hands_on_subsampling()
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, encode: &Encode) -> Cost {
        let cost = self.codec.encode_cost(width, height, traits, encode);
        match self.elsewhere.writes {
            true => cost.and_scratch(bytes_of(width, height, traits)),
            false => cost,
        }
    }

    fn encode_spread(&self, encode: &Encode) -> u64 {
        self.codec.encode_spread(encode)
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, encode: &Encode) -> Cost {
        self.codec.frame_cost(width, height, traits, encode)
    }
}

impl Isolated {
    /// What the worker holds beside: the file once more, and the image before it is sent.
    fn beside(&self, cost: Cost, bytes: u64, picture: u64) -> Cost {
        match self.elsewhere.reads {
            true => cost.and_scratch(bytes.saturating_add(picture)),
            false => cost,
        }
    }
}

/// An animation in the hands of one worker, from frame to frame.
struct Session<'a> {
    lease: Lease<'static>,
    format: &'static str,
    /// The file that is read; empty: one is written.
    file: &'a [u8],
    interrupt: &'a dyn Interrupt,
    most: u64,
    /// The worker waits for more.
    open: bool,
}

impl<'a> Session<'a> {
    /// Begins with a job: what the worker answers to it, too.
    fn begin<T: Wire>(
        codec: &Isolated,
        job: &Job<'a>,
        file: &'a [u8],
        most: u64,
        interrupt: &'a dyn Interrupt,
    ) -> Result<(Self, T)> {
        let mut session = Self {
            lease: Lease::new(codec.pool, false, interrupt)?,
            format: codec.codec.name(),
            file,
            interrupt,
            most,
            open: false,
        };
        let answer = session.ask(Kind::Job, Output::of(job))?;
        session.open = true;
        Ok((session, answer))
    }

    fn ask<T: Wire>(&mut self, kind: Kind, message: Output<'_>) -> Result<T> {
        self.lease.ask(&Question {
            kind,
            message,
            most: self.most,
            format: self.format,
            file: self.file,
            interrupt: self.interrupt,
        })
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.open {
            self.lease.tell(Kind::Close);
        }
    }
}

/// An animation that a worker reads.
struct Frames<'a> {
    session: Session<'a>,
    metadata: Metadata,
}

impl FrameReader for Frames<'_> {
    fn metadata(&self) -> Metadata {
        self.metadata.clone()
    }

    fn next(&mut self) -> Result<Option<Timed>> {
        self.session.ask(Kind::Next, Output::default())
    }
}

/// An animation that a worker writes.
struct Written<'a> {
    session: Session<'a>,
    /// Bytes written so far.
    bytes: u64,
}

impl FrameWriter for Written<'_> {
    fn push(&mut self, timed: Timed) -> Result<()> {
        self.bytes = self.session.ask(Kind::Push, Output::of(&timed))?;
        Ok(())
    }

    fn written(&self) -> u64 {
        self.bytes
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>> {
        self.session.open = false;
        self.session.ask(Kind::Finish, Output::default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// The names of the functions in a part of a source.
    fn functions(source: &str) -> BTreeSet<&str> {
        let declared = source
            .lines()
            .filter_map(|line| line.strip_prefix("    fn "));
        let names = declared.filter_map(|rest| rest.split(['(', '<']).next());
        names.collect()
    }

    #[test]
    fn every_method_of_a_codec_is_handed_on() {
        let asked = include_str!("../../pixels/src/codec.rs");
        let asked = asked.split("pub trait Codec").nth(1).expect("the trait");
        let asked = functions(asked.split("\n}\n").next().expect("its end"));
        let answered = include_str!("codec.rs");
        let answered = answered
            .split("impl Codec for Isolated")
            .nth(1)
            .expect("the answers");
        let answered = functions(answered.split("\n}\n").next().expect("their end"));
        let own = BTreeSet::from(["name", "foreign"]);
        let missing: Vec<_> = asked
            .difference(&answered)
            .filter(|it| !own.contains(**it))
            .collect();
        assert!(
            asked.len() > 40 && missing.is_empty(),
            "{missing:?} of {}",
            asked.len()
        );
    }
}
