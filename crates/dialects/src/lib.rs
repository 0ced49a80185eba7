//! URL languages: from a request's target to a wish.
//!
//! [`Dialects`] is the front door. It applies the rewrite rules, asks each dialect in turn whether the
//! target is in its language, and takes what none of them knows for a plain file. Nothing here opens a
//! file or a picture.
//!
//! ```
//! use andon_dialects::{Config, Dialects};
//! let dialects = Dialects::new(&Config::default()).unwrap();
//! let wish = dialects.wish("/small_light(dw=250,dh=250,q=95)/trip/a%20b.jpg").unwrap();
//! assert_eq!(wish.source, "trip/a b.jpg");
//! assert_eq!(wish.rules.text(), "small_light(dw=250,dh=250,q=95)");
//! ```

#![forbid(unsafe_code)]

mod dialect;
mod percent;
mod rewrite;
pub mod small_light;

pub use dialect::{Dialect, Refusal, Target, Wish};
pub use rewrite::Rewrite;
pub use small_light::{Compat, Mistakes, SmallLightConfig};

use rewrite::Rewriter;

/// The file of all [`Dialects::examples`], with its slash.
pub const EXAMPLE_SOURCE: &str = "/trip/a.jpg";

/// Makes a dialect, if the configuration has it switched on.
pub type Maker = fn(&Config) -> Result<Option<Box<dyn Dialect>>, ConfigError>;

/// Every dialect, in the order in which they are asked.
pub const ALL: &[Maker] = &[small_light::make];

/// What the operator configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Rewrite rules: the first whose pattern matches the raw path acts, before any dialect looks.
    pub rewrites: Vec<Rewrite>,
    /// ngx_small_light's URLs.
    pub small_light: SmallLightConfig,
}

/// A configuration that cannot work: which knob, its value, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The knob, as the configuration file calls it.
    pub knob: &'static str,
    /// Its value.
    pub value: String,
    /// What is wrong and what would do.
    pub why: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { knob, value, why } = self;
        write!(f, "{knob} = `{value}` cannot work: {why}")
    }
}

impl std::error::Error for ConfigError {}

/// The dialects that are switched on, ready to read targets. Shared by all requests.
#[derive(Debug)]
pub struct Dialects {
    rewriter: Rewriter,
    dialects: Vec<Box<dyn Dialect>>,
}

impl Dialects {
    /// Compiles the configuration.
    ///
    /// # Errors
    /// The first rule or pattern that cannot work.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let mut dialects = Vec::new();
        for make in ALL {
            dialects.extend(make(config)?);
        }
        Ok(Self {
            rewriter: Rewriter::new(&config.rewrites)?,
            dialects,
        })
    }

    /// A target in each language, with [`EXAMPLE_SOURCE`] as its file.
    pub fn examples(&self) -> impl Iterator<Item = &'static str> {
        self.dialects.iter().map(|dialect| dialect.example())
    }

    /// What the target of a request (path and query as received, such as `/a%20b.jpg?x=1`) asks for.
    ///
    /// # Errors
    /// A target that is broken, or asks for what may not be: the client's fault.
    pub fn wish(&self, raw_target: &str) -> Result<Wish, Refusal> {
        let rewritten = self.rewriter.apply(raw_target);
        let target = Target::new(&rewritten);
        self.dialects
            .iter()
            .find_map(|dialect| dialect.wish(&target).transpose())
            .unwrap_or_else(|| Wish::plain_file(target.path))
    }
}

#[cfg(test)]
mod tests;
