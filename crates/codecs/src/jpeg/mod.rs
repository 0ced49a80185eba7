//! JPEG: our own header reader, decoder and encoder ([`andon_jpeg`]), and libjpeg-turbo ([`turbo`]) for rare kinds of
//! files. Planes are stored without conversion wherever possible.

mod cost;
mod decode;
mod encode;
mod extent;
mod gain_map;
mod turbo;

use andon_jpeg::header::{Colour, Layout};
use andon_jpeg::{Header, segments};
use andon_pixels::cores::Unfinished;
use andon_pixels::{
    Alone, Bound, Codec, Cores, Cost, Decode, Drawn, Encode, Encoder, Error, Format, Frame,
    GainHeader, GainMaps, GainParams, Image, Info, Interrupt, ManyScales, Model, Orientation,
    Parts, Result, Scale, Scales, Space, Subsampling, Tags, Traits, Web, orientation_of,
};
use andon_recipe::{Area, Word, options};

#[cfg(feature = "compare")]
pub(crate) use self::decode::compare::compare;

/// The JPEG codec.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jpeg;

impl Codec for Jpeg {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["jpg", "jpe", "jfif"],
            media_type: "image/jpeg",
            revision: 4,
            web: Some(Web {
                everywhere: true,
                hdr: true,
                drawn: Drawn::Kept,
                lengths: Some([167, 180, 153, 161, 182, 166]),
            }),
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(&[0xff, 0xd8, 0xff])
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let header = header(bytes)?;
        let layout = layout(&header)?;
        let model = model(&layout);
        let block = header.exif.clone().and_then(|range| bytes.get(range));
        Ok(Info {
            space: space(bytes, &header, model),
            orientation: block.map_or_else(Orientation::default, orientation_of),
            quality: header.quality(),
            progressive: header.progressive,
            metadata: header.has_metadata(),
            decoder_bytes: decode::turbo_bytes(bytes, &header, &layout),
            fewest_bytes: header.fewest_bytes(),
            ..Info::new(NAME, header.width, header.height, model)
        })
    }

    fn probes_at_once(&self, bytes: &[u8]) -> bool {
        Header::is_short(bytes)
    }

    fn decode(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<Image> {
        let header = header(bytes)?;
        decode::decode(bytes, &header, how)
    }

    fn salvage(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<Image> {
        let header = header(bytes)?;
        decode::salvage(bytes, &header, how)
    }

    fn extent(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<usize> {
        extent::extent(bytes, how)
    }

    fn end_marker(&self) -> &'static [u8] {
        segments::END
    }

    fn extent_cost(&self, bytes: u64, info: &Info) -> Cost {
        cost::checking(bytes, info)
    }

    fn scales(&self, _info: &Info) -> &'static [Scale] {
        &SCALES
    }

    fn splits_chroma(&self, _info: &Info, luma: Scale) -> bool {
        luma < Scale::FULL
    }

    fn decoded(&self, info: &Info, scales: Scales) -> Traits {
        let model = match info.model {
            Model::YCbCr { sub, .. } => Model::ycbcr(scales.subsampling(sub)),
            model => model,
        };
        Traits {
            model,
            depth: info.depth,
            alpha: info.alpha,
            space: info.space,
        }
    }

    fn decode_cost(&self, bytes: u64, info: &Info, scales: Scales) -> Cost {
        cost::decoding(bytes, info, scales)
    }

    fn hands_on_subsampling(&self) -> bool {
        true
    }

    fn encoder(&self) -> Option<&dyn Encoder> {
        Some(self)
    }

    fn parts(&self) -> Option<&dyn Parts> {
        Some(self)
    }

    fn many_scales(&self) -> Option<&dyn ManyScales> {
        Some(self)
    }

    fn gain_maps(&self) -> Option<&dyn GainMaps> {
        Some(self)
    }
}

impl Parts for Jpeg {
    fn index_cost(&self, bytes: u64, info: &Info) -> Option<Cost> {
        let sequential = !info.progressive && info.decoder_bytes == 0;
        sequential.then(|| cost::indexing(bytes, info))
    }

    fn index(&self, bytes: &[u8], _info: &Info, how: &Decode<'_>) -> Result<Option<Vec<u8>>> {
        let header = header(bytes)?;
        decode::index(bytes, &header, how)
    }

    fn part(&self, bytes: &[u8], info: &Info, index: &[u8], area: Area) -> Option<Area> {
        decode::part(bytes, index, area, (info.width, info.height))
    }

    fn decode_part(
        &self,
        bytes: &[u8],
        _info: &Info,
        how: &Decode<'_>,
        index: &[u8],
        part: Area,
    ) -> Result<Image> {
        let header = header(bytes)?;
        decode::decode_part(bytes, &header, how, index, part)
    }
}

impl ManyScales for Jpeg {
    fn decode_at_once(
        &self,
        bytes: &[u8],
        _info: &Info,
        how: &Decode<'_>,
        scales: &[Scales],
    ) -> Result<Option<Vec<Image>>> {
        let header = header(bytes)?;
        decode::decode_at_once(bytes, &header, how, scales)
    }

    fn decodes_at_once(&self, _info: &Info, one: Scales, other: Scales) -> bool {
        one == other || (one.luma < Scale::FULL && other.luma < Scale::FULL)
    }
}

impl GainMaps for Jpeg {
    fn gain_map(&self, bytes: &[u8], _info: &Info) -> Option<GainHeader> {
        gain_map::read(bytes)
    }

    fn decode_gain_map(&self, bytes: &[u8], how: &Decode<'_>) -> Result<Frame> {
        gain_map::decode(bytes, how)
    }
}

impl Encoder for Jpeg {
    fn holds_gain_map(&self, _params: &GainParams) -> bool {
        true
    }

    fn options(&self) -> &'static [&'static Word] {
        &[&options::QUALITY, &options::PROGRESSIVE, &options::CHROMA]
    }

    fn accepts(&self, have: Traits, how: &Encode) -> Traits {
        encode::accepts(have, how)
    }

    fn encode(&self, image: &Image, how: &Encode, interrupt: &dyn Interrupt) -> Result<Vec<u8>> {
        self.encode_shared(image, how, &Alone, interrupt)
    }

    fn encode_shared(
        &self,
        image: &Image,
        how: &Encode,
        cores: &dyn Cores,
        interrupt: &dyn Interrupt,
    ) -> Result<Vec<u8>> {
        if let Some(map) = &image.gain_map {
            return gain_map::encode(image, map, how, cores, interrupt);
        }
        let file = encode::encode(image, how, cores, interrupt)?;
        let metadata = &image.metadata;
        Ok(segments::with_metadata(
            file,
            metadata.xmp.as_deref(),
            metadata.iptc.as_deref(),
        ))
    }

    fn tags(&self) -> Tags {
        Tags::Icc
    }

    fn says_orientation(&self) -> bool {
        true
    }

    fn inherits_quality(&self) -> bool {
        true
    }

    fn encode_cost(&self, width: u32, height: u32, traits: Traits, how: &Encode) -> Cost {
        cost::encoding(width, height, traits, how)
    }
}

/// Reads a file's header up to the first scan.
fn header(bytes: &[u8]) -> Result<Header> {
    Header::read(bytes).map_err(error)
}

/// Returns the planes that a file's components are decoded to.
fn layout(header: &Header) -> Result<Layout> {
    Layout::of(header).map_err(error)
}

/// Returns the colour model of planes with this layout.
fn model(layout: &Layout) -> Model {
    match layout.colour {
        Colour::Gray => Model::Gray,
        Colour::YCbCr => Model::ycbcr(Subsampling {
            h: layout.sub.h,
            v: layout.sub.v,
        }),
        Colour::Rgb => Model::Rgb,
        Colour::Cmyk | Colour::Ycck => Model::Cmyk,
    }
}

/// Returns the colour space of a file's ICC profile, or unspecified if it has none.
fn space(bytes: &[u8], header: &Header, model: Model) -> Space {
    let profile = header.icc_profile(bytes);
    profile.map_or(Space::UNSPECIFIED, |icc| Space::of_profile(&icc, model))
}

/// Converts an error of the decoder or encoder.
fn error(why: andon_jpeg::Error) -> Error {
    match why {
        andon_jpeg::Error::Broken(why) => Error::broken(NAME, why),
        andon_jpeg::Error::Unsupported(feature) => Error::Unsupported {
            format: NAME,
            what: feature.to_string(),
        },
        andon_jpeg::Error::Unfit(why) => {
            Error::Internal(format!("planes that JPEG cannot hold: {why}"))
        }
        andon_jpeg::Error::Interrupted => Error::Interrupted,
        andon_jpeg::Error::Limit {
            bound,
            value,
            limit,
        } => Error::Limit {
            bound: match bound {
                andon_jpeg::Bound::Memory => Bound::MEMORY,
                andon_jpeg::Bound::Scans => Bound::SCANS,
            },
            value,
            limit,
        },
        andon_jpeg::Error::Panicked => Unfinished::Panicked.into(),
    }
}

const NAME: &str = "jpeg";

/// The scales at which JPEGs can be decoded, the smallest first.
pub(crate) const SCALES: [Scale; 4] = [Scale::EIGHTH, Scale::QUARTER, Scale::HALF, Scale::FULL];
