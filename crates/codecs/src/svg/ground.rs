//! The background colour of an SVG, from the `background` property of its root element. `usvg` itself supports
//! `background-color`.

use simplecss::Declaration;
use svgtypes::Color;

/// The background that the style declarations of an SVG's root element specify so far, applied in order of increasing
/// precedence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ground {
    colour: Option<Color>,
    /// Whether the colour was set by the shorthand `background`, which sets all properties of the background at once.
    is_shorthand: bool,
    important: bool,
}

impl Ground {
    /// Applies a style declaration of the root element.
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

    /// Returns the colour to paint before everything else. Returns `None` if there is no background colour, or if it
    /// was set by `background-color`, which `usvg` paints itself.
    pub(super) fn colour(self) -> Option<Color> {
        self.colour.filter(|_| self.is_shorthand)
    }
}

/// Splits the value of a style declaration into words. Parentheses and their content are part of one word.
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
