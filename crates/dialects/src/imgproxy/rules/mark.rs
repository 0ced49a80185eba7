//! The watermark of a result: the configured image, whose size may be known, an image that a URL names, or a text.

use andon_recipe::{Colour, Effect, Pad, Rotate, Step};

use super::super::layout::Layout;
use super::super::options::Watermark;
use super::{ImgproxyRules, effect, px};
use crate::effects::{Overlay, number};

impl ImgproxyRules {
    /// Returns the step that draws the watermark on the result, if there is one.
    pub(super) fn mark(&self, layout: &Layout) -> Option<Step> {
        let options = &self.options.watermark;
        let common_mark = self.common.watermark.as_ref();
        let outer = layout.size();
        if let Some(text) = options.text.as_ref().filter(|_| options.opacity > 0.0) {
            let opacity = options.opacity * common_mark.map_or(1.0, |mark| mark.opacity);
            return options.text_step(text, opacity, outer, layout.dpr);
        }
        let is_spaced = options.tiled && options.gravity.spacing(outer, layout.dpr) != (0, 0);
        let is_changed = options.angle != 0.0 || options.shadow > 0.0 || is_spaced;
        if options.file.is_some() || is_changed || options.is_sized() {
            let file = options
                .file
                .as_ref()
                .or(common_mark.map(|mark| &mark.file))?;
            let opacity = options.opacity * common_mark.map_or(1.0, |mark| mark.opacity);
            return options.of_any_size(file, opacity, outer, layout.dpr).step();
        }
        let mark = common_mark.filter(|_| options.opacity > 0.0)?;
        let Some((width, height)) = mark.size else {
            let opacity = options.opacity * mark.opacity;
            return options
                .of_any_size(&mark.file, opacity, outer, layout.dpr)
                .step();
        };
        let file_size = (f64::from(width), f64::from(height));
        let factor = match options.scale {
            0.0 => 1.0,
            scale => {
                let most = |side: i64| (side as f64 * scale).round().max(1.0);
                (most(outer.0) / file_size.0).min(most(outer.1) / file_size.1)
            }
        };
        let side = |file_size: f64| ((file_size * factor).round() as i64).max(1);
        let size = (side(file_size.0), side(file_size.1));
        let (x, y) = match options.tiled {
            true => (0, 0),
            false => options.gravity.place(outer, size, layout.dpr, true),
        };
        let opacity = (options.opacity * mark.opacity * 100.0).round() as i64;
        let mut args = vec![mark.file.clone(), x.to_string(), y.to_string()];
        if opacity == 100 && size == (file_size.0 as i64, file_size.1 as i64) && !options.tiled {
            return effect(Effect::OVER, args);
        }
        args.extend([opacity, size.0, size.1].map(|number| number.to_string()));
        args.extend(options.tiled.then(|| "tile".to_owned()));
        effect("overlay", args)
    }
}

impl Watermark {
    /// Whether `size`, rather than `scale`, sets the size of the watermark.
    fn is_sized(&self) -> bool {
        self.scale == 0.0 && self.size != (0, 0)
    }

    /// Returns the step that draws a text as the watermark on a result of the size `outer`, in px.
    fn text_step(&self, text: &str, opacity: f64, outer: (i64, i64), dpr: f64) -> Option<Step> {
        let text = without_markup(text);
        let (corner, (x, y)) = match self.tiled {
            true => ("centre".to_owned(), (0, 0)),
            false => self.gravity.corner(outer, dpr),
        };
        let opacity = opacity.clamp(0.0, 1.0);
        let ink = match self.shadow > 0.0 {
            // The letters must be opaque to hide their own shadow; the opacity is applied to both together.
            true => Colour::BLACK,
            false => Colour {
                a: (opacity * 255.0).round() as u8,
                ..Colour::BLACK
            },
        };
        let (w, h) = self.room(outer);
        let within = |offset: i64| offset.clamp(-FARTHEST, FARTHEST);
        let margins = format!("{}x{}", within(x), within(y));
        let mut args = vec![
            String::new(),
            SIZE.to_owned(),
            ink.to_string(),
            corner,
            margins,
        ];
        if (w, h) == (0, 0) {
            args[0] = text;
        } else {
            // The text stays on one line, as large as fits. Lines of Latin letters break only at spaces and hyphens.
            args[0] = text.replace(' ', "\u{a0}").replace('-', "-\u{2060}");
            LARGEST.clone_into(&mut args[1]);
            let side = |side: u32| side.min(FARTHEST as u32);
            args.push(format!("{}x{}", side(w), side(h)));
            args.push("shrink".to_owned());
        }
        if self.shadow > 0.0 {
            args.push(format!("shadow={}", number(self.sigma())));
            if opacity < 1.0 {
                args.push(format!("opacity={}", number(opacity * 100.0)));
            }
        }
        if self.angle % 360.0 != 0.0 {
            args.push(format!("turn={}", number(self.angle % 360.0)));
        }
        if self.tiled {
            let (across, down) = self.gravity.spacing(outer, dpr);
            args.push(format!("tile={}x{}", within(across), within(down)));
        }
        effect(Effect::TEXT, args)
    }

    /// Returns width and height in px into which the watermark is fitted on a result of the size `outer`. 0: no limit.
    fn room(&self, outer: (i64, i64)) -> (u32, u32) {
        let most = |side: i64| px((side as f64 * self.scale).round().max(1.0) as i64);
        match self.scale {
            0.0 => self.size,
            _ => (most(outer.0), most(outer.1)),
        }
    }

    /// Returns the standard deviation in px of the shadow's blur.
    fn sigma(&self) -> f64 {
        self.shadow.min(MOST_BLURRED)
    }

    /// Returns the steps that turn the watermark image and add space around it, and the width in px of the margin that
    /// they add for its shadow.
    fn changes(&self, outer: (i64, i64), dpr: f64) -> (Vec<Step>, u32) {
        let degrees = self.angle % 360.0;
        let shadow = if self.shadow > 0.0 { self.sigma() } else { 0.0 };
        // Beyond three standard deviations, a Gaussian is invisible.
        let margin = (3.0 * shadow).ceil() as u32;
        let (across, down) = match self.tiled {
            true => self.gravity.spacing(outer, dpr),
            false => (0, 0),
        };
        let pad = Pad {
            top: margin + px(down / 2),
            bottom: margin + px(down - down / 2),
            left: margin + px(across / 2),
            right: margin + px(across - across / 2),
            colour: Colour::CLEAR,
        };
        let turn = Step::Rotate(Rotate {
            degrees,
            colour: Colour::CLEAR,
        });
        let mut steps = Vec::new();
        steps.extend((degrees != 0.0).then_some(turn));
        let sides = [pad.top, pad.right, pad.bottom, pad.left];
        if sides.iter().any(|side| *side > 0) {
            steps.push(Step::Pad(pad));
        }
        if shadow > 0.0 {
            steps.extend(effect("shadow", vec![number(shadow)]));
        }
        (steps, margin)
    }

    /// Returns the overlay for a watermark whose own size is unknown, on a result of the size `outer`, in px.
    fn of_any_size(&self, file: &str, opacity: f64, outer: (i64, i64), dpr: f64) -> Overlay {
        let (steps, margin) = self.changes(outer, dpr);
        let size = self.room(outer);
        let overlay = Overlay {
            file: file.to_owned(),
            at: match self.tiled {
                true => ("0".to_owned(), "0".to_owned()),
                false => self.gravity.place_of_any(outer, dpr, margin.into()),
            },
            opacity: opacity * 100.0,
            size,
            mode: if self.tiled { "tile" } else { "normal" },
            shape: match size {
                (1.., 1..) => "inside",
                _ => "exact",
            },
            recipe: Vec::new(),
            colour_outside: None,
        };
        overlay.with_steps(steps)
    }
}

/// The largest standard deviation in px of a shadow's blur.
const MOST_BLURRED: f64 = 100.0;

/// Default size of a text, in px.
const SIZE: &str = "16";

/// The largest size of letters in px that the engine draws. It shrinks them until the text fits into its box.
const LARGEST: &str = "10000";

/// The largest length in px that the engine accepts as margin or box of a text.
const FARTHEST: i64 = 10_000;

/// Returns a text without the tags and escapes of Pango's markup.
fn without_markup(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        result.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    result.push_str(rest);
    let result = result.replace("&lt;", "<").replace("&gt;", ">");
    result
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
