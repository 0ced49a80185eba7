//! The part of the configuration that the dialects read, in their own terms.

use andon_dialects::{self as dialects, Dialects};

use super::{Compat, Config, ConfigError, Mistakes};

impl Config {
    /// The dialects that are switched on, compiled.
    ///
    /// # Errors
    /// Naming the rule or pattern that cannot work.
    pub fn dialects(&self) -> Result<Dialects, ConfigError> {
        let small_light = &self.small_light;
        let config = dialects::Config {
            rewrites: self
                .rewrite
                .iter()
                .map(|rule| dialects::Rewrite {
                    from: rule.from.clone(),
                    to: rule.to.clone(),
                })
                .collect(),
            small_light: dialects::SmallLightConfig {
                enabled: small_light.enabled,
                getparam_mode: small_light.getparam_mode,
                material_dir_set: small_light.material_dir.is_some(),
                radius_max: small_light.radius_max,
                sigma_max: small_light.sigma_max,
                compat: match small_light.compat {
                    Compat::Sane => dialects::Compat::Sane,
                    Compat::Strict => dialects::Compat::Strict,
                },
                mistakes: match small_light.mistakes {
                    Mistakes::Note => dialects::Mistakes::Note,
                    Mistakes::Refuse => dialects::Mistakes::Refuse,
                },
                patterns: small_light.patterns.clone(),
            },
        };
        Dialects::new(&config).map_err(|error| ConfigError::new(error.to_string()))
    }
}
