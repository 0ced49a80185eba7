//! XML entities for fixed texts, which drawing programs declare for their namespaces. They are expanded before the text
//! is parsed, so that all limits apply to the expanded text.

use std::borrow::Cow;

use andon_pixels::Result;

use super::document::{broken, short_enough, unsupported};
use super::prolog::{self, end_after};

/// Maximum number of XML entities in one SVG document. Drawing programs declare about ten.
const MOST: usize = 64;

/// The names of XML entities and their texts. Of several declarations of one name, the first counts.
#[derive(Debug, Default)]
pub(super) struct Entities<'a>(Vec<(&'a str, String)>);

/// Returns the text without the declarations in its document type, and with every declared entity expanded.
pub(super) fn expand_declared(text: Cow<'_, str>) -> Result<String> {
    let declarations = prolog::read(text.as_bytes()).and_then(|prolog| prolog.declarations);
    let Some(declarations) = declarations else {
        return Ok(text.into_owned());
    };
    let entities = Entities::of(&text[declarations.clone()])?;
    // The brackets around the declarations are removed, too.
    let (before, after) = (
        &text[..declarations.start - 1],
        &text[declarations.end + 1..],
    );
    let mut result = before.to_owned();
    entities.expand(after, text.len(), &mut result)?;
    Ok(result)
}

impl<'a> Entities<'a> {
    /// Reads the entities that a document type declares.
    ///
    /// # Errors
    /// `Unsupported` for anything except fixed text: external entities, and texts that refer to other entities or
    /// contain markup. `Unsupported` for more than [`MOST`] entities, too. `Broken` for a comment without an end.
    pub(super) fn of(declarations: &'a str) -> Result<Self> {
        let bytes = declarations.as_bytes();
        let (mut at, mut entities) = (0, Self::default());
        while let Some(offset) = bytes.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
            at += offset;
            let rest = &declarations[at..];
            let end = if rest.starts_with("<!--") {
                end_after(bytes, at, b"-->")
            } else if let Some(declaration) = rest.strip_prefix("<!ENTITY") {
                Some(bytes.len() - entities.declare(declaration)?.len())
            } else {
                Some(at + 1)
            };
            at = end.ok_or_else(|| broken("a comment in its document type does not end"))?;
        }
        Ok(entities)
    }

    /// Reads one declaration of an entity and returns the text after it.
    fn declare(&mut self, declaration: &'a str) -> Result<&'a str> {
        let declaration = declaration.trim_ascii_start();
        let name = declaration
            .split(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '%'))
            .next()
            .unwrap_or_default();
        let value = declaration[name.len()..].trim_ascii_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let parts = quote.and_then(|quote| value[1..].split_once(quote));
        let (Some((value, rest)), false) = (parts, name.is_empty()) else {
            return Err(unsupported(
                "entities that are not fixed text in quotation marks".to_owned(),
            ));
        };
        if !is_fixed(value) {
            return Err(unsupported(format!(
                "the entity {name}, whose text names others or holds markup"
            )));
        }
        if self.0.len() == MOST {
            return Err(unsupported(format!("more than {MOST} entities")));
        }
        if self.value(name).is_none() {
            self.0.push((name, literal(value)));
        }
        Ok(rest)
    }

    fn value(&self, name: &str) -> Option<&str> {
        let entity = self.0.iter().find(|(entity, _)| *entity == name);
        entity.map(|(_, value)| value.as_str())
    }

    /// Appends a text to `to` with every entity expanded.
    ///
    /// # Errors
    /// `Unsupported` if the expansions have more than `most` bytes in total; `Limit` if the expanded text is too long.
    pub(super) fn expand(&self, text: &str, most: usize, to: &mut String) -> Result<()> {
        let bytes = text.as_bytes();
        let (mut copied_end, mut at, mut added_bytes) = (0, 0, 0);
        while let Some(offset) = bytes
            .get(at..)
            .and_then(|rest| memchr::memchr2(b'&', b'<', rest))
        {
            at += offset;
            let rest = &text[at..];
            let literal = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")]
                .into_iter()
                .find(|(begin, _)| rest.starts_with(begin));
            if let Some((_, end)) = literal {
                at = end_after(bytes, at, end.as_bytes()).unwrap_or(bytes.len());
                continue;
            }
            let name = rest.strip_prefix('&').and_then(|rest| {
                let end = memchr::memchr(b';', &rest.as_bytes()[..rest.len().min(LONGEST)])?;
                rest.get(..end)
            });
            let Some((name, value)) = name.and_then(|name| Some((name, self.value(name)?))) else {
                at += 1;
                continue;
            };
            added_bytes += value.len();
            if added_bytes > most {
                return Err(unsupported(
                    "entities that expand to more than the file".to_owned(),
                ));
            }
            to.push_str(&text[copied_end..at]);
            to.push_str(value);
            at += name.len() + 2;
            copied_end = at;
        }
        to.push_str(&text[copied_end..]);
        short_enough(to.len())
    }
}

/// Maximum number of bytes of an entity's name.
const LONGEST: usize = 256;

/// Whether an entity's text contains only literal characters and numeric character references.
fn is_fixed(value: &str) -> bool {
    let mut parts = value.split('&');
    let plain = |part: &str| !part.contains(['<', '%']);
    let numbered = |part: &str| {
        let number = part
            .strip_prefix('#')
            .and_then(|part| part.split_once(';'))
            .map(|(number, _)| number);
        let code = number.and_then(|number| match number.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        });
        // Numeric references for markup characters are excluded, because the parser would read the characters as markup
        // after the expansion.
        let markup = ['<', '&'].map(|c| Some(u32::from(c)));
        code.is_some() && !markup.contains(&code)
    };
    parts.next().is_some_and(plain) && parts.all(|part| numbered(part) && plain(part))
}

/// Escapes an entity's text so that it can end neither an attribute nor a tag.
fn literal(value: &str) -> String {
    value
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(declarations: &str, text: &str) -> Result<String> {
        expand_declared(format!("<!DOCTYPE svg [{declarations}]><svg>{text}").into())
    }

    #[test]
    fn entities_are_put_in_where_they_are_references() {
        let declaration = "\n<!-- <!ENTITY a 'no'> --><!ENTITY a 'x>&#233;'> <!ENTITY b \"it's\">";
        let text = "<g a='&a;&b;'>&a;&amp;&c;<!--&a;--><![CDATA[&a;]]><?p &a;?>&a";
        assert_eq!(
            of(declaration, text).as_deref(),
            Ok(
                "<!DOCTYPE svg ><svg><g a='x&gt;&#233;it&apos;s'>x&gt;&#233;&amp;&c;<!--&a;--><![CDATA[&a;]]>\
                <?p &a;?>&a"
            )
        );
        assert_eq!(
            of("<!ENTITY a 'b'><!ENTITY a 'c'>", "&a; &a;").as_deref(),
            Ok("<!DOCTYPE svg ><svg>b b")
        );
        let plain = "<!DOCTYPE svg><svg>&a;";
        assert_eq!(expand_declared(plain.into()).as_deref(), Ok(plain));
    }

    #[test]
    fn what_is_not_fixed_text_is_refused() {
        for declaration in [
            "<!ENTITY a SYSTEM 'file:///etc/passwd'>",
            "<!ENTITY % a 'b'>",
            "<!ENTITY a '&b;'>",
            "<!ENTITY a '<b/>'>",
            "<!ENTITY a '&#60;b/>'>",
            "<!ENTITY a '&#x26;b;'>",
            "<!ENTITY a '%b;'>",
            "<!ENTITY a 'b",
            "<!ENTITY",
        ] {
            let refused = Entities::of(declaration);
            assert!(refused.is_err(), "{declaration}");
        }
        let many: String = (0..65)
            .map(|index| format!("<!ENTITY a{index} 'b'>"))
            .collect();
        assert!(of(&many, "").is_err());
    }

    #[test]
    fn entities_expand_to_no_more_than_the_text_again() {
        let declaration = format!("<!ENTITY a '{}'>", "b".repeat(1000));
        assert!(of(&declaration, &format!("&a;{}", " ".repeat(1000))).is_ok());
        let error = of(&declaration, &"&a;".repeat(10)).unwrap_err().to_string();
        assert!(error.contains("expand to more"), "{error}");
    }
}
