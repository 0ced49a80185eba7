//! Writes wishes as URLs of a dialect, and parses these URLs again.

use andon_recipe::Wish;

use crate::config::{Mount, Row};
use crate::spelling::{self, Spelt};
use crate::{Ask, Config, ConfigError, Dialects, ImageRequest, ROWS};

/// Creates a single dialect with its usual prefix.
pub(super) fn usual(name: &str) -> Result<Dialects, ConfigError> {
    let mut config = Config::default();
    config.native.enabled = false;
    config.small_light.enabled = false;
    if let Some(row) = Row::named(name) {
        (row.switch_on)(&mut config, Mount::Usual);
    }
    Dialects::new(&config)
}

/// A request (a wish), written as a URL of a dialect.
pub(super) struct Spelling {
    pub(super) url: String,
    /// The request that the dialect reads from the URL.
    pub(super) request: ImageRequest,
    /// The parts of the request that the URL does not express, as words of a recipe.
    pub(super) missing: Vec<String>,
}

/// Writes a wish for the source of a request in the dialect of this name, and parses the URL again. The URL is first
/// written with the usual prefix and without a signature, and then with prefix and signature of `dialects`.
///
/// # Errors
/// The dialect's reason to refuse the URL.
pub(super) fn write_wish(
    name: &str,
    dialects: &Dialects,
    request: &ImageRequest,
    wish: &Wish,
) -> Result<Spelling, String> {
    let row = Row::named(name).ok_or_else(|| format!("there is no dialect `{name}`"))?;
    let Spelt { url, missing } = (row.spell)(wish, &escaped(&request.source.literal()));
    let names = |parsed: &ImageRequest| parsed.ask == Ask::Image && parsed.source == request.source;
    let usual = usual(name).map_err(|error| error.to_string())?;
    let parsed = usual.parse(&url).map_err(|refusal| refusal.to_string())?;
    let configured_url = dialects.write(&parsed).next().map(|(_, url)| url);
    let url = configured_url.unwrap_or(url);
    match dialects.parse(&url) {
        Ok(parsed) if names(&parsed) => Ok(Spelling {
            url,
            request: parsed,
            missing,
        }),
        Ok(_) => Err("it does not name this source".to_owned()),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// Translates a word of a recipe to an option of the request's own dialect. Returns it unchanged if there is none.
pub(super) fn in_own_words(request: &ImageRequest, word: &str) -> String {
    let text = request.rules.text();
    let mut rows = ROWS.iter().filter(|row| text.starts_with(row.name));
    let option = rows.find_map(|row| spelling::option(&(row.words)(), word));
    option
        .filter(|option| !option.is_empty())
        .unwrap_or_else(|| word.to_owned())
}

/// Percent-encodes a source for paths and queries: all characters but letters, digits and `-._~/`.
fn escaped(source: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| match bare(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    source.bytes().map(one).collect()
}
