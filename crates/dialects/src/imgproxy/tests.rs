//! Tests of imgproxy's behaviour: rules as the names of tests, and tables of expected results.

mod answers;
mod negotiation;
mod options;
mod paths;
mod sizes;

use andon_recipe::{Facts, Recipe};

use super::ImgproxyConfig;
use crate::{Config, Dialects, ImageRequest, Refusal};

/// Returns a configuration with the dialect at the root, and without signatures.
fn common() -> ImgproxyConfig {
    ImgproxyConfig {
        prefix: "/".to_owned(),
        ..ImgproxyConfig::default()
    }
}

fn dialects(imgproxy: ImgproxyConfig) -> Dialects {
    let config = Config {
        imgproxy,
        ..Config::default()
    };
    Dialects::new(&config).expect("a configuration")
}

/// Parses a URL of a file with these options.
fn ask(config: &ImgproxyConfig, options: &str) -> Result<ImageRequest, Refusal> {
    dialects(config.clone()).parse(&format!("/_/{options}/plain/local:///a.jpg"))
}

/// Returns the recipe of the options for an image with these facts.
fn made(options: &str, facts: &Facts) -> Recipe {
    let request = ask(&common(), options).expect(options);
    request.rules.resolve(facts).expect(options)
}

/// Returns the HTTP status of the response to a refused request.
fn status(refusal: &Refusal) -> u16 {
    refusal.errors.0.status(refusal.fault, 400)
}
