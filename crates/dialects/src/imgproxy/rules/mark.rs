//! The watermark of a result: the configured one, whose size is known, or any image that a URL names.

use andon_recipe::{Bounds, Colour, Effect, Fit, Length, Orient, Rotate, Step};

use super::super::layout::Layout;
use super::super::options::Watermark;
use super::{ImgproxyRules, effect, px};
use crate::effects::Overlay;

impl ImgproxyRules {
    /// Returns the step that lays the watermark on the result.
    pub(super) fn mark(&self, layout: &Layout) -> Option<Step> {
        let asked = &self.options.watermark;
        let configured = self.house.watermark.as_ref();
        let outer = layout.size();
        if let Some(text) = asked.text.as_ref().filter(|_| asked.opacity > 0.0) {
            let opacity = asked.opacity * configured.map_or(1.0, |mark| mark.opacity);
            return asked.written(text, opacity, outer, layout.dpr);
        }
        if asked.file.is_some() || asked.angle != 0.0 || asked.is_sized() {
            let file = asked.file.as_ref().or(configured.map(|mark| &mark.file))?;
            let opacity = asked.opacity * configured.map_or(1.0, |mark| mark.opacity);
            return asked.of_any_size(file, opacity, outer, layout.dpr).step();
        }
        let mark = configured.filter(|_| asked.opacity > 0.0)?;
        let own = (f64::from(mark.size.0), f64::from(mark.size.1));
        let down = match asked.scale {
            0.0 => 1.0,
            scale => {
                let most = |side: i64| (side as f64 * scale).round().max(1.0);
                (most(outer.0) / own.0).min(most(outer.1) / own.1)
            }
        };
        let side = |own: f64| ((own * down).round() as i64).max(1);
        let size = (side(own.0), side(own.1));
        let (x, y) = match asked.tiled {
            true => (0, 0),
            false => asked.gravity.place(outer, size, layout.dpr, true),
        };
        let opacity = (asked.opacity * mark.opacity * 100.0).round() as i64;
        let mut args = vec![mark.file.clone(), x.to_string(), y.to_string()];
        if opacity == 100 && size == (own.0 as i64, own.1 as i64) && !asked.tiled {
            return effect(Effect::OVER, args);
        }
        args.extend([opacity, size.0, size.1].map(|number| number.to_string()));
        args.extend(asked.tiled.then(|| "tile".to_owned()));
        effect("overlay", args)
    }
}

impl Watermark {
    /// Whether `size` says how large the watermark is.
    fn is_sized(&self) -> bool {
        self.scale == 0.0 && self.size != (0, 0)
    }

    /// Returns the step that writes a text as the watermark on a result of the size `outer`, in px.
    fn written(&self, text: &str, opacity: f64, outer: (i64, i64), dpr: f64) -> Option<Step> {
        let text = plain(text);
        let (corner, (x, y)) = self.gravity.corner(outer, dpr);
        let ink = Colour {
            a: (opacity.clamp(0.0, 1.0) * 255.0).round() as u8,
            ..Colour::BLACK
        };
        let most = |side: i64| px((side as f64 * self.scale).round().max(1.0) as i64);
        let (w, h) = match self.scale {
            0.0 => self.size,
            _ => (most(outer.0), most(outer.1)),
        };
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
            // One line, as large as fits: nothing but a hyphen and a space would end a line of Latin letters.
            args[0] = text.replace(' ', "\u{a0}").replace('-', "-\u{2060}");
            LARGEST.clone_into(&mut args[1]);
            let side = |side: u32| side.min(FARTHEST as u32);
            args.push(format!("{}x{}", side(w), side(h)));
            args.push("shrink".to_owned());
        }
        effect(Effect::TEXT, args)
    }

    /// Returns the watermark, whose own size is not known, on a result of the size `outer`, in px.
    fn of_any_size(&self, file: &str, opacity: f64, outer: (i64, i64), dpr: f64) -> Overlay {
        let most = |side: i64| px((side as f64 * self.scale).round().max(1.0) as i64);
        let within = match self.scale {
            0.0 => self.size,
            _ => (most(outer.0), most(outer.1)),
        };
        let turn = Rotate {
            degrees: self.angle % 360.0,
            colour: Colour::CLEAR,
        };
        let mut recipe = Vec::new();
        if turn.degrees != 0.0 {
            let inside = match within {
                (0, 0) => None,
                (w, 0) => Some(Bounds::Width(Length::Px(w.into()))),
                (0, h) => Some(Bounds::Height(Length::Px(h.into()))),
                (w, h) => Some(Bounds::Both(Length::Px(w.into()), Length::Px(h.into()))),
            };
            let enlarge = true;
            let fit = inside.map(|inside| Step::Fit(Fit { inside, enlarge }));
            recipe.push(Step::Orient(Orient));
            recipe.extend(fit);
            recipe.push(Step::Rotate(turn));
        }
        Overlay {
            file: file.to_owned(),
            at: match self.tiled {
                true => ("0".to_owned(), "0".to_owned()),
                false => self.gravity.place_of_any(outer, dpr),
            },
            opacity: opacity * 100.0,
            size: if recipe.is_empty() { within } else { (0, 0) },
            mode: if self.tiled { "tile" } else { "normal" },
            shape: match within {
                (1.., 1..) if recipe.is_empty() => "inside",
                _ => "exact",
            },
            recipe,
            around: None,
        }
    }
}

/// Size of a text in px, where its URL says none.
const SIZE: &str = "16";

/// The largest size of letters in px that the engine draws. They are made smaller until they fit.
const LARGEST: &str = "10000";

/// The largest length in px that a text may have as its margin or box.
const FARTHEST: i64 = 10_000;

/// Returns a text without the tags and escapes of Pango's markup.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        plain.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let plain = plain.replace("&lt;", "<").replace("&gt;", ">");
    plain
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&")
}
