//! imgproxy's behaviour, as sentences and as golden answers.

mod answers;
mod options;
mod paths;
mod sizes;

use andon_recipe::{Facts, Recipe};

use super::ImgproxyConfig;
use crate::{Config, Dialects, ImageRequest, Refusal};

/// Mounted at the root, and unsigned.
fn house() -> ImgproxyConfig {
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

/// What options ask for, of a file.
fn ask(config: &ImgproxyConfig, options: &str) -> Result<ImageRequest, Refusal> {
    dialects(config.clone()).parse(&format!("/_/{options}/plain/local:///a.jpg"))
}

/// What options come to for an image.
fn made(options: &str, facts: &Facts) -> Recipe {
    let request = ask(&house(), options).expect(options);
    request.rules.resolve(facts).expect(options)
}

/// The status that a refusal is answered with.
fn status(refusal: &Refusal) -> u16 {
    refusal.errors.0.status(refusal.fault, 400)
}
