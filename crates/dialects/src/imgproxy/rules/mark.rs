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
        }
    }
}
