//! Renders one image with one or more recipes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use andon_pixels::{
    Alone, Codec, Decoded, Engine, Error, Frame, Info, Interrupt, Limits, Plan, Rendered, Result,
    Run, SharedPeak,
};
use andon_recipe::Recipe;

use crate::overlays::Overlays;

/// Plans and runs recipes for images in memory, on the calling thread. Any number of threads may share one renderer.
///
/// A panic while an image is processed becomes an [`Error::Internal`] of that image.
pub struct Renderer {
    engine: Engine,
    limits: Limits,
    overlays: Overlays,
    /// Names of the formats that may be read; `None` for all.
    formats: Option<Vec<String>>,
}

/// The results of one or more recipes for one image.
pub struct Results {
    /// Header of the source, or `None` if it cannot be read.
    pub source: Option<Info>,
    /// The result of each recipe, in the order of the recipes.
    pub made: Vec<Result<Rendered>>,
}

impl Renderer {
    /// Creates a renderer with these codecs, limits, and overlay images for recipes.
    #[must_use]
    pub fn new(codecs: &'static [&'static dyn Codec], limits: Limits, overlays: Overlays) -> Self {
        Self {
            engine: Engine::new(codecs, limits),
            limits,
            overlays,
            formats: None,
        }
    }

    /// Allows only images of the named formats to be read, such as `jpeg`. Overlays are exempt, because they come from
    /// the caller.
    #[must_use]
    pub fn reading(mut self, formats: Vec<String>) -> Self {
        self.formats = Some(formats);
        self
    }

    /// Returns an error for an image of a format that must not be read, before any codec reads it.
    fn permit(&self, source: &[u8]) -> Result<()> {
        let Some(formats) = &self.formats else {
            return Ok(());
        };
        let claimant = self
            .engine
            .codecs()
            .iter()
            .find(|codec| codec.sniff(source));
        match claimant.map(|codec| codec.name()) {
            Some(format) if !formats.iter().any(|it| it == format) => {
                Err(Error::NotRead { format })
            }
            _ => Ok(()),
        }
    }

    /// Checks a recipe for errors that do not depend on an image, including overlays that are missing.
    ///
    /// # Errors
    /// [`Error::Recipe`], which names the offending part of the recipe and what would be valid.
    pub fn check(&self, recipe: &Recipe) -> Result<()> {
        self.engine.check(recipe)?;
        let mut names = recipe.overlays().into_iter();
        names.try_for_each(|name| self.overlays.file(&name).map(drop))
    }

    /// Reads the header of `source`.
    ///
    /// # Errors
    /// If the format is unknown or not allowed to be read ([`Error::NotRead`]), or if the header is broken, unsupported
    /// or beyond the limits.
    pub fn probe(&self, source: &[u8]) -> Result<Info> {
        self.permit(source)?;
        caught(|| self.engine.probe(source))
    }

    /// Plans how a recipe is applied to `source`. `as:auto` means the source's own format, because there is no `Accept`
    /// header.
    ///
    /// # Errors
    /// If the format must not be read ([`Error::NotRead`]), the source's header cannot be read, or the recipe is
    /// invalid or does not suit the image.
    pub fn plan(&self, recipe: &Recipe, source: &[u8]) -> Result<Plan> {
        self.permit(source)?;
        let mut recipe = recipe.clone();
        recipe.output.without_accept();
        caught(|| (self.engine).plan_with(&recipe, source, &self.overlays, None, None))
    }

    /// Renders `source` as planned, and returns the encoded result.
    ///
    /// # Errors
    /// Any error of rendering, such as a corrupt source or an interruption. A panic becomes [`Error::Internal`].
    pub fn run(&self, plan: &Plan, source: &[u8], interrupt: &dyn Interrupt) -> Result<Rendered> {
        self.run_from(None, plan, source, interrupt)
    }

    /// Renders `source` as planned, but returns the pixels that would be encoded instead of an encoded result.
    ///
    /// # Errors
    /// Any error of rendering, such as a corrupt source or an interruption. A panic becomes [`Error::Internal`].
    pub fn run_to_frame(
        &self,
        plan: &Plan,
        source: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Frame> {
        caught(|| {
            let run = self.how(None, source, interrupt);
            self.engine.render_frame(plan, run)
        })
    }

    /// Plans and runs several recipes for `source`, in their order. Recipes that can begin with the same decode share
    /// it, as far as `limits.memory` allows. Each result is identical, byte for byte, to that of its recipe alone.
    pub fn render(&self, recipes: &[Recipe], source: &[u8], interrupt: &dyn Interrupt) -> Results {
        let plans: Vec<Result<Plan>> = recipes
            .iter()
            .map(|recipe| self.plan(recipe, source))
            .collect();
        let planned = plans.iter().flatten().next();
        let header = planned.map(|plan| plan.info().clone());
        let header = header.or_else(|| self.probe(source).ok());
        let mut decoded = self.decode_at_once(&plans, source, interrupt);
        let made = plans
            .into_iter()
            .zip(&mut decoded)
            .map(|(plan, decoded)| self.run_from(decoded.take(), &plan?, source, interrupt))
            .collect();
        Results {
            source: header,
            made,
        }
    }

    fn run_from(
        &self,
        decoded: Option<Decoded>,
        plan: &Plan,
        source: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Result<Rendered> {
        caught(|| {
            let run = self.how(decoded, source, interrupt);
            self.engine.run(plan, run)
        })
    }

    fn how<'a>(
        &'a self,
        decoded: Option<Decoded>,
        source: &'a [u8],
        interrupt: &'a dyn Interrupt,
    ) -> Run<'a> {
        Run {
            overlays: &self.overlays,
            interrupt,
            decoded,
            ..Run::of(source)
        }
    }

    /// Decodes once for each group of plans that can share a decode. Returns the decoded image for each plan, or `None`
    /// for a plan that has to decode on its own. If a shared decode fails, its plans decode on their own, so that each
    /// reports its own error.
    fn decode_at_once(
        &self,
        plans: &[Result<Plan>],
        source: &[u8],
        interrupt: &dyn Interrupt,
    ) -> Vec<Option<Decoded>> {
        let mut decoded: Vec<Option<Decoded>> = plans.iter().map(|_| None).collect();
        for group in groups(plans, self.limits.memory) {
            let members: Vec<&Plan> = group.iter().map(|(_, plan)| *plan).collect();
            let decode = || (self.engine).decode_at_once(&Alone, &members, source, interrupt);
            if let Ok(Some(images)) = caught(decode) {
                for ((place, _), image) in group.iter().zip(images) {
                    decoded[*place] = Some(image);
                }
            }
        }
        decoded
    }
}

/// Groups plans that can share a decode. Only groups of two or more plans that need at most `memory` bytes together are
/// returned. Each plan comes with its index in `plans`.
fn groups(plans: &[Result<Plan>], memory: u64) -> Vec<Vec<(usize, &Plan)>> {
    let mut groups: Vec<(SharedPeak, Vec<(usize, &Plan)>)> = Vec::new();
    for (place, plan) in plans.iter().enumerate() {
        let Ok(plan) = plan else {
            continue;
        };
        let holding = plan.holding();
        let group = groups.iter_mut().find(|(peak, members)| {
            let peak_bytes = peak.with(holding).bytes().saturating_add(holding.file);
            peak_bytes <= memory && members.iter().all(|(_, other)| plan.decodes_with(other))
        });
        match group {
            Some((peak, members)) => {
                *peak = peak.with(holding);
                members.push((place, plan));
            }
            // Plans run one after the other, so a peak counts one job at a time.
            None => groups.push((SharedPeak::of(holding, 1), vec![(place, plan)])),
        }
    }
    let groups = groups.into_iter().map(|(_, members)| members);
    groups.filter(|members| members.len() > 1).collect()
}

/// Runs `work`, and turns a panic into an error, so that it affects only the image that caused it.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::Internal(panic_message(&*panic))))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use andon_pixels::Never;

    use super::*;

    fn sample(name: &str) -> Vec<u8> {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
        std::fs::read(samples.join(name)).unwrap()
    }

    fn renderer(limits: Limits) -> Renderer {
        Renderer::new(andon_codecs::ALL, limits, Overlays::default())
    }

    fn recipes(texts: &[&str]) -> Vec<Recipe> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    const SIZES: [&str; 4] = [
        "fit:200x200,as:jpeg,q:80",
        "cover:100x100,as:webp,q:70",
        "fit:400x400,as:jpeg,q:80",
        "fit:50x50,as:png",
    ];

    fn planned(renderer: &Renderer, texts: &[&str], source: &[u8]) -> Vec<Result<Plan>> {
        let recipes = recipes(texts);
        recipes.iter().map(|it| renderer.plan(it, source)).collect()
    }

    #[test]
    fn sizes_of_one_photo_share_a_decode_and_are_what_each_alone_would_be() {
        let renderer = renderer(Limits::default());
        let source = sample("photos/otter.jpg");
        let plans = planned(&renderer, &SIZES, &source);
        let grouped: usize = groups(&plans, u64::MAX).iter().map(Vec::len).sum();
        assert_eq!(grouped, SIZES.len());
        let recipes = recipes(&SIZES);
        let together = renderer.render(&recipes, &source, &Never);
        assert_eq!(together.source, renderer.probe(&source).ok());
        for (recipe, together) in recipes.iter().zip(together.made) {
            let plan = renderer.plan(recipe, &source).unwrap();
            let alone = renderer.run(&plan, &source, &Never).unwrap();
            assert_eq!(together.unwrap().body, alone.body, "{recipe}");
        }
    }

    #[test]
    fn a_recipe_that_fails_leaves_the_others_alone() {
        let renderer = renderer(Limits::default());
        let source = sample("photos/otter.jpg");
        let texts = [SIZES[0], "over:nowhere.png", SIZES[1]];
        let made = renderer.render(&recipes(&texts), &source, &Never);
        let failed: Vec<bool> = made.made.iter().map(Result::is_err).collect();
        assert_eq!(failed, [false, true, false]);
    }

    #[test]
    fn what_is_wrong_with_a_recipe_for_every_image_is_known_before_the_first() {
        let overlays = BTreeMap::from([("a.png".to_owned(), Vec::new())]);
        let renderer = Renderer::new(
            andon_codecs::ALL,
            Limits::default(),
            Overlays::new(overlays),
        );
        let check = |text: &str| renderer.check(&recipes(&[text])[0]);
        for right in [
            "same",
            "original",
            "fit:9x9,as:auto,q:80",
            "crop:5000:5000:10x10",
            "fit:9x9,as:jpg,moving:webp,lossless",
            "over:a.png,blur:0x1,as:avif,effort:3",
            "moving:source,as:webp",
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, said) in [
            ("fitt:9x9", "did you mean `fit`?"),
            ("blur:much", "`blur:much`"),
            ("as:jpge", "did you mean `jpeg`?"),
            ("moving:web", "did you mean `webp`?"),
            ("as:psd", "not written"),
            ("as:png,q:80", "png has no such option"),
            ("as:jpeg,with:hue:7", "with:hue"),
            ("over:b.png", "`b.png`"),
            (
                "overlay:a.png:0:0:100:0:0:normal:exact:blurr%3a2",
                "`blurr`",
            ),
        ] {
            let error = check(wrong).expect_err(wrong);
            assert_eq!(error.kind(), "recipe", "{wrong}");
            assert!(error.to_string().contains(said), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_truncated_photo_fails_for_each_recipe_in_its_own_words() {
        let renderer = renderer(Limits::default());
        let whole = sample("photos/otter.jpg");
        let source = &whole[..whole.len() / 2];
        for made in renderer.render(&recipes(&SIZES), source, &Never).made {
            assert!(matches!(made, Err(Error::Broken { .. })), "{made:?}");
        }
    }

    #[test]
    fn plans_that_hold_too_much_together_decode_alone() {
        let renderer = renderer(Limits::default());
        let source = sample("photos/otter.jpg");
        let plans = planned(&renderer, &SIZES[..2], &source);
        let larger = plans.iter().flatten().map(Plan::peak_bytes).max();
        assert!(groups(&plans, larger.unwrap() / 2).is_empty());
        assert_eq!(groups(&plans, u64::MAX).len(), 1);
    }

    #[test]
    fn a_panic_is_an_internal_error_with_its_message() {
        let made: Result<()> = caught(|| panic!("plane {} of 2", 3));
        assert_eq!(made, Err(Error::Internal("plane 3 of 2".to_owned())));
    }
}
