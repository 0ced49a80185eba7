//! Parses the header `Accept`, for dialects that choose the format by it, as the programs that they imitate do.

/// A media range of the header `Accept`, with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range<'a> {
    /// The range as it is written, such as `image/webp` or `*/*`.
    pub(crate) name: &'a str,
    /// Its weight (`q`), 1 by default. `None` if it is not a number, which the programs that the dialects imitate treat
    /// differently.
    pub(crate) weight: Option<f64>,
}

/// Parses the value of an `Accept` header into its media ranges, in their order. Malformed weights are kept as `None`.
pub(crate) fn ranges(header: &str) -> impl Iterator<Item = Range<'_>> {
    header.split(',').map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        let weight = weight.map_or(Some(1.0), |weight| weight.trim().parse().ok());
        Range { name, weight }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_have_the_weight_that_is_given() {
        let read: Vec<_> = ranges("image/avif, image/webp;q=0.8,*/*; v=b3 ;q= .5,a;q=x").collect();
        let expected = [
            ("image/avif", Some(1.0)),
            ("image/webp", Some(0.8)),
            ("*/*", Some(0.5)),
            ("a", None),
        ];
        assert_eq!(read.len(), expected.len());
        for (range, (name, weight)) in read.iter().zip(expected) {
            assert_eq!((range.name, range.weight), (name, weight));
        }
    }

    proptest! {
        #[test]
        fn any_header_is_read(header in any::<String>()) {
            let count = ranges(&header).count();
            prop_assert_eq!(count, header.matches(',').count() + 1);
        }
    }
}
