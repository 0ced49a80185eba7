//! URLs such as `/thumb/150/photos/otter.jpg`: the image scaled to this width, as a WebP.

use andon_recipe::{Fitting, Recipe, Wish};
use serde::Deserialize;

use crate::ConfigError;
use crate::config::{Gate, Mount, Settings, below, mount};
use crate::dialect::{Dialect, Target};
use crate::refusal::Refusal;
use crate::request::{ImageRequest, Source};
use crate::spelling::{Draft, Spelt, Word};

/// The table `[thumb]` of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThumbConfig {
    /// Path prefix of the URLs, such as `/thumb`. If it is empty, the server does not accept such URLs.
    pub prefix: String,
    /// Whether unsigned URLs are answered although `[signing]`, or another URL dialect's keys or presets, would rule
    /// them out.
    pub open: bool,
}

impl Settings for ThumbConfig {
    fn dialect(&self) -> Result<Option<Box<dyn Dialect>>, ConfigError> {
        let prefix = mount("thumb.prefix", &self.prefix)?;
        Ok(prefix.map(|prefix| Box::new(Thumb { prefix }) as Box<dyn Dialect>))
    }

    fn gate(&self) -> Gate {
        Gate {
            open: self.open,
            places: below([&self.prefix]),
            ..Gate::default()
        }
    }

    fn switch_on(&mut self, _mount: Mount) {
        "/thumb".clone_into(&mut self.prefix);
    }

    fn words() -> Vec<Word> {
        vec![("as:webp", "")]
    }

    fn spell(wish: &Wish, source: &str) -> Spelt {
        let mut draft = Draft::of(wish, &Self::words());
        if wish.fit != Fitting::Inside || wish.h.is_some() || wish.enlarge {
            draft.miss_box(wish);
        }
        let width = wish.w.unwrap_or_default().round();
        draft.finish(format!("/thumb/{width}/{source}"))
    }
}

/// The URL dialect of thumbnails such as `/thumb/150/photos/otter.jpg`.
#[derive(Debug)]
struct Thumb {
    prefix: String,
}

impl Dialect for Thumb {
    fn example(&self, path: &str) -> String {
        format!("{}/150{path}", self.prefix)
    }

    fn parse(&self, target: &Target<'_>) -> Result<Option<ImageRequest>, Refusal> {
        let Some(rest) = target.below(&self.prefix) else {
            return Ok(None);
        };
        let (width, source) = rest.split_once('/').unwrap_or((rest, ""));
        let recipe: Result<Recipe, _> = format!("fit:{width}x,as:webp").parse();
        let recipe = recipe.map_err(|_| Refusal::new(width, "it is no width in pixels"))?;
        Ok(Some(ImageRequest::image(Source::from_raw(source)?, recipe)))
    }

    fn write(&self, request: &ImageRequest) -> Option<String> {
        let text = request.rules.text();
        let width = text.strip_prefix("fit:")?.strip_suffix("x,as:webp")?;
        let source = request.source.escaped()?;
        Some(format!("{}/{width}/{source}", self.prefix))
    }
}
