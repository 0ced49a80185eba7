//! Test vectors: known responses of the programs that the dialects come from, and functions that compare requests with
//! them.

use std::fs;
use std::path::Path;

use andon_recipe::{Facts, Orientation, Recipe, size_after};
use serde::Deserialize;

use crate::document::{About, Part, ResultAbout, SourceAbout};
use crate::{Dialects, Fault, ImageRequest, Refusal};

/// A row of `../shared/dialects/vectors.jsonl`, with the fields that concern dialects.
#[derive(Debug, Deserialize)]
pub(crate) struct Vector {
    dialect: String,
    pub(crate) url: String,
    pub(crate) expect: Answer,
    source_size: Option<(u32, u32)>,
    source: Option<String>,
    /// The decoded identifier of an IIIF URL.
    pub(crate) identifier: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    width: Option<u32>,
    height: Option<u32>,
}

/// Returns the rows of one dialect. If the file is missing, prints a message and returns none.
pub(crate) fn of(dialect: &str) -> Vec<Vector> {
    let file = "../../../shared/dialects/vectors.jsonl";
    let Ok(text) = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)) else {
        eprintln!("skipped: there is no {file}");
        return Vec::new();
    };
    let rows = text
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    let rows: Vec<Vector> = rows.filter(|row: &Vector| row.dialect == dialect).collect();
    assert!(!rows.is_empty(), "{dialect}");
    rows
}

impl Vector {
    /// Asserts that the URL of the row gets the expected response.
    pub(crate) fn check(&self, dialects: &Dialects) {
        let name = self.source.as_deref().unwrap_or(&self.url);
        let format = match name.rsplit('.').next() {
            Some("png") => "png",
            Some("gif") => "gif",
            Some("webp") => "webp",
            _ => "jpeg",
        };
        let (width, height) = self.source_size.unwrap_or((400, 300));
        let answer = answer(
            dialects.parse(&self.url),
            &Facts::new(format, width, height),
        );
        match (
            self.expect.status,
            self.expect.width.zip(self.expect.height),
        ) {
            (200, Some(size)) => assert_eq!(answer, Ok(size), "{self:?}"),
            (200, None) => assert!(answer.is_ok(), "{self:?} {answer:?}"),
            // Whether the file exists is tested elsewhere.
            (404, _) => assert!(answer.is_ok() || answer == Err(404), "{self:?} {answer:?}"),
            (status, _) => assert_eq!(answer, Err(status), "{self:?}"),
        }
    }
}

/// Returns the recipe that a valid request resolves to.
pub(crate) fn resolved(parsed: Result<ImageRequest, Refusal>, facts: &Facts) -> Recipe {
    let request = parsed.expect("a request");
    let recipe = request.rules.resolve(facts);
    recipe.unwrap_or_else(|error| panic!("{}: {error}", request.rules.text()))
}

/// Asserts the size in px of the result for each entry of `table`: options, and the expected size. `ask` makes a
/// request of options.
pub(crate) fn check_sizes(
    ask: impl Fn(&str) -> Result<ImageRequest, Refusal>,
    facts: &Facts,
    table: &[(&str, (u32, u32))],
) {
    for (options, expected) in table {
        let recipe = resolved(ask(options), facts);
        assert_eq!(size(&recipe, facts), *expected, "{options}");
    }
}

/// Returns the size in px of the response to a request, or its error status.
pub(crate) fn answer(
    parsed: Result<ImageRequest, Refusal>,
    facts: &Facts,
) -> Result<(u32, u32), u16> {
    let request = parsed.map_err(|refusal| {
        let status = match refusal.fault {
            Fault::Signature => 403,
            Fault::Expired => 410,
            _ => 400,
        };
        refusal.errors.0.status(refusal.fault, status)
    })?;
    // The expiry time is long past. The server, not this crate, compares it with the clock.
    if request
        .style
        .expires
        .is_some_and(|moment| moment < 1_000_000_000)
    {
        return Err(request.style.errors.0.status(Fault::Expired, 410));
    }
    let recipe = request.rules.resolve(facts).map_err(|_| 422_u16)?;
    Ok(size(&recipe, facts))
}

/// Returns the size in px of the result of a resolved recipe.
pub(crate) fn size(recipe: &Recipe, facts: &Facts) -> (u32, u32) {
    size_after(&recipe.steps, facts).unwrap_or_else(|| panic!("{recipe} is not resolved"))
}

/// Returns the facts that a document about an animation of three frames is written from, with the request's recipe and
/// the results `parts`.
pub(crate) fn about<'a>(recipe: &'a Recipe, parts: &'a [Part]) -> About<'a> {
    About {
        source: SourceAbout {
            format: "gif",
            width: 40,
            height: 30,
            orientation: Orientation::default(),
            frames: 3,
            alpha: false,
            depth: 8,
            colour: "rgb",
            profiled: false,
            metadata: false,
            progressive: false,
            bytes: 1000,
        },
        recipe,
        result: ResultAbout {
            format: "gif",
            width: 40,
            height: 30,
        },
        parts,
    }
}
