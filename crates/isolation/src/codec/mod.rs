//! A codec whose work on untrusted bytes is done by worker processes.

mod capabilities;
mod encoder;
mod session;
mod workers;

use std::time::Instant;

use andon_pixels::{
    AnimationDecoder, Codec, Cost, Decode, Drawings, Encoder, Error, Format, GainMaps, Image, Info,
    Isolation, Limits, ManyScales, Parts, Recoder, Result, Scale, Scales, Traits, Vector,
};

use self::capabilities::Remote;
use self::encoder::RemoteEncoder;
use self::workers::{Ceiling, Deadline, PROBE, Workers, how};
use crate::facts::Facts;
use crate::job::Call;
use crate::pool::Pool;

/// A codec that reads or writes files in worker processes.
pub(crate) struct Isolated {
    workers: Workers,
    facts: Facts,
    encoder: Option<RemoteEncoder>,
    animation: Option<Remote<dyn AnimationDecoder>>,
    parts: Option<Remote<dyn Parts>>,
    many_scales: Option<Remote<dyn ManyScales>>,
    vector: Option<Remote<dyn Vector>>,
    gain_maps: Option<Remote<dyn GainMaps>>,
    recoder: Option<Remote<dyn Recoder>>,
}

impl Isolated {
    /// Wraps a codec so that the workers of `pool` do the operations that `isolation` selects.
    pub(crate) fn new(
        codec: &'static dyn Codec,
        pool: &'static Pool,
        isolation: Isolation,
    ) -> Self {
        let workers = Workers {
            codec,
            pool,
            isolation,
        };
        Self {
            workers,
            facts: Facts::default(),
            encoder: codec.encoder().map(|encoder| RemoteEncoder {
                remote: Remote {
                    inner: encoder,
                    workers,
                },
                animation: (encoder.animation()).map(|inner| Remote { inner, workers }),
            }),
            animation: codec.animation().map(|inner| Remote { inner, workers }),
            parts: codec.parts().map(|inner| Remote { inner, workers }),
            many_scales: codec.many_scales().map(|inner| Remote { inner, workers }),
            vector: codec.vector().map(|inner| Remote { inner, workers }),
            gain_maps: codec.gain_maps().map(|inner| Remote { inner, workers }),
            recoder: codec.recoder().map(|inner| Remote { inner, workers }),
        }
    }
}

impl Codec for Isolated {
    fn format(&self) -> Format {
        self.workers.codec.format()
    }

    fn sniff(&self, head: &[u8]) -> bool {
        self.workers.codec.sniff(head)
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        if !self.workers.isolation.headers {
            return self.workers.codec.probe(bytes);
        }
        let limits = Limits::default();
        let ceiling = Ceiling {
            limits: &limits,
            cost: Cost {
                nanos: 0,
                scratch: limits.metadata_bytes,
            },
            images: 0,
        };
        let deadline = Deadline(Instant::now() + PROBE);
        self.facts.of(bytes, || {
            let info: Info = self.workers.read(bytes, ceiling, Call::Probe, &deadline)?;
            match info.format == self.workers.codec.name() {
                true => Ok(info),
                false => Err(Error::Internal("facts of another format".to_owned())),
            }
        })
    }

    fn probes_at_once(&self, bytes: &[u8]) -> bool {
        !self.workers.isolation.headers && self.workers.codec.probes_at_once(bytes)
    }

    fn decode(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Image> {
        if !self.workers.isolation.reads {
            return self.workers.codec.decode(bytes, info, decode);
        }
        let call = Call::Decode(Box::new(info.clone()), how(decode));
        let ceiling = self.workers.decode_ceiling(bytes, info, decode);
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }

    fn salvage(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<Image> {
        if !self.workers.isolation.reads {
            return self.workers.codec.salvage(bytes, info, decode);
        }
        let call = Call::Salvage(Box::new(info.clone()), how(decode));
        let ceiling = self.workers.decode_ceiling(bytes, info, decode);
        self.workers.read(bytes, ceiling, call, decode.interrupt)
    }

    fn extent(&self, bytes: &[u8], info: &Info, decode: &Decode<'_>) -> Result<usize> {
        if !self.workers.isolation.reads {
            return self.workers.codec.extent(bytes, info, decode);
        }
        let cost = self.workers.codec.extent_cost(bytes.len() as u64, info);
        let ceiling = Ceiling {
            limits: decode.limits,
            cost,
            images: 0,
        };
        let call = Call::Extent(Box::new(info.clone()), how(decode));
        let length: usize = self.workers.read(bytes, ceiling, call, decode.interrupt)?;
        Ok(length.min(bytes.len()))
    }

    fn end(&self, bytes: &[u8], decode: &Decode<'_>) -> Result<usize> {
        if !self.workers.isolation.reads {
            return self.workers.codec.end(bytes, decode);
        }
        let ceiling = Ceiling::of_memory_limit(decode.limits, Cost::default());
        let length: usize =
            self.workers
                .read(bytes, ceiling, Call::End(how(decode)), decode.interrupt)?;
        Ok(length.min(bytes.len()))
    }

    fn end_marker(&self) -> &'static [u8] {
        self.workers.codec.end_marker()
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        self.workers
            .with_worker_memory(self.workers.codec.extent_cost(bytes, info), bytes, 0)
    }

    fn scales(&self, info: &Info) -> &'static [Scale] {
        self.workers.codec.scales(info)
    }

    fn splits_chroma(&self, info: &Info, luma: Scale) -> bool {
        self.workers.codec.splits_chroma(info, luma)
    }

    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        self.workers.codec.decoded(info, scales)
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        let cost = self.workers.codec.decode_cost(bytes, info, scales);
        self.workers
            .with_worker_memory(cost, bytes, self.workers.decoded_bytes(info, scales))
    }

    fn instead(&self, info: &Info) -> Option<&'static str> {
        self.workers.codec.instead(info)
    }

    fn hands_on_subsampling(&self) -> bool {
        self.workers.codec.hands_on_subsampling()
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        self.encoder.as_ref().map(|remote| remote as &dyn Encoder)
    }

    fn animation(&self) -> Option<&dyn AnimationDecoder> {
        self.animation
            .as_ref()
            .map(|remote| remote as &dyn AnimationDecoder)
    }

    fn parts(&self) -> Option<&dyn Parts> {
        self.parts.as_ref().map(|remote| remote as &dyn Parts)
    }

    fn many_scales(&self) -> Option<&dyn ManyScales> {
        self.many_scales
            .as_ref()
            .map(|remote| remote as &dyn ManyScales)
    }

    fn vector(&self) -> Option<&dyn Vector> {
        self.vector.as_ref().map(|remote| remote as &dyn Vector)
    }

    fn drawings(&self) -> Option<&dyn Drawings> {
        self.workers.codec.drawings()
    }

    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        self.gain_maps
            .as_ref()
            .map(|remote| remote as &dyn GainMaps)
    }

    fn recoder(&self) -> Option<&dyn Recoder> {
        self.recoder.as_ref().map(|remote| remote as &dyn Recoder)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    /// Returns the names of the functions in each trait or implementation of a source file, by the name of the trait.
    /// `kind` is the text that precedes the trait's name: a line break with `pub trait ` or `impl `.
    fn functions<'a>(source: &'a str, kind: &str) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let blocks = source.split(kind).skip(1);
        let block = |block: &'a str| {
            let lines = block.lines().take_while(|line| *line != "}");
            let declared = lines.filter_map(|line| line.strip_prefix("    fn "));
            let names = declared.filter_map(|rest| rest.split(['(', '<']).next());
            (
                block.split([':', ' ']).next().unwrap_or_default(),
                names.collect(),
            )
        };
        blocks.map(block).collect()
    }

    #[test]
    fn every_method_of_a_codec_is_handed_on() {
        let declared = [
            include_str!("../../../pixels/src/codec/mod.rs"),
            include_str!("../../../pixels/src/codec/capabilities.rs"),
            include_str!("../../../pixels/src/codec/encoder.rs"),
        ];
        let answered = [
            include_str!("mod.rs"),
            include_str!("capabilities.rs"),
            include_str!("encoder.rs"),
        ];
        let declared: BTreeMap<_, _> = (declared.iter())
            .flat_map(|source| functions(source, "\npub trait "))
            .collect();
        let answered: BTreeMap<_, _> = (answered.iter())
            .flat_map(|source| functions(source, "\nimpl "))
            .collect();
        let own = BTreeSet::from(["name", "isolation"]);
        let nothing = BTreeSet::new();
        let mut count = 0;
        for (capability, methods) in &declared {
            let answered = answered.get(capability).unwrap_or(&nothing);
            let missing: Vec<_> = methods
                .difference(answered)
                .filter(|it| !own.contains(**it))
                .collect();
            assert!(missing.is_empty(), "{capability}: {missing:?}");
            count += methods.len();
        }
        assert!(declared.len() == 9 && count > 50, "{declared:?}");
    }
}
