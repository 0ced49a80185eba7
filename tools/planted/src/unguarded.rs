//! SVG as read by the library resvg, without the guards that [`andon_codecs`] adds.

use andon_pixels::{
    Codec, Cost, Decode, Error, Format, Frame, Grid, Image, Info, Isolation, Model, Plane, Result,
    Scales,
};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// An SVG codec without guards. It draws at the size that the drawing declares.
pub(crate) struct Unguarded;

const NAME: &str = "svg";

fn parsed(bytes: &[u8]) -> Result<Tree> {
    Tree::from_data(bytes, &Options::default())
        .map_err(|error| Error::broken(NAME, error.to_string()))
}

impl Codec for Unguarded {
    fn format(&self) -> Format {
        Format {
            name: NAME,
            aliases: &["svgz"],
            media_type: "image/svg+xml",
            revision: 1,
            web: None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        head.starts_with(b"<svg") || head.starts_with(b"<?xml")
    }

    fn isolation(&self) -> Isolation {
        Isolation::READS
    }

    fn probe(&self, bytes: &[u8]) -> Result<Info> {
        let size = parsed(bytes)?.size().to_int_size();
        Ok(Info::new(NAME, size.width(), size.height(), Model::Rgb))
    }

    fn decode(&self, bytes: &[u8], info: &Info, _how: &Decode<'_>) -> Result<Image> {
        let tree = parsed(bytes)?;
        let mut canvas = Pixmap::new(info.width, info.height)
            .ok_or_else(|| Error::broken(NAME, "it has no size"))?;
        resvg::render(&tree, Transform::identity(), &mut canvas.as_mut());
        let plane = |channel: usize| {
            let samples = canvas.data().iter().skip(channel).step_by(4).copied();
            Grid::from_samples(info.width, info.height, samples.collect()).map(Plane::U8)
        };
        let planes = (0..3).map(plane).collect::<Result<_>>()?;
        Ok(Image::still(Frame::new(
            Model::Rgb,
            info.width,
            info.height,
            planes,
            None,
        )?))
    }

    fn decode_cost(&self, bytes: u64, info: &Info, _scales: Scales) -> Cost {
        Cost {
            nanos: 500 * bytes + 40 * info.pixels(),
            scratch: (64 << 20) + 8 * info.pixels(),
        }
    }

    fn instead(&self, _info: &Info) -> Option<&'static str> {
        Some("png")
    }
}
