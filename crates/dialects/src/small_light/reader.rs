//! Combines the options of ngx_small_light, each converted to its type, into rules.

use andon_recipe::args::Kind;
use andon_recipe::{Arg, Background, Colour, Effect, FormatName, Length, Output, Turn};

use super::engine::Engine;
use super::options::Options;
use super::params::{PARAMETERS, parameter};
use super::rules::{Fit, Ground, Original, Region, Size, SmallLightRules};
use super::values::{Coord, Geometry, colour, float, int, prefix};
use super::{Compat, Notes, SmallLightConfig};
use crate::geometry;
use crate::refusal::{Refusal, shorten};

/// Returns the rules for these options.
///
/// # Errors
/// An overlay image outside its folder, a canvas without pixels, or in strict mode a format that the engine cannot
/// write.
pub(super) fn read(
    options: &Options<'_>,
    config: &SmallLightConfig,
    notes: &mut Notes,
) -> Result<SmallLightRules, Refusal> {
    let engine = engine(options, notes);
    let mut reader = Reader {
        options,
        config,
        engine,
        notes,
    };
    reader.mention_ignored();
    reader.mention_misread();
    let flag = |name| engine == Engine::ImageMagick && options.flag(name);
    let loses_metadata = engine != Engine::ImageMagick;
    let mut rules = SmallLightRules {
        original: reader.original(),
        hint: None,
        strip: loses_metadata || flag("rmprof"),
        orient: flag("autoorient"),
        turn: reader.turn(),
        region: reader.region(),
        size: reader.size(),
        canvas: reader.canvas()?,
        srgb: loses_metadata || flag("cmyk2rgb"),
        effects: reader.effects()?,
        quality: engine.quality(float(options.text("q"))),
        output: reader.output()?,
        strict: reader.strict(),
    };
    rules.hint = reader.hint(&rules);
    rules.output.background = reader.background(&rules);
    Ok(rules)
}

/// Whether the result keeps the source's media type in strict mode: it does if no format is named, except with GD.
pub(super) fn keeps_source_type(options: &Options<'_>) -> bool {
    options.text("of").is_empty() && Engine::named(options.text("e")) != Some(Engine::Gd)
}

fn engine(options: &Options<'_>, notes: &mut Notes) -> Engine {
    let name = options.get("e").unwrap_or("imagemagick");
    Engine::named(name).unwrap_or_else(|| {
        notes.add(|| format!("e: there is no engine `{name}`; imagemagick stands for it"));
        Engine::default()
    })
}

struct Reader<'a, 'b> {
    options: &'a Options<'a>,
    config: &'a SmallLightConfig,
    engine: Engine,
    notes: &'b mut Notes,
}

impl Reader<'_, '_> {
    fn strict(&self) -> bool {
        self.config.compat == Compat::Strict
    }

    fn note(&mut self, name: &str, what: &str) {
        let value = shorten(self.options.text(name));
        self.notes.add(|| format!("{name}={value}: {what}"));
    }

    fn mention_ignored(&mut self) {
        for name in self.engine.ignores() {
            if self.options.get(name).is_some() {
                self.note(name, "this engine does not know it; it is ignored");
            }
        }
    }

    /// Adds notes about values that ngx_small_light accepts, but probably not in the way that was intended.
    fn mention_misread(&mut self) {
        for parameter in PARAMETERS {
            let text = self.options.text(parameter.name);
            if let Some(misread) = misread(parameter, text) {
                self.note(parameter.name, &misread);
            }
        }
        let canvas = (self.options.get("cw"), self.options.get("ch"));
        if let (Some(_), None) | (None, Some(_)) = canvas {
            self.notes
                .add(|| "a canvas needs both cw and ch; it is ignored".to_owned());
        }
    }

    fn original(&mut self) -> Original {
        match self.options.get("pt") {
            // An empty value is only possible in a query. The module then takes the first case.
            Some("" | "ptss") => Original::IfSmaller,
            Some("ptls") => Original::IfLarger,
            None | Some("n") => Original::Never,
            Some(_) => {
                self.note("pt", "only ptss and ptls act; it is ignored");
                Original::Never
            }
        }
    }

    fn turn(&mut self) -> Option<Turn> {
        let degrees = int(self.options.text("angle"));
        let turn = u32::try_from(degrees).ok().and_then(geometry::turn);
        if turn.is_none() && degrees != 0 {
            self.note("angle", "only 90, 180 and 270 turn; it is ignored");
        }
        turn
    }

    fn length(&mut self, name: &str) -> Option<Length> {
        match Coord::read(self.options.text(name)) {
            Coord::Unset => None,
            Coord::Given(length) if self.strict() => Some(length),
            Coord::Given(length) => Some(length.rounded()),
            Coord::Clamped(length) => {
                self.note(name, &format!("{length} stands for it"));
                Some(length)
            }
            Coord::Undefined => {
                self.note(
                    name,
                    "neither pixels nor percent (write 50p for 50 %), which ngx_small_light leaves undefined; it is ignored",
                );
                None
            }
        }
    }

    fn region(&mut self) -> Region {
        Region {
            x: self.length("sx"),
            y: self.length("sy"),
            w: self.length("sw"),
            h: self.length("sh"),
        }
    }

    fn size(&mut self) -> Size {
        let (w, h) = (self.length("dw"), self.length("dh"));
        let fit = match (w.and(h), self.options.text("da").bytes().next()) {
            (None, _) | (_, None | Some(b'l')) => Fit::Inside,
            (_, Some(b's')) => Fit::Cover,
            (_, Some(_)) => Fit::Exact,
        };
        Size {
            w,
            h,
            fit,
            enlarge: self.options.text("ds").starts_with('s'),
        }
    }

    fn canvas(&mut self) -> Result<Option<Ground>, Refusal> {
        let (cw, ch) = (
            float(self.options.text("cw")),
            float(self.options.text("ch")),
        );
        if cw <= 0.0 || ch <= 0.0 {
            return Ok(None);
        }
        let (w, h) = (cw.min(Length::MAX_PX) as u32, ch.min(Length::MAX_PX) as u32);
        if w == 0 || h == 0 {
            return Err(Refusal::new(
                &format!("cw={cw},ch={ch}"),
                "a canvas needs at least one pixel on each side",
            ));
        }
        // The alpha of a canvas has no visible effect. It is dropped, so that equal results have equal recipes.
        let colour = Colour {
            a: 255,
            ..self.colour("cc")
        };
        Ok(Some(Ground {
            w,
            h,
            x: self.length("dx"),
            y: self.length("dy"),
            colour,
        }))
    }

    /// Returns what replaces transparency in a format without it: the colour `cc`, unless a canvas uses that colour. In
    /// strict mode transparency is just dropped, as in ngx_small_light.
    fn background(&mut self, rules: &SmallLightRules) -> Background {
        let format = rules.output.format.as_ref().map(FormatName::as_str);
        let cut = rules.region != Region::default();
        if rules.canvas.is_some() || !(format == Some("jpeg") || (format.is_none() && cut)) {
            return Background::default();
        }
        if self.strict() {
            return Background::Dropped;
        }
        match self
            .options
            .get("cc")
            .and_then(|text| colour(text, self.config.compat))
        {
            Some(_) if format.is_some() => Background::Colour(Colour {
                a: 255,
                ..self.colour("cc")
            }),
            _ => Background::default(),
        }
    }

    fn colour(&mut self, name: &str) -> Colour {
        let black = Colour {
            r: 0,
            g: 0,
            b: 0,
            a: 255,
        };
        let Some(text) = self.options.get(name) else {
            return black;
        };
        let Some(parsed) = colour(text, self.config.compat) else {
            self.note(
                name,
                "no colour of 6 or 8 hex digits and no CSS name, so undefined in the module; black stands for it",
            );
            return black;
        };
        match self.engine {
            // GD's alpha is 0 for opaque and 127 for transparent. Larger values are invalid, and mean opaque here.
            Engine::Gd if parsed.a <= 127 => Colour {
                a: 255 - (u16::from(parsed.a) * 255 / 127) as u8,
                ..parsed
            },
            Engine::Gd => Colour { a: 255, ..parsed },
            Engine::ImageMagick | Engine::Imlib2 => parsed,
        }
    }

    /// Returns the effects, in the order in which ngx_small_light applies them.
    fn effects(&mut self) -> Result<Vec<Effect>, Refusal> {
        let mut effects = Vec::new();
        match self.engine {
            Engine::ImageMagick => {
                effects.extend(self.geometry("unsharp"));
                effects.extend(self.geometry("sharpen"));
                effects.extend(self.geometry("blur"));
            }
            // GD's sharpening subtracts r/400 of each neighbour, which is r % of an unsharp mask over the four
            // neighbours, whose standard deviation is √½.
            Engine::Gd => effects.extend(
                self.radius("sharpen")
                    .map(|radius| effect("unsharp", vec![format!("1x0.7+{}+0", radius / 100.0)])),
            ),
            Engine::Imlib2 => {
                // Imlib2's sharpening subtracts r of each neighbour.
                effects
                    .extend(self.radius("sharpen").map(|radius| {
                        effect("unsharp", vec![format!("1x0.7+{}+0", radius * 4.0)])
                    }));
                // Imlib2's blur is a box of 2r + 1 px. This Gaussian has the same standard deviation.
                effects.extend(self.radius("blur").map(|radius| {
                    let sigma = (radius * (radius + 1.0) / 3.0).sqrt();
                    effect(
                        "blur",
                        vec![format!("0x{}", (sigma * 100.0).round() / 100.0)],
                    )
                }));
            }
        }
        effects.extend(self.border());
        if self.engine == Engine::ImageMagick {
            effects.extend(self.icon()?);
        }
        Ok(effects)
    }

    fn geometry(&mut self, name: &'static str) -> Option<Effect> {
        let text = self.options.get(name).filter(|text| !text.is_empty())?;
        let Geometry {
            radius,
            sigma,
            amount,
            threshold,
        } = match self.strict() {
            true => Geometry::read(text),
            false => Geometry::read(text).rounded(),
        };
        if radius > self.config.radius_max || sigma > self.config.sigma_max {
            let (radius, sigma) = (self.config.radius_max, self.config.sigma_max);
            self.note(
                name,
                &format!("larger than {radius}x{sigma}; it is ignored"),
            );
            return None;
        }
        if sigma == 0.0 {
            self.note(name, "no sigma (RADIUSxSIGMA), so nothing happens");
            return None;
        }
        if name != "unsharp" {
            return Some(effect(name, vec![format!("{radius}x{sigma}")]));
        }
        if amount <= 0.0 {
            self.note(
                name,
                "no amount above 0 (RADIUSxSIGMA+AMOUNT), so nothing happens",
            );
            return None;
        }
        let (amount, threshold) = (amount.min(MOST), threshold.min(MOST));
        Some(effect(
            name,
            vec![format!("{radius}x{sigma}+{amount}+{threshold}")],
        ))
    }

    /// Returns the strength of an effect in whole pixels, as GD and Imlib2 expect it.
    fn radius(&mut self, name: &str) -> Option<f64> {
        self.options.get(name)?;
        let radius = f64::from(int(self.options.text(name)));
        let most = self.config.radius_max.trunc();
        if (1.0..=most).contains(&radius) {
            Some(radius)
        } else {
            self.note(name, &format!("not from 1 to {most}; it is ignored"));
            None
        }
    }

    fn border(&mut self) -> Option<Effect> {
        let side = |name| float(self.options.text(name)).clamp(0.0, Length::MAX_PX);
        let (bw, bh) = (side("bw"), side("bh"));
        let least = match self.config.compat {
            Compat::Sane => 0,
            // ImageMagick also draws the outline of the empty rectangles.
            Compat::Strict if bw > 0.0 || bh > 0.0 => 1,
            Compat::Strict => 0,
        };
        let (bw, bh) = ((bw as u32).max(least), (bh as u32).max(least));
        if bw == 0 && bh == 0 {
            return None;
        }
        let colour = self.colour("bc");
        Some(effect(
            "border",
            vec![format!("{bw}x{bh}"), colour.to_string()],
        ))
    }

    fn icon(&mut self) -> Result<Option<Effect>, Refusal> {
        let name = self.options.text("embedicon");
        if name.is_empty() {
            return Ok(None);
        }
        if self.config.material_dir.is_none() {
            self.note("embedicon", "no material_dir is configured; it is ignored");
            return Ok(None);
        }
        if name.contains('/') || name.contains("..") || name.len() > 255 {
            return Err(Refusal::new(
                name,
                "embedicon is the name of a file in material_dir, without `/` and `..`, up to 255 bytes",
            ));
        }
        let at = |name| int(self.options.text(name)).to_string();
        Ok(Some(effect(
            Effect::OVER,
            vec![name.to_owned(), at("ix"), at("iy")],
        )))
    }

    fn output(&mut self) -> Result<Output, Refusal> {
        let of = self.options.text("of");
        let format = match of {
            "" => None,
            "gif" if self.engine == Engine::Imlib2 && self.strict() => {
                return Err(Refusal::new("of=gif", "imlib2 writes no GIF"));
            }
            "webp" if self.engine == Engine::Imlib2 && self.strict() => {
                self.note("of", "imlib2 writes no WebP; the source's format is kept");
                None
            }
            "jpeg" | "jpg" => Some("jpeg"),
            "gif" | "png" | "webp" => Some(of),
            // With `auto`, which the module does not have, the header `Accept` selects the format.
            "auto" if !self.strict() => Some(of),
            _ => {
                let formats = parameter("of").map(Arg::to_string).unwrap_or_default();
                self.note(
                    "of",
                    &format!("not one of {formats}; the source's format is kept"),
                );
                None
            }
        };
        Ok(Output {
            format: format.and_then(|name| FormatName::new(name).ok()),
            progressive: match self.engine {
                Engine::ImageMagick => self.options.flag("progressive"),
                Engine::Gd => true,
                Engine::Imlib2 => false,
            },
            // The module does not support animations.
            frame: self.strict().then_some(1),
            ..Output::default()
        })
    }

    /// Returns the size in px below which a JPEG is not shrunk while it is decoded: the size that the rules request for
    /// an image of 10000 × 10000 px. `None` outside of strict mode, where the server itself chooses the scale at which
    /// it decodes.
    fn hint(&self, rules: &SmallLightRules) -> Option<(u32, u32)> {
        let has_size = rules.size.w.is_some() || rules.size.h.is_some();
        let has_hint = self.options.flag("jpeghint") && self.engine != Engine::Gd;
        if !self.strict() || !has_size || !has_hint {
            return None;
        }
        let geometry = SmallLightRules {
            region: rules.region,
            size: rules.size,
            ..SmallLightRules::default()
        };
        let (dw, dh) = geometry.layout(10_000, 10_000).ok()?.requested_size;
        let side = |length: f64| Some(length.min(Length::MAX_PX) as u32).filter(|side| *side > 0);
        side(dw).zip(side(dh))
    }
}

/// Returns a note about a value that ngx_small_light accepts, but probably not in the way that was intended.
fn misread(parameter: &Arg, text: &str) -> Option<String> {
    match parameter.kind {
        Kind::Whole { most, .. } => match prefix(text) {
            (number, "") if parameter.name == "q" && number > most as f64 => Some(format!(
                "more than {most}, the highest quality; it counts as that"
            )),
            (_, "") => None,
            (_, rest) if rest == text => Some("no number; it counts as 0".to_owned()),
            (number, _) => Some(format!("read as {number}")),
        },
        Kind::Length(percent) => {
            let (number, rest) = text.split_once(percent)?;
            let number = float(number);
            let unit = || format!("read as {number} percent; pixels have no unit");
            (!rest.is_empty()).then(unit)
        }
        // For flags, and for `da` and `ds`, the module only looks at the first letter.
        Kind::Choice(words) if words.iter().all(|word| word.len() == 1) => {
            let letter = text.get(..1).unwrap_or(text);
            let strange = !text.is_empty() && !words.contains(&letter);
            strange.then(|| format!("not one of {parameter}; it counts as n"))
        }
        _ => None,
    }
}

/// Maximum amount and threshold of an unsharp mask.
const MOST: f64 = 1000.0;

fn effect(name: &str, args: Vec<String>) -> Effect {
    Effect {
        name: name.to_owned(),
        args,
    }
}
