//! Decodes the body of a response to samples that can be compared and displayed.

use andon_codecs::ALL;
use andon_pixels::{Engine, Frame, Limits, Model, Plane, Run, color};
use andon_recipe::Recipe;

/// An image as interleaved 8-bit RGB. Transparent parts are composited onto white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodedImage {
    /// Format of the encoded image, e.g. `jpeg`.
    pub format: &'static str,
    /// Width in px.
    pub width: u32,
    /// Height in px.
    pub height: u32,
    /// Number of frames in the encoded image. The samples are those of the first frame.
    pub frames: u32,
    /// Samples of all pixels, row by row: 3 × width × height bytes.
    pub rgb: Vec<u8>,
}

impl DecodedImage {
    /// Decodes the complete body of a response.
    ///
    /// # Errors
    /// The reason why the body is not a complete image, as a message for the user.
    pub fn decode(body: &[u8]) -> Result<Self, String> {
        Self::render(body, "as:png")
    }

    /// Decodes the complete body of a response, and scales the image to a width and a height in px.
    ///
    /// # Errors
    /// The reason why the body is not a complete image or cannot be scaled to this size, as a message for the user.
    pub fn decode_at(body: &[u8], [width, height]: [u32; 2]) -> Result<Self, String> {
        Self::render(body, &format!("exact:{width}x{height},as:png"))
    }

    fn render(body: &[u8], recipe: &str) -> Result<Self, String> {
        let engine = Engine::new(ALL, Limits::default());
        let in_words = |error: andon_pixels::Error| error.to_string();
        let recipe: Recipe = recipe
            .parse()
            .map_err(|_| format!("{recipe} is no recipe"))?;
        let info = engine.probe(body).map_err(in_words)?;
        let plan = engine.plan(&recipe, body).map_err(in_words)?;
        let frame = engine
            .render_frame(&plan, Run::of(body))
            .map_err(in_words)?;
        let rgb = interleave(&frame)
            .ok_or_else(|| format!("{} cannot be shown as RGB", color::name(frame.traits())))?;
        Ok(Self {
            format: info.format,
            width: frame.width,
            height: frame.height,
            frames: info.frames,
            rgb,
        })
    }

    /// Returns the luma (BT.601) of each pixel, from 0 to 255.
    #[must_use]
    pub fn luma(&self) -> Vec<f32> {
        let (pixels, _) = self.rgb.as_chunks::<3>();
        pixels
            .iter()
            .map(|&[r, g, b]| 0.299 * f32::from(r) + 0.587 * f32::from(g) + 0.114 * f32::from(b))
            .collect()
    }

    /// Returns a PNG file with the image scaled to fit a square with sides of `side` px, as a preview of a response.
    ///
    /// # Errors
    /// The reason why `body` cannot be decoded or the preview cannot be encoded, as a message for the user.
    pub fn thumbnail(body: &[u8], side: u32) -> Result<Vec<u8>, String> {
        let engine = Engine::new(ALL, Limits::default());
        let in_words = |error: andon_pixels::Error| error.to_string();
        let recipe = format!("fit:{side}x{side},as:png");
        let recipe: Recipe = recipe
            .parse()
            .map_err(|_| format!("{recipe} is no recipe"))?;
        let plan = engine.plan(&recipe, body).map_err(in_words)?;
        let rendered = engine.run(&plan, Run::of(body)).map_err(in_words)?;
        Ok(rendered.bytes(body).to_vec())
    }
}

fn interleave(frame: &Frame) -> Option<Vec<u8>> {
    let planes: Vec<Vec<u8>> = frame.planes.iter().map(eight_bits).collect();
    let alpha = frame.alpha.as_ref().map(eight_bits);
    let (r, g, b) = match (frame.model, planes.as_slice()) {
        (Model::Gray, [gray]) => (gray, gray, gray),
        (Model::Rgb, [r, g, b]) => (r, g, b),
        _ => return None,
    };
    let pixels = r.iter().zip(g).zip(b).enumerate();
    Some(
        pixels
            .flat_map(|(at, ((&r, &g), &b))| {
                let opacity = alpha.as_ref().map_or(255, |alpha| alpha[at]);
                [r, g, b].map(|sample| on_white(sample, opacity))
            })
            .collect(),
    )
}

fn on_white(sample: u8, opacity: u8) -> u8 {
    let (sample, opacity) = (u32::from(sample), u32::from(opacity));
    ((sample * opacity + 255 * (255 - opacity) + 127) / 255) as u8
}

fn eight_bits(plane: &Plane) -> Vec<u8> {
    match plane {
        Plane::U8(grid) => grid.samples().to_vec(),
        Plane::U16(grid) => grid
            .samples()
            .iter()
            .map(|&sample| (sample >> 8) as u8)
            .collect(),
    }
}
