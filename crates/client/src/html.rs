//! Escapes text for HTML.

/// Escapes text so that it contains no markup, in content and in quoted attributes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML forbids most control characters.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
