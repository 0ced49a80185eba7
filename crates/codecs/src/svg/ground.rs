//! The colour that a drawing lies on: what `background` at its root says. `background-color` is known to `usvg`.

use simplecss::Declaration;
use svgtypes::Color;

/// What the declarations of the root came to so far, the weightier ones later.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ground {
    colour: Option<Color>,
    /// It was said by `background`, which says everything about the ground in one.
    is_shorthand: bool,
    important: bool,
}

impl Ground {
    /// Takes a declaration of the root.
    pub(super) fn declare(&mut self, declaration: &Declaration<'_>) {
        let is_shorthand = declaration.name == "background";
        if !is_shorthand && declaration.name != "background-color" {
            return;
        }
        if self.important && !declaration.important {
            return;
        }
        *self = Self {
            colour: words(declaration.value).find_map(|word| word.parse().ok()),
            is_shorthand,
            important: declaration.important,
        };
    }

    /// The colour that is to be painted before everything else.
    pub(super) fn colour(self) -> Option<Color> {
        self.colour.filter(|_| self.is_shorthand)
    }
}

/// The words of a value; what stands in parentheses is part of one.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    value
        .split(move |c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && c.is_ascii_whitespace()
        })
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(style: &str) -> Option<(u8, u8, u8)> {
        let mut ground = Ground::default();
        for declaration in simplecss::DeclarationTokenizer::from(style) {
            ground.declare(&declaration);
        }
        let colour = ground.colour();
        colour.map(|colour| (colour.red, colour.green, colour.blue))
    }

    #[test]
    fn the_shorthand_tells_a_colour_among_other_things() {
        let red = Some((220, 30, 30));
        for style in [
            "background:#dc1e1e",
            "background: url(a b.png) no-repeat rgb(220, 30, 30)",
            "background:blue;background:#dc1e1e",
            "background:#dc1e1e !important;background:blue",
        ] {
            assert_eq!(ground(style), red, "{style}");
        }
        for style in ["background:none", "background-color:red", "fill:red"] {
            assert_eq!(ground(style), None, "{style}");
        }
    }
}
