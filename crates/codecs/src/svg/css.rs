//! Style sheets: the references that they assign to elements, and the cost of applying them.
//!
//! They are parsed and matched with the library that `usvg` uses, so that the same rules match here and in `usvg`. For
//! every error that the library ignores, it counts lines from the beginning of the text. The library also clones a
//! block for every selector before it, and tries every ancestor for every descendant combinator. Each of these costs is
//! bounded here.

use andon_pixels::Result;
use resvg::usvg::roxmltree::Node;
use simplecss::{AttributeOperator, Declaration, DeclarationTokenizer, PseudoClass, StyleSheet};

use super::document::unsupported;
use super::steps::Steps;

/// Maximum number of bytes that the CSS library may scan to find the line numbers of errors in style sheets.
const SCANNED: u64 = 400_000_000;

/// Maximum number of declarations in all rules, where a block counts once for each selector before it.
const DECLARATIONS: usize = 300_000;

/// Maximum number of comments, because the CSS library skips them recursively.
const COMMENTS: usize = 1000;

/// The style sheets of a document, merged.
pub(super) struct Css<'a> {
    sheet: StyleSheet<'a>,
    steps: &'a Steps,
}

impl<'a> Css<'a> {
    /// Reads every `style` element below `root`.
    ///
    /// # Errors
    /// `Unsupported` for style sheets over the limits.
    pub(super) fn of(root: Node<'a, 'a>, steps: &'a Steps) -> Result<Self> {
        let mut sheet = StyleSheet::new();
        let (mut scanned, mut declarations, mut comments) = (0, 0, 0);
        for node in root.descendants().filter(|node| node.has_tag_name("style")) {
            let css = matches!(node.attribute("type"), Some("text/css") | None);
            let Some(text) = node.text().filter(|_| css) else {
                continue;
            };
            scanned += scan(text);
            declarations += count_declarations(text);
            comments += memchr::memmem::find_iter(text.as_bytes(), b"/*").count();
            if scanned > SCANNED || declarations > DECLARATIONS || comments > COMMENTS {
                return Err(unsupported(
                    "style sheets that take too long to read".to_owned(),
                ));
            }
            sheet.parse_more(text);
        }
        Ok(Self { sheet, steps })
    }

    /// Calls `with` for every declaration that applies to the element, in order of increasing precedence, and returns
    /// the number of [`Steps`] (units of work) that this took.
    pub(super) fn apply(
        &self,
        node: Node<'a, 'a>,
        mut with: impl FnMut(&Declaration<'a>),
    ) -> Result<u64> {
        let previous = self.steps.left();
        for rule in &self.sheet.rules {
            self.steps.spend(1, SELECTORS)?;
            let element = Matching {
                node,
                steps: self.steps,
            };
            if rule.selector.matches(&element) {
                self.steps
                    .spend(WRITTEN * rule.declarations.len() as u64, SELECTORS)?;
                rule.declarations.iter().for_each(&mut with);
            }
            if self.steps.left() == 0 {
                self.steps.spend(1, SELECTORS)?;
            }
        }
        if let Some(text) = node.attribute("style") {
            // For errors in the attribute, too, the library counts lines from its beginning.
            self.steps.spend(scan(text) / 4, STYLES)?;
            for declaration in DeclarationTokenizer::from(text) {
                self.steps.spend(WRITTEN, STYLES)?;
                with(&declaration);
            }
        }
        Ok(previous - self.steps.left())
    }
}

const SELECTORS: &str = "selectors of style sheets";
const STYLES: &str = "style attributes";

/// Number of [`Steps`] to spend for copying one declaration to an element, and comparing it with the declarations that
/// the element already has.
const WRITTEN: u64 = 15;

/// Estimates the number of bytes that the CSS library scans to find the line numbers of all possible errors. For each
/// error, it scans the text from the beginning to the error. Bytes of earlier lines count less than those of the
/// error's own line, because they are scanned faster.
fn scan(text: &str) -> u64 {
    let mut line = 0;
    let mut total = 0_u64;
    let mut previous = b' ';
    for (at, byte) in text.bytes().enumerate() {
        let fails = match byte {
            b'\n' => {
                line = at;
                previous.is_ascii_digit()
            }
            b' ' | b'\t' | b'\r' => previous.is_ascii_digit(),
            // Bytes that begin a comment or are part of a name or of base64 data.
            b'/' | b'-' | b'_' | b'=' => false,
            // An error unless it follows a letter: after a number, a unit is expected.
            b'+' => !previous.is_ascii_alphabetic(),
            byte => byte.is_ascii_punctuation(),
        };
        if fails {
            total += (at - line) as u64 + at as u64 / 8;
        }
        previous = byte;
    }
    total
}

/// Returns an upper bound on the number of declarations in the rules of a text. A block counts once for each selector
/// before it, because it is cloned for each.
fn count_declarations(text: &str) -> usize {
    let count = |part: &str, of: u8| memchr::memchr_iter(of, part.as_bytes()).count();
    let mut parts = text.split('{');
    let mut selectors = parts.next().map_or(0, |part| count(part, b',') + 1);
    let (mut total, mut most, mut all) = (0_usize, selectors, 0_usize);
    for part in parts {
        let declarations = count(part, b':');
        all += declarations;
        total = total.saturating_add(selectors.saturating_mul(declarations));
        selectors = count(part, b',') + 1;
        most = most.max(selectors);
    }
    match hides(text) {
        // The text may contain fewer, longer blocks than its braces suggest.
        true => total.max(most.saturating_mul(all) / 4),
        false => total,
    }
}

/// Whether some brace might not begin or end a block, for example in a comment or a string. In doubt, returns true.
fn hides(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut is_open) = (0, false);
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at + 1..];
        // The extra length of the end mark, the end mark's offset, and bytes that must not be inside. Without these
        // bytes inside, a parser finds the same braces, whether or not it recognises the comment, string or argument.
        let (length, end, not) = match byte {
            b'{' | b'}' if is_open == (*byte == b'{') => return true,
            b'{' | b'}' => {
                is_open = !is_open;
                at += 1;
                continue;
            }
            b'\\' => return true,
            b'\'' | b'"' => (1, memchr::memchr(*byte, rest), &b"{};"[..]),
            b'/' if rest.starts_with(b"*") => {
                (3, memchr::memmem::find(&rest[1..], b"*/"), &b"{};"[..])
            }
            b'(' => (1, memchr::memchr(b')', rest), &b"{}[*"[..]),
            _ => {
                at += 1;
                continue;
            }
        };
        let Some(end) = end else {
            return true;
        };
        if rest[..end + length].iter().any(|byte| not.contains(byte)) {
            return true;
        }
        at += 1 + end + length;
    }
    false
}

/// An element for selector matching. Each query spends one or more [`Steps`] (units of work). When none are left, the
/// element matches nothing, which ends every search.
struct Matching<'a> {
    node: Node<'a, 'a>,
    steps: &'a Steps,
}

impl<'a> Matching<'a> {
    fn at(&self, node: Node<'a, 'a>) -> Self {
        Self {
            node,
            steps: self.steps,
        }
    }

    /// Returns the previous sibling element. Comments and texts in between cost [`Steps`] (units of work), too.
    fn previous(&self) -> Option<Node<'a, 'a>> {
        let mut siblings = self.node.prev_siblings().skip(1);
        let ends_search = |node: &Node<'_, '_>| node.is_element() || !self.steps.take(1);
        siblings.find(ends_search).filter(Node::is_element)
    }
}

impl simplecss::Element for Matching<'_> {
    fn parent_element(&self) -> Option<Self> {
        let parent = self.steps.take(1).then(|| self.node.parent_element());
        parent.flatten().map(|node| self.at(node))
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let previous = self.steps.take(1).then(|| self.previous());
        previous.flatten().map(|node| self.at(node))
    }

    fn has_local_name(&self, name: &str) -> bool {
        self.steps.take(1) && self.node.tag_name().name() == name
    }

    fn attribute_matches(&self, name: &str, operator: AttributeOperator<'_>) -> bool {
        let value = self.node.attribute(name);
        let steps = 1 + self.node.attributes().len() + value.map_or(0, str::len) / 3;
        self.steps.take(steps as u64) && value.is_some_and(|value| operator.matches(value))
    }

    fn pseudo_class_matches(&self, class: PseudoClass<'_>) -> bool {
        self.steps.take(1) && matches!(class, PseudoClass::FirstChild) && self.previous().is_none()
    }
}

#[cfg(test)]
mod tests {
    use resvg::usvg::roxmltree::Document;

    use super::*;

    /// Reads a style sheet and applies it to an element inside 180 nested groups. Returns the number of [`Steps`]
    /// (units of work) that applying it took.
    fn applied(sheet: &str) -> Result<u64> {
        let (open, close) = ("<g>".repeat(180), "</g>".repeat(180));
        let text = format!("<svg><style>{sheet}</style>{open}<rect/>{close}</svg>");
        let document = Document::parse(&text).expect("a document");
        let steps = Steps::new();
        let css = Css::of(document.root_element(), &steps)?;
        let inner = document
            .descendants()
            .rfind(|node| node.has_tag_name("rect"));
        css.apply(inner.expect("an element"), |_| ())
    }

    #[test]
    fn selectors_are_matched_within_a_budget() {
        assert!(applied("g g rect{fill:red}").is_ok());
        assert!(applied("q g g rect{fill:red}").is_ok());
        let error = applied("q g g g g g rect{fill:red}").unwrap_err();
        assert!(error.to_string().contains("selectors"), "{error}");
    }

    #[test]
    fn blocks_are_counted_for_each_selector() {
        assert_eq!(count_declarations("a,b{c:d;e:f}g{h:i}"), 5);
        let hidden = format!(
            "{}a{{x:y;/*{{*/{}}}",
            "a,".repeat(3000),
            "b:c;".repeat(3000)
        );
        assert!(count_declarations(&hidden) > DECLARATIONS);
        assert!(
            applied(&format!(
                "{}a{{{}}}",
                "a,".repeat(1000),
                "b:c;".repeat(1000)
            ))
            .is_err()
        );
        for hidden in [
            "b{c:'}{'}",
            "b{c:d(}{)}",
            "b{/*}{*/c:d}",
            "b{c{}}",
            "@d ';b[c=\"'{}\"]\"{e:f}",
            "@d (;/*){}*/b{e:f}",
            "b{c:d}/*",
            "b\\{{c:d}",
        ] {
            assert!(hides(hidden), "{hidden}");
        }
        assert!(!hides(
            "/* a, b */ @font-face{font-family:'A b';src:url(data:font/woff2;base64,a/+==)} c{d:e}"
        ));
        assert!(applied(&format!("a{}b{{c:d}}", "/**/".repeat(2000))).is_err());
    }
}
