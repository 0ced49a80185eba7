//! Parses sizes and durations in nginx's notation.

/// Parses a size, such as `10g` or `512k`, and returns bytes.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Translates the value of `expires`, such as `30d`, into a value of `Cache-Control`.
pub(super) fn max_age(text: &str) -> Option<String> {
    match text {
        "max" => Some("max-age=315360000".to_owned()),
        "epoch" | "-1" => Some("no-cache".to_owned()),
        text => seconds(text).map(|seconds| format!("max-age={seconds}")),
    }
}

/// Parses a duration, such as `1h 30m`, `90` or `30d`, and returns seconds.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit = match unit {
            "" | "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            "M" => 30 * 86_400,
            "y" => 365 * 86_400,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        rest = after.trim_start();
    }
    (!text.is_empty()).then_some(total)
}
