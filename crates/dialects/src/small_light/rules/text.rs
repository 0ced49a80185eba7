//! The canonical text of the rules: options with the same meaning, in the order in which ngx_small_light processes
//! them. Parsed again under the same configuration, it gives the same rules.

use std::fmt;

use andon_recipe::{Background, Colour, Effect, Length, Turn};

use super::{Fit, Original, SmallLightRules};

/// An option's name and its value; `None` if the option is left out.
type OptionText<'a> = (&'a str, Option<String>);

impl fmt::Display for SmallLightRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = self.geometry();
        options.extend(self.canvas());
        options.push(("cmyk2rgb", flag(self.srgb)));
        options.extend(self.effects.iter().flat_map(effect));
        options.extend([
            ("of", self.output.format.as_ref().map(ToString::to_string)),
            ("q", self.quality.map(|quality| quality.to_string())),
            ("progressive", flag(self.output.progressive)),
        ]);
        let pairs = options.into_iter();
        let pairs = pairs.filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        write!(f, "small_light({})", pairs.collect::<Vec<_>>().join(","))
    }
}

impl SmallLightRules {
    /// Returns the options that ngx_small_light processes before it places an image on a canvas, such as turn, region
    /// and size.
    fn geometry(&self) -> Vec<OptionText<'_>> {
        let word = |word: &str| Some(word.to_owned());
        let original = match self.original {
            Original::Never => None,
            Original::IfSmaller => word("ptss"),
            Original::IfLarger => word("ptls"),
        };
        let angle = self.turn.and_then(|turn| match turn {
            Turn::R90 => word("90"),
            Turn::R180 => word("180"),
            Turn::R270 => word("270"),
        });
        let fit = match self.size.fit {
            Fit::Inside => None,
            Fit::Cover => word("s"),
            Fit::Exact => word("n"),
        };
        vec![
            ("pt", original),
            ("rmprof", flag(self.strip)),
            ("autoorient", flag(self.orient)),
            ("angle", angle),
            ("jpeghint", flag(self.hint.is_some())),
            ("sx", length(self.region.x)),
            ("sy", length(self.region.y)),
            ("sw", length(self.region.w)),
            ("sh", length(self.region.h)),
            ("dw", length(self.size.w)),
            ("dh", length(self.size.h)),
            ("da", fit),
            ("ds", self.size.enlarge.then(|| "s".to_owned())),
        ]
    }

    /// Returns the options of the canvas or, without one, the colour that replaces transparency.
    fn canvas(&self) -> Vec<OptionText<'_>> {
        match (&self.canvas, self.output.background) {
            (Some(canvas), _) => vec![
                ("cw", Some(canvas.w.to_string())),
                ("ch", Some(canvas.h.to_string())),
                ("cc", colour(canvas.colour)),
                ("dx", length(canvas.x)),
                ("dy", length(canvas.y)),
            ],
            (None, Background::Colour(colour)) => vec![("cc", Some(colour.to_string()))],
            (None, _) => Vec::new(),
        }
    }
}

/// Returns the options of an effect in ImageMagick's form, whichever engine it was requested from.
fn effect(effect: &Effect) -> Vec<OptionText<'_>> {
    let arg = |arg: &str| Some(arg.to_owned());
    match (effect.name.as_str(), effect.args.as_slice()) {
        ("border", [size, ink]) => {
            let (w, h) = size.split_once('x').unwrap_or((size, "0"));
            let ink = ink.parse().ok().and_then(colour);
            vec![("bw", arg(w)), ("bh", arg(h)), ("bc", ink)]
        }
        (Effect::OVER, [name, x, y]) => {
            vec![("embedicon", arg(name)), ("ix", arg(x)), ("iy", arg(y))]
        }
        (name, [geometry, ..]) => vec![(name, arg(geometry))],
        (_, []) => Vec::new(),
    }
}

fn flag(set: bool) -> Option<String> {
    set.then(|| "y".to_owned())
}

fn length(length: Option<Length>) -> Option<String> {
    Some(match length? {
        Length::Px(px) => px.to_string(),
        Length::Percent(percent) => format!("{percent}p"),
    })
}

/// Formats a colour; `None` for the default, which is black.
fn colour(colour: Colour) -> Option<String> {
    let black = Colour {
        a: u8::MAX,
        ..Colour::CLEAR
    };
    (colour != black).then(|| colour.to_string())
}
