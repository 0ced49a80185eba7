//! The module's rules, as sentences and as golden vectors.

mod golden;
mod hostile;
mod parameters;
mod paths;

use super::{Compat, SmallLightConfig};
use crate::{Config, Dialects, Refusal, Wish};

fn sane() -> SmallLightConfig {
    let patterns = [
        ("a", "dw=50,dh=50"),
        ("chain", "p=a,q=7"),
        ("Big", "dw=900"),
    ];
    SmallLightConfig {
        material_dir_set: true,
        patterns: patterns
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
            .into(),
        ..SmallLightConfig::default()
    }
}

fn strict() -> SmallLightConfig {
    SmallLightConfig {
        compat: Compat::Strict,
        ..sane()
    }
}

fn getparam() -> SmallLightConfig {
    SmallLightConfig {
        getparam_mode: true,
        ..sane()
    }
}

fn ask(config: SmallLightConfig, target: &str) -> Result<Wish, Refusal> {
    let config = Config {
        small_light: config,
        ..Config::default()
    };
    Dialects::new(&config)
        .expect("a configuration")
        .wish(target)
}

/// The wish of options that are no mistake.
fn wish(config: SmallLightConfig, options: &str) -> Wish {
    let target = if config.getparam_mode {
        format!("/a.jpg?{options}")
    } else {
        format!("/small_light({options})/a.jpg")
    };
    ask(config, &target).expect(options)
}

/// Its recipe, as text.
fn text(config: SmallLightConfig, options: &str) -> String {
    wish(config, options).recipe.to_string()
}
