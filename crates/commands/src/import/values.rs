//! Translates values of other servers' variables to values of `andon.toml`. A value is a string from an environment, or
//! a Python literal.

use toml::{Table, Value};

/// Whether a value means that a variable is not set: an empty string, or `false`, which Helm charts write for an unset
/// string. Not to be used for flags.
pub(super) fn is_none(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty() || text.eq_ignore_ascii_case("false"),
        other => *other == Value::Boolean(false),
    }
}

/// Returns a string unchanged, and an error for any other value.
pub(super) fn text(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(_) => Ok(value.clone()),
        other => Err(format!("`{other}` is no text")),
    }
}

/// Translates a variable's value to a TOML integer. Anything but a non-negative integer is an error.
pub(super) fn number(value: &Value) -> Result<Value, String> {
    let number = match value {
        Value::Integer(number) => Some(*number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Some(*number as i64)
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number {
        Some(number) if number >= 0 => Ok(Value::Integer(number)),
        _ => Err(format!("{value} is no whole number")),
    }
}

/// Translates a positive integer. 0, which other servers use for no limit, is an error.
pub(super) fn limit(value: &Value) -> Result<Value, String> {
    match number(value)? {
        Value::Integer(0) => {
            Err("0, no limit, is not possible here: the default applies".to_owned())
        }
        number => Ok(number),
    }
}

/// Translates a variable's value, a boolean in the notation of Go or Python, to a TOML boolean.
pub(super) fn flag(value: &Value) -> Result<Value, String> {
    let flag = match value {
        Value::Boolean(flag) => Some(*flag),
        Value::Integer(number) => Some(*number != 0),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "1" | "t" | "true" => Some(true),
            "0" | "f" | "false" => Some(false),
            _ => None,
        },
        _ => None,
    };
    flag.map(Value::Boolean)
        .ok_or_else(|| format!("{value} is neither true nor false"))
}

/// Translates a list of strings, which is comma-separated in an environment.
pub(super) fn list(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(_) | Value::Array(_) => Ok(texts(value).into()),
        other => Err(format!("`{other}` is no list")),
    }
}

/// Returns the strings of a list.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let items = text.split(',').map(str::trim);
            items
                .filter(|item| !item.is_empty())
                .map(str::to_owned)
                .collect()
        }
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

/// Translates a duration: a number of seconds, or Go's notation, such as `1h30m`. 0, which other servers use for no
/// limit, is an error.
pub(super) fn span(value: &Value) -> Result<Value, String> {
    let seconds = seconds(value)?;
    match seconds > 0.0 {
        true if seconds.fract() == 0.0 => Ok(Value::String(format!("{}s", seconds as u64))),
        true => Ok(Value::String(format!(
            "{}ms",
            (seconds * 1000.0).ceil() as u64
        ))),
        false => Err("0, no limit, is not possible here: the default applies".to_owned()),
    }
}

/// Translates a duration to an integer number of seconds, rounded up.
pub(super) fn whole_seconds(value: &Value) -> Result<Value, String> {
    seconds(value).map(|seconds| Value::Integer(seconds.ceil() as i64))
}

fn seconds(value: &Value) -> Result<f64, String> {
    let seconds = match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::String(text) => text
            .trim()
            .parse()
            .ok()
            .or_else(|| go_duration(text.trim())),
        _ => None,
    };
    let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
    seconds.ok_or_else(|| format!("{value} is no duration"))
}

/// Parses a duration in Go's notation, such as `1h30m` or `500ms`, and returns seconds.
fn go_duration(text: &str) -> Option<f64> {
    let (mut rest, mut total) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        total += number
            * match &rest[..letters] {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = &rest[letters..];
    }
    (!text.is_empty()).then_some(total)
}

/// Translates megapixels to a number of pixels.
pub(super) fn megapixels(value: &Value) -> Result<Value, String> {
    let number = match value {
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let number = number.filter(|number| *number > 0.0 && *number < 1e6);
    let pixels = number.map(|number| Value::Integer((number * 1e6) as i64));
    pixels.ok_or_else(|| format!("{value} is no number of megapixels over 0"))
}

/// Translates a variable's value, an address to listen on. A missing host becomes 0.0.0.0: all IPv4 addresses.
pub(super) fn address(value: &Value) -> Result<Value, String> {
    let text = value.as_str().unwrap_or_default();
    match text.strip_prefix(':') {
        Some(port) => Ok(format!("0.0.0.0:{port}").into()),
        None if text.contains(':') => Ok(text.into()),
        None => Err(format!("{value} is no address with a port")),
    }
}

/// Translates an address to a list with that address.
pub(super) fn addresses(value: &Value) -> Result<Value, String> {
    address(value).map(|address| Value::Array(vec![address]))
}

/// Translates a string to a list with that string.
pub(super) fn one(value: &Value) -> Result<Value, String> {
    text(value).map(|text| Value::Array(vec![text]))
}

/// Translates a variable's value, a URL prefix, to one with a slash in front and none at its end. An empty prefix
/// becomes `/`.
pub(super) fn prefix(value: &Value) -> Result<Value, String> {
    let text = value.as_str().unwrap_or_default().trim_matches('/');
    Ok(format!("/{text}").into())
}

/// Translates pairs such as `jpeg=70,webp=60` to a table of integers.
pub(super) fn numbers_by_name(value: &Value) -> Result<Value, String> {
    let mut table = Table::new();
    for pair in texts(value) {
        let (name, number_text) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` has no `=`"))?;
        table.insert(name.trim().to_owned(), number(&Value::from(number_text))?);
    }
    Ok(Value::Table(table))
}

/// Whether a key could be guessed, because it is short or repeats one byte. `andon.toml` has to permit such keys
/// explicitly.
pub(crate) fn is_weak(key: &[u8]) -> bool {
    key.len() < andon_dialects::signature::Key::LEAST
        || key.iter().all(|byte| Some(byte) == key.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds_or_those_of_go() {
        for (text, is) in [
            ("10", "10s"),
            ("0.25", "250ms"),
            ("1h30m", "5400s"),
            ("500ms", "500ms"),
            ("168h", "604800s"),
        ] {
            assert_eq!(span(&text.into()), Ok(is.into()), "{text}");
        }
        for text in ["", "0", "-1", "1d", "h", "1e99", "NaN"] {
            assert!(span(&text.into()).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_flags_and_lists_are_read_from_texts_and_literals() {
        assert_eq!(number(&Value::Float(75e6)), Ok(Value::Integer(75_000_000)));
        assert!(number(&"-1".into()).is_err() && limit(&"0".into()).is_err());
        assert_eq!(megapixels(&"16.8".into()), Ok(Value::Integer(16_800_000)));
        assert_eq!(flag(&"TRUE".into()), Ok(Value::Boolean(true)));
        assert!(flag(&"yes".into()).is_err());
        assert_eq!(texts(&"a, b,".into()), ["a", "b"]);
        assert_eq!(address(&":8080".into()), Ok("0.0.0.0:8080".into()));
        assert!(address(&"8080".into()).is_err());
        assert_eq!(prefix(&"/a/".into()), Ok("/a".into()));
    }
}
