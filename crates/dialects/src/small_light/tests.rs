//! Tests of the rules of ngx_small_light, among them golden vectors.

mod golden;
mod hostile;
mod layout;
mod parameters;
mod paths;

use super::rules::SmallLightRules;
use super::{Compat, Notes, RawOptions, SmallLight, SmallLightConfig, reader};
use crate::{Config, Dialects, ImageRequest, Refusal};

fn sane() -> SmallLightConfig {
    let patterns = [("a", "dw=50,dh=50"), ("Big", "dw=900")];
    SmallLightConfig {
        material_dir: Some("icons".into()),
        patterns: patterns
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
        ..SmallLightConfig::default()
    }
}

fn strict() -> SmallLightConfig {
    let mut config = sane();
    config.compat = Compat::Strict;
    let chain = ("chain".to_owned(), "p=a,q=7".to_owned());
    config.patterns.extend([chain]);
    config
}

fn getparam() -> SmallLightConfig {
    SmallLightConfig {
        getparam_mode: true,
        ..sane()
    }
}

fn ask(config: SmallLightConfig, target: &str) -> Result<ImageRequest, Refusal> {
    let config = Config {
        small_light: config,
        ..Config::default()
    };
    Dialects::new(&config)
        .expect("a configuration")
        .parse(target)
}

/// Parses a request whose options must be valid.
fn request(config: SmallLightConfig, options: &str) -> ImageRequest {
    let target = if config.getparam_mode {
        format!("/a.jpg?{options}")
    } else {
        format!("/small_light({options})/a.jpg")
    };
    ask(config, &target).expect(options)
}

/// Returns the rules that options are parsed to, which do not depend on a source yet.
fn rules(config: SmallLightConfig, options: &str) -> SmallLightRules {
    let given = match config.getparam_mode {
        true => RawOptions::Query(options),
        false => RawOptions::Path(options),
    };
    let small_light = SmallLight {
        config: config.checked().expect("a configuration"),
    };
    let mut notes = Notes::default();
    let options = small_light.options(given, &mut notes).expect(options);
    reader::read(&options, &small_light.config, &mut notes).expect("rules")
}

/// Returns the canonical text of options, without the enclosing `small_light(…)`.
fn text(config: SmallLightConfig, options: &str) -> String {
    bare(&request(config, options))
}

fn bare(request: &ImageRequest) -> String {
    let text = request.rules.text();
    let options = text.strip_prefix("small_light(");
    let options = options.and_then(|text| text.strip_suffix(')'));
    options.expect("small_light's").to_owned()
}
