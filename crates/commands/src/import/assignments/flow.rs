//! Parses values of YAML in brackets and quotes, such as `[{name: A, value: "b"}]`, and thus JSON.

use super::yaml::{Item, Node, plain};

/// Depth of values in values beyond which nothing is read.
pub(super) const DEEPEST: usize = 64;

/// A text that is read from front to back.
pub(super) struct Flow<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Where each line begins: an offset in `text`, and the line's number.
    pub(super) starts: &'a [(usize, usize)],
}

impl<'a> Flow<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        let after = self.starts.partition_point(|(at, _)| *at <= self.at);
        let start = self.starts.get(after.saturating_sub(1));
        start.map_or(0, |(_, number)| *number)
    }

    /// Skips blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn takes(&mut self, c: char) -> bool {
        self.skip();
        let takes = self.rest().starts_with(c);
        self.at += if takes { c.len_utf8() } else { 0 };
        takes
    }

    /// Takes a value. `None` if it has no end, or is nested too deeply.
    pub(super) fn item(&mut self, depth: usize) -> Option<Item> {
        self.skip();
        let line = self.line();
        let is_template = self.rest().starts_with("{{");
        let node = match self.rest().chars().next()? {
            _ if depth > DEEPEST => return None,
            '{' if !is_template => self.map(depth)?,
            '[' => self.list(depth)?,
            '"' | '\'' => Node::Text(self.quoted()?),
            _ => plain(self.plain()),
        };
        Some(Item { node, line })
    }

    fn map(&mut self, depth: usize) -> Option<Node> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.takes('}') {
            let line = self.line();
            let key = match self.rest().starts_with(['"', '\'']) {
                true => self.quoted()?,
                false => self.plain().to_owned(),
            };
            let has_value = self.takes(':');
            self.skip();
            let value = match has_value && !self.rest().starts_with([',', '}']) {
                true => self.item(depth + 1)?,
                false => Item {
                    node: Node::Null,
                    line,
                },
            };
            entries.push((key, value));
            if !self.takes(',') {
                return self.takes('}').then_some(Node::Map(entries));
            }
        }
        Some(Node::Map(entries))
    }

    fn list(&mut self, depth: usize) -> Option<Node> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.takes(']') {
            let mut item = self.item(depth + 1)?;
            // `[a: b]` is a list of a map.
            if self.takes(':') {
                let Node::Text(key) = item.node else {
                    return None;
                };
                let value = self.item(depth + 1)?;
                item.node = Node::Map(vec![(key, value)]);
            }
            items.push(item);
            if !self.takes(',') {
                return self.takes(']').then_some(Node::List(items));
            }
        }
        Some(Node::List(items))
    }

    /// Takes a text without quotes. `{{ … }}` of a template is a part of it.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        while let Some(next) = self.rest().chars().next() {
            if self.rest().starts_with("{{")
                && let Some(end) = self.rest().find("}}")
            {
                self.at += end + 2;
                continue;
            }
            let after = self.rest()[next.len_utf8()..].chars().next();
            let ends = match next {
                ',' | ']' | '}' | '[' | '{' | '\n' => true,
                ':' => after.is_none_or(|c| c.is_whitespace() || ",]}[{".contains(c)),
                '#' => self.text[..self.at].ends_with(' '),
                _ => false,
            };
            if ends {
                break;
            }
            self.at += next.len_utf8();
        }
        self.text[start..self.at].trim()
    }

    /// Takes a text in quotes. `None` if the closing quote is missing.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next()?;
        let inner = &rest[1..];
        let mut chars = inner.char_indices().peekable();
        while let Some((index, c)) = chars.next() {
            let escapes = match quote {
                '"' => c == '\\',
                _ => c == quote && chars.peek().is_some_and(|(_, next)| *next == quote),
            };
            if escapes {
                chars.next();
            } else if c == quote {
                self.at += index + 2;
                return Some(unescaped(&inner[..index], quote));
            }
        }
        None
    }
}

/// Returns what a text in quotes means. Line ends in it are blanks.
fn unescaped(inner: &str, quote: char) -> String {
    let lines: Vec<&str> = inner.split('\n').map(str::trim).collect();
    let inner = match lines.len() {
        1 => inner.to_owned(),
        _ => lines.join(" "),
    };
    match quote {
        '"' => serde_json::from_str(&format!("\"{inner}\""))
            .unwrap_or_else(|_| inner.replace("\\\"", "\"")),
        _ => inner.replace("''", "'"),
    }
}
