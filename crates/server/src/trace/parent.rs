//! The 55 bytes of `traceparent`: version, trace, the caller's span, flags.

/// A `traceparent` that came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TraceParent {
    /// The trace's id: 32 hexadecimal digits, not all zero.
    pub(super) trace: String,
    /// The caller's span: 16 hexadecimal digits, not all zero.
    pub(super) span: String,
    flags: u8,
}

impl TraceParent {
    /// Parses a `traceparent` strictly: digits must be in lower case, without spaces around them. Of versions after 00, only
    /// the fields of version 00 are read.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(LENGTH)?;
        let text = std::str::from_utf8(head).ok()?;
        let mut fields = text.split('-');
        let mut field = |digits: usize| {
            let field = fields.next().filter(|field| field.len() == digits)?;
            let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
            field.bytes().all(is_digit).then_some(field)
        };
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let ends_here = match version {
            "ff" => return None,
            "00" => rest.is_empty(),
            _ => rest.first().is_none_or(|next| *next == b'-'),
        };
        let is_zero = |field: &str| field.bytes().all(|digit| digit == b'0');
        if !ends_here || is_zero(trace) || is_zero(span) {
            return None;
        }
        Some(Self {
            trace: trace.to_owned(),
            span: span.to_owned(),
            flags: u8::from_str_radix(flags, 16).ok()?,
        })
    }

    /// Whether the caller records the trace.
    pub(super) fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Returns the `traceparent` with another span, in version 00.
    pub(super) fn with_span(&self, span: &str) -> String {
        format!("00-{}-{span}-{:02x}", self.trace, self.flags & KNOWN_FLAGS)
    }
}

const LENGTH: usize = 55;

/// Flags that are passed on: that the caller records the trace, and that its id is random. Later versions define the
/// others.
const KNOWN_FLAGS: u8 = 0b11;

/// The flag that says that the caller records the trace.
const SAMPLED: u8 = 0b01;

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn parse(text: &str) -> Option<TraceParent> {
        TraceParent::parse(text.as_bytes())
    }

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let parent = parse(GOOD).unwrap();
        assert_eq!(parent.trace, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent.with_span(&parent.span), GOOD);
    }

    #[test]
    fn flags_that_mean_nothing_yet_are_not_passed_on() {
        let parent = parse(&GOOD.replace("-01", "-ff")).unwrap();
        assert!(parent.with_span(&parent.span).ends_with("-03"));
        let parent = parse(&GOOD.replace("-01", "-00")).unwrap();
        assert!(parent.with_span(&parent.span).ends_with("-00"));
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        for good in [
            GOOD.replacen("00", "01", 1),
            GOOD.replacen("00", "fe", 1) + "-what-comes-then",
        ] {
            assert_eq!(parse(&good), parse(GOOD), "{good}");
        }
        assert_eq!(parse(&(GOOD.replacen("00", "01", 1) + "x")), None);
    }

    #[test]
    fn everything_else_is_refused() {
        for bad in [
            String::new(),
            GOOD.to_uppercase(),
            format!("{GOOD}-"),
            format!(" {GOOD}"),
            format!("{GOOD} "),
            GOOD.replacen("00", "ff", 1),
            GOOD.replacen("00", "0g", 1),
            GOOD.replacen('-', "_", 1),
            GOOD.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            GOOD.replace("00f067aa0ba902b7", &"0".repeat(16)),
            GOOD.replace("-00f067aa0ba902b7", "0-0f067aa0ba902b7"),
            GOOD.replace("4bf9", "4bé"),
            GOOD[..54].to_owned(),
        ] {
            assert_eq!(parse(&bad), None, "{bad}");
        }
        for length in 0..GOOD.len() {
            assert_eq!(parse(&GOOD[..length]), None);
        }
    }
}
