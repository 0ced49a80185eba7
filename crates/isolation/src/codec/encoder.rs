//! Encoding in worker processes.

use andon_pixels::{
    AnimationEncoder, Cores, Cost, Encode, Encoder, FrameWriter, GainParams, Head, Image,
    Interrupt, Limits, Result, Tags, Traits,
};
use andon_recipe::Word;

use super::capabilities::Remote;
use super::session::{RemoteWriter, Session};
use super::workers::{Ceiling, FACTS, WRITING, bytes_of};
use crate::job::{Call, Job, Kind};
use crate::pool::{Lease, Question};
use crate::wire::Output;

/// An encoder whose work is done by worker processes.
pub(super) struct RemoteEncoder {
    pub(super) remote: Remote<dyn Encoder>,
    pub(super) animation: Option<Remote<dyn AnimationEncoder>>,
}

impl Encoder for RemoteEncoder {
    fn holds_gain_map(&self, params: &GainParams) -> bool {
        self.remote.inner.holds_gain_map(params)
    }

    fn options(&self) -> &'static [&'static Word] {
        self.remote.inner.options()
    }

    fn accepts(&self, have: Traits, encode: &Encode) -> Traits {
        self.remote.inner.accepts(have, encode)
    }

    fn encode(&self, image: &Image, encode: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        if !self.remote.workers.isolation.writes {
            return self.remote.inner.encode(image, encode, interrupt);
        }
        let frame = &image.frame;
        let limits = Limits::default();
        let traits = frame.traits();
        let cost = self
            .remote
            .inner
            .encode_cost(frame.width, frame.height, traits, encode);
        let spread = self.remote.inner.encode_spread(encode);
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost {
                nanos: cost.nanos.saturating_mul(spread),
                ..cost
            },
            // The image, and a file that is no larger.
            images: image.bytes().saturating_mul(2),
        };
        let call = Call::Encode(Box::new(image.clone()), encode.clone());
        let job = self.remote.workers.job(&[], ceiling, call);
        Lease::new(self.remote.workers.pool, false, interrupt)?.ask(&Question {
            kind: Kind::Job,
            message: Output::of(&job),
            most: ceiling.images.saturating_add(FACTS),
            format: self.remote.workers.codec.name(),
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
        match self.remote.workers.isolation.writes {
            true => self.encode(image, encode, interrupt),
            false => self
                .remote
                .inner
                .encode_shared(image, encode, cores, interrupt),
        }
    }

    fn tags(&self) -> Tags {
        self.remote.inner.tags()
    }

    fn says_orientation(&self) -> bool {
        self.remote.inner.says_orientation()
    }

    fn inherits_quality(&self) -> bool {
        self.remote.inner.inherits_quality()
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, encode: &Encode) -> Cost {
        let cost = self.remote.inner.encode_cost(width, height, traits, encode);
        match self.remote.workers.isolation.writes {
            true => cost.and_scratch(bytes_of(width, height, traits)),
            false => cost,
        }
    }

    fn encode_spread(&self, encode: &Encode) -> u64 {
        self.remote.inner.encode_spread(encode)
    }

    fn animation(&self) -> Option<&dyn AnimationEncoder> {
        let remote = self.animation.as_ref();
        remote.map(|remote| remote as &dyn AnimationEncoder)
    }
}

impl AnimationEncoder for Remote<dyn AnimationEncoder> {
    fn requested_as(&self) -> &'static str {
        self.inner.requested_as()
    }

    fn moves_everywhere(&self) -> bool {
        self.inner.moves_everywhere()
    }

    fn writer<'a>(
        &self,
        head: &Head,
        encode: &Encode,
        interrupt: &'a dyn Interrupt,
    ) -> Result<Box<dyn FrameWriter + 'a>> {
        if !self.workers.isolation.writes {
            return self.inner.writer(head, encode, interrupt);
        }
        let limits = Limits::default();
        let cost = self
            .inner
            .frame_cost(head.width, head.height, head.traits, encode);
        let ceiling = Ceiling::of_memory_limit(&limits, cost);
        let call = Call::Write(Box::new(head.clone()), encode.clone());
        let job = Job {
            seconds: WRITING,
            ..self.workers.job(&[], ceiling, call)
        };
        let (session, ()) = Session::begin(self.workers, &job, &[], limits.memory, interrupt)?;
        Ok(Box::new(RemoteWriter { session, bytes: 0 }))
    }

    fn frame_cost(&self, width: u32, height: u32, traits: Traits, encode: &Encode) -> Cost {
        self.inner.frame_cost(width, height, traits, encode)
    }
}
