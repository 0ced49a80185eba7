//! The optional capabilities of codecs, such as reading animations or drawing vector images. Worker processes do the
//! work.

use std::time::Instant;

use andon_pixels::{
    AnimationDecoder, Cost, Decode, Error, Frame, FrameReader, GainHeader, GainMaps, Image, Info,
    Limits, ManyScales, Never, Parts, Recoder, Result, Scales, Traits, Vector, Window,
};
use andon_recipe::Area;

use super::session::{RemoteReader, Session};
use super::workers::{Ceiling, Deadline, FACTS, PROBE, Workers, bytes_of, how};
use crate::job::Call;
use crate::wire::List;

/// A capability of a codec whose work on untrusted bytes is done by worker processes.
pub(super) struct Remote<C: ?Sized + 'static> {
    pub(super) inner: &'static C,
    pub(super) workers: Workers,
}

impl AnimationDecoder for Remote<dyn AnimationDecoder> {
    fn composed(&self, info: &Info) -> Option<Traits> {
        self.inner.composed(info)
    }

    fn open<'a>(
        &self,
        bytes: &'a [u8],
        info: &Info,
        decode: &Decode<'a>,
    ) -> Result<Box<dyn FrameReader + 'a>> {
        if !self.workers.isolation.reads {
            return self.inner.open(bytes, info, decode);
        }
        self.workers.refuse_suspects(bytes)?;
        let one = self
            .workers
            .codec
            .decode_cost(bytes.len() as u64, info, Scales::FULL);
        let traits = self
            .inner
            .composed(info)
            .unwrap_or(Traits::new(info.model, info.depth));
        let frame = bytes_of(info.width, info.height, traits);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost: Cost {
                nanos: one.nanos.saturating_mul(info.frames.into()),
                ..one
            },
            // Four frames are enough for the canvas, the frame drawn on it and a saved earlier canvas.
            images: frame.saturating_mul(4),
        };
        let job = self.workers.job(
            bytes,
            ceiling,
            Call::Open(Box::new(info.clone()), how(decode)),
        );
        let most = frame.saturating_mul(2).saturating_add(FACTS);
        let (session, metadata) =
            Session::begin(self.workers, &job, bytes, most, decode.interrupt)?;
        Ok(Box::new(RemoteReader { session, metadata }))
    }
}

impl Parts for Remote<dyn Parts> {
    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost> {
        self.inner.index_cost(bytes, info)
    }

    fn index(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Option<Vec<u8>>> {
        if !self.workers.isolation.reads {
            return self.inner.index(bytes, info, decode);
        }
        let cost = self.inner.index_cost(bytes.len() as u64, info);
        let ceiling = Ceiling::of_memory_limit(decode.limits, cost.unwrap_or_default());
        let call = Call::Index(Box::new(info.clone()), how(decode));
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }

    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], area: Area) -> Option<Area> {
        if !self.workers.isolation.headers {
            return self.inner.part(bytes, info, index, area);
        }
        let limits = Limits::default();
        let call = Call::Part(Box::new(info.clone()), index.to_vec(), area);
        let ceiling = Ceiling::of_memory_limit(&limits, Cost::default());
        let part: Result<Option<Area>> = self.workers.read(bytes, ceiling, call, &Never);
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
        if !self.workers.isolation.reads {
            return self.inner.decode_part(bytes, info, decode, index, part);
        }
        let call = Call::DecodePart(Box::new(info.clone()), how(decode), index.to_vec(), part);
        let ceiling = self.workers.decode_ceiling(bytes, info, decode);
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }
}

impl ManyScales for Remote<dyn ManyScales> {
    fn decode_at_once(
        &self,
        bytes: &[u8],
        info: &Info,
        decode: &Decode<'_>,
        scales: &[Scales],
    ) -> Result<Option<Vec<Image>>> {
        if !self.workers.isolation.reads {
            return self.inner.decode_at_once(bytes, info, decode, scales);
        }
        let cost = self
            .workers
            .codec
            .decode_cost(bytes.len() as u64, info, Scales::FULL);
        let ceiling = Ceiling::of_memory_limit(decode.limits, cost);
        let call = Call::DecodeAtOnce(Box::new(info.clone()), how(decode), List(scales.to_vec()));
        let images: Option<List<Image>> =
            self.workers.read(bytes, ceiling, call, decode.interrupt)?;
        match images {
            Some(List(images)) if images.len() == scales.len() => Ok(Some(images)),
            Some(_) => Err(Error::Internal(
                "an image for each scale is missing".to_owned(),
            )),
            None => Ok(None),
        }
    }

    fn decodes_at_once(&self, info: &Info, one: Scales, other: Scales) -> bool {
        self.inner.decodes_at_once(info, one, other)
    }
}

impl Vector for Remote<dyn Vector> {
    fn draw_cost(&self, bytes: u64, info: &Info, window: &Window) -> Option<Cost> {
        let cost = self.inner.draw_cost(bytes, info, window)?;
        Some(
            self.workers
                .with_worker_memory(cost, bytes, self.workers.drawn_bytes(info, window)),
        )
    }

    fn draw(
        &self,
        bytes: &[u8],
        info: &Info,
        decode: &Decode<'_>,
        window: &Window,
    ) -> Result<Image> {
        if !self.workers.isolation.reads {
            return self.inner.draw(bytes, info, decode, window);
        }
        let cost = self.inner.draw_cost(bytes.len() as u64, info, window);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost: cost.unwrap_or_default(),
            images: self.workers.drawn_bytes(info, window),
        };
        let call = Call::Draw(Box::new(info.clone()), how(decode), *window);
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }
}

impl GainMaps for Remote<dyn GainMaps> {
    fn gain_map(&self, bytes: &[u8], info: &Info) -> Option<GainHeader> {
        if !self.workers.isolation.headers {
            return self.inner.gain_map(bytes, info);
        }
        let limits = Limits::default();
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost::default(),
            images: 0,
        };
        let call = Call::GainMap(Box::new(info.clone()));
        let deadline = Deadline(Instant::now() + PROBE);
        let map: Result<Option<GainHeader>> = self.workers.read(bytes, ceiling, call, &deadline);
        map.ok().flatten()
    }

    fn decode_gain_map(&self, bytes: &[u8], decode: &Decode<'_>) -> Result<Frame> {
        if !self.workers.isolation.reads {
            return self.inner.decode_gain_map(bytes, decode);
        }
        let ceiling = Ceiling::of_memory_limit(decode.limits, Cost::default());
        let call = Call::DecodeGainMap(how(decode));
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }
}

impl Recoder for Remote<dyn Recoder> {
    fn recodes(&self, bytes: &[u8], info: &Info, to: &str) -> bool {
        if !self.workers.isolation.headers {
            return self.inner.recodes(bytes, info, to);
        }
        let limits = Limits::default();
        let ceiling = Ceiling::of_memory_limit(&limits, Cost::default());
        let call = Call::Recodes(Box::new(info.clone()), to.to_owned());
        let deadline = Deadline(Instant::now() + PROBE);
        let recodes: Result<bool> = self.workers.read(bytes, ceiling, call, &deadline);
        recodes.unwrap_or(false)
    }

    fn recode(
        &self,
        bytes: &[u8],
        info: &Info,
        to: &str,
        decode: &Decode<'_>,
    ) -> Result<Option<Vec<u8>>> {
        if !self.workers.isolation.reads {
            return self.inner.recode(bytes, info, to, decode);
        }
        let cost = self.inner.recode_cost(bytes.len() as u64, info);
        let ceiling = Ceiling::of_memory_limit(decode.limits, cost);
        let call = Call::Recode(Box::new(info.clone()), to.to_owned(), how(decode));
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }

    fn recode_cost(&self, bytes: u64, info: &Info) -> Cost {
        self.inner.recode_cost(bytes, info)
    }
}
