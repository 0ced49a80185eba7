//! What is read of an option but not supported.

use super::table::Row;

/// Returns a note on what is not supported of an option with these arguments, if anything.
pub(super) fn left_out(row: &Row, args: &[&str]) -> Option<String> {
    let given = |place: usize| args.get(place).copied().unwrap_or_default();
    // `0`, `false` and nothing ask for nothing.
    let asks = |text: &str| !matches!(text, "" | "0" | "f" | "F" | "false" | "False" | "FALSE");
    match *row.names.last()? {
        "jpgo" if (2..=5).any(|place| asks(given(place))) => {
            Some("trellis, overshoot, scans and tables are the encoder's own".to_owned())
        }
        "webpo" if asks(given(1)) || !matches!(given(2), "" | "default") => {
            Some("colours are thinned in one way, and presets have no effect".to_owned())
        }
        "aq" if matches!(given(0), "dssim" | "ml") => Some(format!(
            "`{}` is not measured; q says the quality",
            given(0)
        )),
        "cp" if profile(given(0)).is_none() => Some(format!(
            "`{}` is none of srgb and p3; it is ignored",
            crate::refusal::shorten(given(0))
        )),
        "co" if given(0).parse::<f64>().is_err() => {
            Some("objects are not looked for; it is ignored".to_owned())
        }
        _ => None,
    }
}

/// Returns the colour space of the profile with this name, if it is sRGB or Display P3.
pub(super) fn profile(name: &str) -> Option<andon_recipe::Profile> {
    match name {
        "srgb" | "sRGB" => Some(andon_recipe::Profile::Srgb),
        "p3" | "display-p3" | "display_p3" => Some(andon_recipe::Profile::P3),
        _ => None,
    }
}
