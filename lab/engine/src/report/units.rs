//! Formats numbers for human readers: three significant digits, a unit, and a dash for unknown values.

use crate::scenario::Metric;

/// Printed in place of an unknown number.
pub(super) const UNKNOWN: &str = "–";

/// Formats a duration given in seconds: `1.24 ms`, `27.0 s`, `812 ns`.
pub(super) fn duration(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    scaled(seconds, &units, "s")
}

/// Formats a round duration for a chart axis, without trailing zeros: `20 ms`.
pub(super) fn tick_duration(seconds: f64) -> String {
    let text = duration(seconds);
    let Some((number, unit)) = text.split_once(' ') else {
        return text;
    };
    if !number.contains('.') {
        return text;
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {unit}")
}

/// Formats a round value of a metric for a chart axis.
pub(super) fn tick_metric(of: Metric, value: f64) -> String {
    match of {
        Metric::Throughput => format!("{}/s", tick(value)),
        Metric::P50 | Metric::P90 | Metric::P99 | Metric::CpuSPerRequest => tick_duration(value),
        Metric::Rss => bytes(value),
    }
}

/// Formats a number of bytes with decimal prefixes, as usual for networks: `13.6 kB`.
pub(super) fn bytes(count: f64) -> String {
    let units = [
        (1e12, "TB"),
        (1e9, "GB"),
        (1e6, "MB"),
        (1e3, "kB"),
        (1.0, "B"),
    ];
    scaled(count, &units, "B")
}

/// Formats a share as a percentage: `3 %`, `0.8 %`.
pub(super) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return UNKNOWN.to_owned();
    }
    let percent = share * 100.0;
    if percent.abs() >= 10.0 || (percent - percent.round()).abs() < 1e-9 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats a ratio, `×0.432`, with enough decimals to tell a ratio near one from one.
pub(super) fn ratio(ratio: f64) -> String {
    format!("×{}", plain_ratio(ratio))
}

/// Formats an interval of ratios: `[0.410, 0.450]`.
pub(super) fn interval(low: f64, high: f64) -> String {
    format!("[{}, {}]", plain_ratio(low), plain_ratio(high))
}

/// Formats a p-value: `0.031`, or `<0.001` if it is smaller than that.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 {
        return "<0.001".to_owned();
    }
    format!("{p:.3}")
}

/// Formats a round ratio for a chart axis, without trailing zeros: `×0.95`.
pub(super) fn ratio_tick(ratio: f64) -> String {
    format!("×{}", tick(ratio))
}

/// Formats a round number for a chart axis: `0.5`, `20`.
pub(super) fn tick(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn plain_ratio(ratio: f64) -> String {
    match ratio {
        it if !it.is_finite() => UNKNOWN.to_owned(),
        it if it < 0.1 => format!("{it:.4}"),
        it if it < 9.995 => format!("{it:.3}"),
        it if it < 99.95 => format!("{it:.1}"),
        it => format!("{it:.0}"),
    }
}

/// Formats a number without exponent, with three significant digits or all digits of its integer part: `37.0`, `4.88`,
/// `1383442`. Below 0.1 it has four decimals.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        it if !it.is_finite() => UNKNOWN.to_owned(),
        0.0 => "0".to_owned(),
        it if it >= 99.95 => format!("{value:.0}"),
        it if it >= 9.995 => format!("{value:.1}"),
        it if it >= 0.9995 => format!("{value:.2}"),
        it if it >= 0.09995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Formats a value with a fixed number of decimals, or as a dash if it is missing or not finite.
pub(super) fn fixed(value: Option<f64>, decimals: usize) -> String {
    match value {
        // Adding 0 turns −0, the sum of an empty list, into 0.
        Some(value) if value.is_finite() => format!("{:.decimals$}", value + 0.0),
        _ => UNKNOWN.to_owned(),
    }
}

/// Formats a count with its noun in singular or plural: `1 block`, `2 blocks`.
pub(super) fn count(count: u32, of: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {of}{plural}")
}

fn scaled(value: f64, units: &[(f64, &str)], zero: &str) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    // A value that would be rounded to 1000 of a unit is printed as 1 of the next one.
    let fits = |(size, _): &&(f64, &str)| value.abs() >= size * 0.9995;
    match units.iter().find(fits).or(units.last()) {
        Some((size, unit)) if value != 0.0 => {
            let count = value / size;
            let whole = *size == 1.0 && *unit == "B";
            let digits = if whole {
                format!("{count:.0}")
            } else {
                number(count)
            };
            format!("{digits} {unit}")
        }
        _ => format!("0 {zero}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_choose_their_unit() {
        let of = [0.0, 1e-9, 0.000_812, 0.001_24, 0.9999, 27.02, 205.0].map(duration);
        let want = [
            "0 s", "1.00 ns", "812 µs", "1.24 ms", "1.00 s", "27.0 s", "205 s",
        ];
        assert_eq!(of, want);
    }

    #[test]
    fn bytes_count_in_tens() {
        let of = [0.0, 999.0, 13_600.0, 60_000_000.0].map(bytes);
        assert_eq!(of, ["0 B", "999 B", "13.6 kB", "60.0 MB"]);
    }

    #[test]
    fn ratios_keep_the_decimals_that_tell_them_from_one() {
        let of = [0.0431, 0.432, 1.0034, 41.2].map(ratio);
        assert_eq!(of, ["×0.0431", "×0.432", "×1.003", "×41.2"]);
        assert_eq!(interval(0.991, f64::INFINITY), "[0.991, –]");
    }

    #[test]
    fn what_is_not_finite_is_a_dash() {
        assert_eq!(duration(f64::NAN), UNKNOWN);
        assert_eq!(percent(f64::NAN), UNKNOWN);
        assert_eq!(fixed(None, 2), UNKNOWN);
    }
}
