//! What the playground shows before anything is rendered: a recipe in every URL dialect, its plan, and its cost.

use std::sync::Arc;
use std::time::Instant;

use andon_dialects::translate::{Known, Translator, Unread, target};
use andon_dialects::{Ask, ImageRequest, Source};
use andon_pixels::Engine;
use andon_recipe::{Dpr, Facts, FormatName, Output, Recipe, Step};
use serde_json::{Value, json};

use super::{Play, Query, words};
use crate::error::Error;
use crate::handler::App;
use crate::handler::upload::Received;
use crate::response::Reply;
use crate::results::making::Rehearsal;
use crate::sources::geometry;
use crate::sources::resolver::Resolver;

impl App {
    /// Returns the recipe that is equivalent to a URL in any dialect, as JSON.
    pub(super) async fn read_url(&self, play: &Play, query: Query) -> Result<Reply, Error> {
        let url = query
            .url
            .ok_or_else(|| Error::Play("give a URL, as ?url=/r/fit:250x250/a.jpg".to_owned()))?;
        let (resolver, translator) = (self.maker.resolver.clone(), play.translator.clone());
        let (dialect, request) = read(&resolver, play, &url, query.dialect.as_deref())?;
        let request = Arc::new(request);
        let deadline = Instant::now() + self.timeout;
        // The recipe is shown even if the source is missing.
        let rehearsal = self.within(self.maker.rehearse(&request, deadline)).await;
        let engine = self.maker.engine.clone();
        let describe = move || {
            let facts = rehearsal
                .ok()
                .and_then(|it| engine.facts(it.planned.source()).ok());
            recipe_of(&translator, dialect, &request, facts)
        };
        // On a thread for headers, because it reads the header of the image again.
        let answer = self.maker.headers.read(None, false, (), describe).await?;
        Ok(super::json(answer.to_string()))
    }

    /// Returns a recipe's plan and its URLs.
    pub(super) async fn explanation(
        &self,
        play: &Play,
        query: Query,
        body: Option<Received>,
    ) -> Result<Reply, Error> {
        let request = self.trial(&query)?;
        let deadline = Instant::now() + self.timeout;
        let rehearsal = self.rehearsal(&request, body, deadline);
        let rehearsal = self.within(rehearsal).await.map(|rehearsal| {
            let reference = self.reference(&rehearsal);
            (rehearsal, reference)
        });
        let explainer = Explainer {
            translator: play.translator.clone(),
            resolver: self.maker.resolver.clone(),
            engine: self.maker.engine.clone(),
            formats: self.negotiation.formats().collect(),
            source: request.source.clone(),
            recipe: query.recipe()?,
        };
        let explain = move || Ok(explainer.explain(rehearsal));
        // On a thread for headers, because it reads the header of the image again.
        let answer = self.maker.headers.read(None, false, (), explain).await?;
        Ok(super::json(answer.to_string()))
    }
}

/// Parses a URL and returns the name of its dialect with the request. The URL is read in the dialects of this server,
/// then in all dialects at their usual prefixes, and then like a request to this server, to which rewrite rules apply.
fn read(
    resolver: &Resolver,
    play: &Play,
    url: &str,
    dialect: Option<&str>,
) -> Result<(&'static str, ImageRequest), Error> {
    let target = target(url.trim());
    let read = play.translator.read(dialect, &target);
    let read = read.or_else(|why| match why {
        Unread::ByAll(_) => play.default_translator.read(dialect, &target),
        Unread::By(..) | Unread::Ambiguous(_) => Err(why),
    });
    read.or_else(|why| {
        let request = resolver.parse(&target).ok();
        request
            .filter(|request| request.ask == Ask::Image && dialect.is_none())
            .map(|request| ("this server", request))
            .ok_or_else(|| Error::Play(why.to_string()))
    })
}

/// Returns the recipe that is equivalent to a request in another dialect, as JSON.
fn recipe_of(
    translator: &Translator,
    dialect: &str,
    request: &ImageRequest,
    facts: Option<Facts>,
) -> Result<Value, Error> {
    let reads = request.rules.text();
    let no_recipe = |why: String| {
        Error::Play(format!(
            "{dialect} reads {reads}, for which there is no recipe: {why}"
        ))
    };
    let translation = translator.translation(request, &known_facts(facts));
    let native_url = translation.say_in("native").map_err(no_recipe)?;
    let native = translator.read(Some("native"), &native_url.url);
    let (_, native) = native.map_err(|why| no_recipe(why.to_string()))?;
    let recipe: Recipe = (native.rules.text().parse())
        .map_err(|why: andon_recipe::ParseError| no_recipe(why.to_string()))?;
    Ok(json!({
        "dialect": dialect,
        "reads": reads,
        "source": match &request.source {
            Source::Url(url) => url.clone(),
            path => format!("/{}", path.literal()),
        },
        "recipe": recipe.to_string(),
        "pieces": words::pieces(&recipe),
        "but": native_url.but,
        "notes": request.notes,
    }))
}

/// Returns what a translation needs to know about a source, whose `facts` come from its header.
fn known_facts(facts: Option<Facts>) -> Known<'static> {
    Known {
        facts,
        ..Known::default()
    }
}

/// The data from which the playground explains a recipe, apart from the recipe's plan.
struct Explainer {
    translator: Arc<Translator>,
    resolver: Arc<Resolver>,
    engine: Engine,
    /// Formats that a client may be offered, with their media types.
    formats: Vec<(FormatName, &'static str)>,
    source: Source,
    /// The recipe as the page has it, without what the configuration adds.
    recipe: Recipe,
}

impl Explainer {
    /// Returns all that the playground shows about the recipe before it is rendered, as JSON. `rehearsal` contains the
    /// planned request and the recipe of its lossless counterpart, or the error because of which there is no plan.
    fn explain(&self, rehearsal: Result<(Rehearsal, Recipe), Error>) -> Value {
        let (plan, facts) = match &rehearsal {
            Ok((rehearsal, reference)) => {
                let facts = self.engine.facts(rehearsal.planned.source()).ok();
                (self.plan(rehearsal, reference, facts.as_ref()), facts)
            }
            Err(error) => (
                json!({ "error": error.public(), "status": error.status().as_u16() }),
                None,
            ),
        };
        json!({
            "recipe": self.recipe.to_string(),
            "pieces": words::pieces(&self.recipe),
            "plan": plan,
            "url": self.url_of(self.recipe.clone()),
            "urls": self.urls(facts),
            "densities": self.densities(),
            "formats": self.in_formats(),
            "fallback": self.for_all_browsers(),
        })
    }

    /// Returns the URL by which this server serves exactly this recipe, preferably a native one.
    fn url_of(&self, recipe: Recipe) -> Option<String> {
        let request = ImageRequest::image(self.source.clone(), recipe);
        let mut urls: Vec<_> = self.resolver.written(&request).collect();
        let native = urls.iter().position(|(name, _)| *name == "native");
        match urls.is_empty() {
            true => None,
            false => Some(urls.swap_remove(native.unwrap_or(0)).1),
        }
    }

    /// Returns URLs for screens of higher pixel density. There are none if the recipe sets a density itself, and none
    /// if it has text or overlay images, which a density does not enlarge.
    fn densities(&self) -> Vec<Value> {
        let is_dpr = |step: &Step| matches!(step, Step::Dpr(_));
        let writes = self.recipe.effects().any(|effect| effect.name == "text");
        let lays_over = writes || !self.recipe.overlays().is_empty();
        if lays_over || self.recipe.steps.iter().any(is_dpr) {
            return Vec::new();
        }
        let url = |density: f64| {
            let mut recipe = self.recipe.clone();
            recipe.steps.insert(0, Step::Dpr(Dpr(density)));
            Some(json!({ "density": density, "url": self.url_of(recipe)? }))
        };
        [2.0, 3.0].into_iter().filter_map(url).collect()
    }

    /// Returns URLs of the same recipe in each format that is offered to browsers.
    fn in_formats(&self) -> Vec<Value> {
        let url = |(name, media_type): &(FormatName, &str)| {
            let url = self.in_format(name.clone())?;
            Some(json!({ "media_type": media_type, "url": url }))
        };
        self.formats.iter().filter_map(url).collect()
    }

    /// Returns a URL whose result every browser shows: the recipe's own URL or, if its format is one that only some
    /// browsers accept, the URL of the recipe with the format left open.
    fn for_all_browsers(&self) -> Option<String> {
        let is_offered = |format: &FormatName| self.formats.iter().any(|(name, _)| name == format);
        match &self.recipe.output.format {
            Some(format) if is_offered(format) => {
                self.in_format(FormatName::new(Output::AUTO).ok()?)
            }
            _ => self.url_of(self.recipe.clone()),
        }
    }

    /// Returns the URL of the same recipe in another format.
    fn in_format(&self, format: FormatName) -> Option<String> {
        let output = Output {
            format: Some(format),
            ..self.recipe.output.clone()
        };
        let steps = self.recipe.steps.clone();
        self.url_of(Recipe { steps, output })
    }

    /// Returns the request as a URL in each dialect, or the reason why a dialect cannot express it.
    fn urls(&self, facts: Option<Facts>) -> Vec<Value> {
        let request = ImageRequest::image(self.source.clone(), self.recipe.clone());
        let translation = self.translator.translation(&request, &known_facts(facts));
        let url = |dialect: &'static str| match translation.say_in(dialect) {
            Err(why) => json!({ "dialect": dialect, "why": why }),
            Ok(outcome) => {
                let read = self.resolver.parse(&outcome.url);
                let is_served =
                    read.is_ok_and(|it| it.ask == Ask::Image && it.source == self.source);
                json!({ "dialect": dialect, "url": outcome.url, "but": outcome.but, "served": is_served })
            }
        };
        self.translator.names().map(url).collect()
    }

    fn plan(&self, rehearsal: &Rehearsal, reference: &Recipe, facts: Option<&Facts>) -> Value {
        let planned = &rehearsal.planned;
        let plan = planned.plan();
        let (info, (width, height)) = (plan.info(), plan.size());
        let steps = plan.steps().iter();
        let steps = steps.map(
            |step| json!({ "text": step.text, "nanos": step.cost.nanos, "bytes": step.holds }),
        );
        let rules = plan.rules().iter();
        let rules = rules.map(|rule| json!({ "name": rule.name, "reason": rule.reason }));
        let sizes = facts.map(|facts| geometry::explain(&*planned.request().rules, facts));
        json!({
            "text": plan.to_string(),
            "recipe": plan.recipe().to_string(),
            "reference": reference.to_string(),
            "source": {
                "format": info.format,
                "width": info.width,
                "height": info.height,
                "frames": info.frames,
                "bytes": planned.source().len(),
            },
            "result": { "format": plan.format(), "width": width, "height": height },
            "steps": steps.collect::<Vec<_>>(),
            "nanos": plan.cost().nanos,
            "peak_bytes": plan.peak_bytes(),
            "rules": rules.collect::<Vec<_>>(),
            "sizes": sizes.unwrap_or_default(),
            "notes": plan.notes(),
        })
    }
}
