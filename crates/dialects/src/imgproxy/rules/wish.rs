//! Converts imgproxy's options to a [`Wish`], the terms that all dialects share.

use andon_recipe::{
    Colour, Crop, Fitting, Flatten, Gravity, Keep, Kept, Length, Output, Pad, Profile, Recipe,
    Step, StoredTurn, Trim, Wish,
};

use super::{About, ImgproxyRules, effects, table};
use crate::imgproxy::gravity::{self, Edge, Kind};
use crate::imgproxy::options::{Options, Resizing};

impl ImgproxyRules {
    /// Converts the options of the last pipeline to the terms that all dialects share. Earlier pipelines, and values
    /// that depend on the image's size, have no equivalent in these terms, and are listed in [`Wish::beyond`].
    pub(super) fn to_wish(&self) -> Wish {
        let options = &self.options;
        let trim = options
            .trim
            .map(|trim| Step::Trim(Trim(trim.threshold as u8)));
        let turns = self.turns().filter(|step| !matches!(step, Step::Orient(_)));
        let side = |side: u32, zoom: f64| (side > 0).then(|| f64::from(side) * zoom * options.dpr);
        let (w, h) = (
            side(options.width, options.zoom.0),
            side(options.height, options.zoom.1),
        );
        let is_opaque = matches!(options.format, None | Some("jpeg"));
        let usual = if is_opaque {
            Colour::WHITE
        } else {
            Colour::CLEAR
        };
        let ground = options.background.unwrap_or(usual);
        let fit = match options.resizing {
            _ if (w, h) == (None, None) => Fitting::Nothing,
            Resizing::Force => Fitting::Exact,
            Resizing::Fit if options.extend.on => Fitting::Pad(ground),
            Resizing::Fit => Fitting::Inside,
            Resizing::Fill | Resizing::FillDown | Resizing::Auto => Fitting::Cover,
        };
        let [top, right, bottom, left] = options
            .padding
            .map(|px| (f64::from(px) * options.dpr).round() as u32);
        let pad = Pad {
            top,
            right,
            bottom,
            left,
            colour: ground,
        };
        let pad = (options.padding != [0; 4]).then_some(Step::Pad(pad));
        let flat = options
            .background
            .filter(|_| options.background_alpha == 1.0)
            .map(|colour| Step::Flatten(Flatten(colour)));
        // Blurred areas are shares of the image, whose size is unknown. They are listed as not expressed.
        let effects = effects::steps(&options.effects, (1, 1), true).into_iter();
        let effects = effects.filter(|step| step.word() != "blur-area");
        Wish {
            before: trim.into_iter().chain(turns).chain(crop(options)).collect(),
            fit,
            w,
            h,
            enlarge: options.enlarge,
            keep: keep(&options.gravity),
            after: effects.chain(pad).chain(flat).collect(),
            beyond: beyond(options),
            ..Wish::of(&Recipe::from(self.output_as_wanted()))
        }
    }

    fn output_as_wanted(&self) -> Output {
        let options = &self.options;
        Output {
            stored_turn: match options.auto_rotate {
                true => StoredTurn::Applied,
                false => StoredTurn::Verbatim,
            },
            profile: options.profile.unwrap_or(match options.strip_profile {
                true => Profile::Srgb,
                false => Profile::Keep,
            }),
            metadata: match (options.strip_metadata, options.keep_copyright) {
                (true, true) => Kept::Copyright,
                (true, false) => Kept::None,
                (false, _) => Kept::All,
            },
            ..self.output.clone()
        }
    }
}

/// Returns the crop before scaling, if it is in px; `None` otherwise.
fn crop(options: &Options) -> Option<Step> {
    let crop = options.crop;
    let is_px = crop.width >= 1.0 && crop.height >= 1.0 && crop.ratio == 0.0;
    let (w, h) = (Length::Px(crop.width), Length::Px(crop.height));
    let gravity::Gravity { kind, x, y } = options.crop_gravity();
    let corner = kind == Kind::Edges(Edge::Start, Edge::Start);
    is_px.then_some(Step::Crop(match keep(&options.crop_gravity()) {
        _ if corner && x.fract() == 0.0 && y.fract() == 0.0 => Crop::At {
            x: Length::Px(x),
            y: Length::Px(y),
            w,
            h,
        },
        Keep::Towards(gravity) => Crop::Towards { w, h, gravity },
        _ => return None,
    }))
}

fn keep(gravity: &gravity::Gravity) -> Keep {
    match gravity.kind {
        Kind::Focus => Keep::Point(gravity.x * 100.0, gravity.y * 100.0),
        Kind::Smart => Keep::Salient,
        Kind::Faces => Keep::Faces,
        Kind::Edges(x, y) => Keep::Towards(Gravity::at((x as u32, y as u32))),
    }
}

/// Options that a wish can express, by their short names.
const COVERED: &[&str] = &[
    "rt", "w", "h", "z", "dpr", "el", "ex", "g", "c", "t", "pd", "ar", "rot", "fl", "bg", "br",
    "co", "sa", "mc", "dt", "col", "gr", "bl", "sh", "ush", "pix", "q", "fq", "mb", "f", "sm",
    "kcr", "scp", "jpgo", "pngo", "webpo", "avifo", "cp", "pg", "da",
];

/// Returns the options that a wish cannot express, as written in a URL.
fn beyond(options: &Options) -> Vec<String> {
    let gravity = options.gravity;
    let has_offset =
        matches!(gravity.kind, Kind::Edges(..)) && (gravity.x, gravity.y) != (0.0, 0.0);
    let is_partly = |name: &str| match name {
        "rt" => matches!(options.resizing, Resizing::FillDown | Resizing::Auto),
        "c" => crop(options).is_none(),
        "g" => has_offset,
        "t" => options
            .trim
            .is_some_and(|trim| trim.colour.is_some() || trim.equal != (false, false)),
        name => !COVERED.contains(&name),
    };
    let changes = |kind| matches!(kind, About::Image | About::Limit);
    let all = table::texts(options, &Options::default(), changes).into_iter();
    all.filter(|text| is_partly(text.split(':').next().unwrap_or_default()))
        .collect()
}
