//! Bounds on a number: `<= 3`, `> 0`, `= 1`.

use std::fmt;

/// A bound that a number is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    relation: Relation,
    number: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    AtMost,
    AtLeast,
    Below,
    Above,
    Equal,
}

impl Bound {
    /// The bound `> 0`.
    pub const ABOVE_ZERO: Self = Self {
        relation: Relation::Above,
        number: 0.0,
    };

    /// Reads a bound: `<= 3`, `>= 3`, `< 3`, `> 3` or `= 3`.
    ///
    /// # Errors
    /// A sentence that names the offending value and what would be accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bound = SIGNS.iter().find_map(|(sign, relation)| {
            let number = text.trim().strip_prefix(sign)?.trim().parse::<f64>().ok()?;
            number.is_finite().then_some(Self {
                relation: *relation,
                number,
            })
        });
        bound.ok_or_else(|| format!("`{text}` is not a bound: write `<= 3`, `> 0` or `= 1`"))
    }

    /// Whether `number` meets the bound.
    #[must_use]
    pub fn holds(&self, number: f64) -> bool {
        match self.relation {
            Relation::AtMost => number <= self.number,
            Relation::AtLeast => number >= self.number,
            Relation::Below => number < self.number,
            Relation::Above => number > self.number,
            Relation::Equal => number == self.number,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = SIGNS
            .iter()
            .find(|(_, relation)| *relation == self.relation);
        write!(f, "{} {}", sign.map_or("", |(sign, _)| sign), self.number)
    }
}

/// The comparison signs. Longer ones come first, or `<=` would be read as `<`.
const SIGNS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold_at_their_edges_as_they_say() {
        let holds = |text: &str, number| Bound::parse(text).expect(text).holds(number);
        assert!(holds("<= 3", 3.0) && !holds("< 3", 3.0));
        assert!(holds(">=3", 3.0) && !holds("> 3", 3.0));
        assert!(holds("= 0", 0.0) && !holds("= 0", 1.0));
        assert!(Bound::parse("3").is_err() && Bound::parse("> x").is_err());
    }
}
