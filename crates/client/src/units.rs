//! Command-line values with a unit: durations such as `8s`, `100ms` or `10m`, and percentages such as `3%`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration in seconds, written as `250ms`, `8s`, `10m` or `1h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// A share of a whole, written as a percentage: 0.03 for `3%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Seconds {
    /// Parses a duration such as `250ms`, `8s`, `1.5m` or `1h`.
    ///
    /// # Errors
    /// A sentence with the invalid value and examples of valid ones.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a duration: write `250ms`, `8s`, `10m` or `1h`");
        let split = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let factor = match text[split..].trim() {
            "ms" => 0.001,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let number: f64 = text[..split].parse().map_err(|_| wrong())?;
        Ok(Self(number * factor))
    }

    /// Converts the duration to the standard library's type.
    #[must_use]
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::try_from_secs_f64(self.0).unwrap_or(std::time::Duration::MAX)
    }
}

impl Share {
    /// Parses a percentage such as `3%` or `0.5%`.
    ///
    /// # Errors
    /// A sentence with the invalid value and an example of a valid one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a share: write `3%`");
        let number = text.trim().strip_suffix('%').ok_or_else(wrong)?;
        match number.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(Self(number / 100.0)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1.0 && self.0 > 0.0 {
            write!(f, "{}ms", round(self.0 * 1000.0))
        } else {
            write!(f, "{}s", round(self.0))
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", round(self.0 * 100.0))
    }
}

/// Rounds to six decimal places, to hide binary rounding errors such as 0.30000000000000004.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(de::Error::custom)
            }
        }
    };
}

as_text!(Seconds);
as_text!(Share);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(Seconds::parse("250ms"), Ok(Seconds(0.25)));
        assert_eq!(Seconds::parse("8s"), Ok(Seconds(8.0)));
        assert_eq!(Seconds::parse("10m"), Ok(Seconds(600.0)));
        assert!(Seconds::parse("8").is_err_and(|what| what.contains("`8`")));
        assert!(Seconds::parse("fast").is_err());
    }

    #[test]
    fn shares_are_percent() {
        assert_eq!(Share::parse("3%"), Ok(Share(0.03)));
        assert!(Share::parse("0.03").is_err());
        assert!(Share::parse("-1%").is_err());
        assert_eq!(Share(0.03).to_string(), "3%");
    }
}
