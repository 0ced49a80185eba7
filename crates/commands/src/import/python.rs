//! Reads a Python file's assignments whose values are literals or products of integers. Nothing is executed: any other
//! expression, call or block is only reported with its line.

use toml::{Table, Value};

use super::assignments::{Assignment, At};

/// The contents of a Python configuration file.
#[derive(Debug, Default)]
pub(super) struct Python {
    /// The names that are set to a literal. Names that are set to `None` are omitted, because they count as not set.
    pub(super) assignments: Vec<Assignment>,
    /// The names that are set to an expression other than a literal, with their lines.
    pub(super) expressions: Vec<(String, usize)>,
    /// Lines that begin with something other than an assignment.
    pub(super) others: Vec<usize>,
}

/// Reads all statements of a file.
pub(super) fn read(text: &str) -> Python {
    let mut file = Python::default();
    let mut rest = Text { text, at: 0 };
    while rest.at < text.len() {
        let (start, line) = (rest.at, rest.line());
        let statement = rest.logical_line();
        let is_blank = statement.trim().is_empty() || statement.trim().starts_with('#');
        if is_blank {
            continue;
        }
        let Some((name, value)) = target(statement) else {
            file.others.push(line);
            continue;
        };
        let value_at = start + (statement.len() - value.len());
        let mut literal = Text {
            text: &text[..start + statement.len()],
            at: value_at,
        };
        match literal.value(0).filter(|_| literal.is_at_end()) {
            Some(Some(value)) => file.assignments.push(Assignment {
                name: name.to_owned(),
                value,
                at: At::line(line),
            }),
            Some(None) => {}
            None => file.expressions.push((name.to_owned(), line)),
        }
    }
    file
}

/// Splits `NAME = value` at the beginning of a line.
fn target(statement: &str) -> Option<(&str, &str)> {
    let (name, value) = statement.split_once('=')?;
    let name = name.trim_end();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !value.starts_with('=')).then_some((name, value))
}

/// Maximum nesting depth of lists, tuples and dictionaries.
const DEEPEST: usize = 32;

/// A cursor in a text.
struct Text<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    /// Consumes the rest of a statement, which continues on the next line inside brackets and multi-line strings.
    fn logical_line(&mut self) -> &'a str {
        let (start, mut depth) = (self.at, 0_usize);
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\'' | '"' => {
                    if self.string().is_none() {
                        self.skip_line();
                    }
                    continue;
                }
                '#' => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.at += end;
                    continue;
                }
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                '\\' if self.rest()[1..].starts_with('\n') => self.at += 1,
                '\n' if depth == 0 => {
                    self.at += 1;
                    return self.text[start..self.at].trim_end_matches('\n');
                }
                _ => {}
            }
            self.at += next.len_utf8();
        }
        &self.text[start..self.at]
    }

    fn skip_line(&mut self) {
        let end = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += end;
    }

    /// Consumes spaces, comments and line breaks.
    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
            self.at += rest.len() - trimmed.len();
            match trimmed.starts_with('#') {
                true => self.skip_line(),
                false => return,
            }
        }
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    fn takes(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let is_there = self.rest().starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    /// Consumes one literal. Returns `Some(None)` for Python's `None`, and `None` for anything that is not a literal.
    #[allow(clippy::option_option, reason = "a literal may be Python's None")]
    fn value(&mut self, depth: usize) -> Option<Option<Value>> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_blanks();
        let literal = match self.rest().chars().next()? {
            '[' => Value::Array(self.items('[', "]", depth)?),
            '(' => return self.parenthesis(depth),
            '{' => self.table(depth)?,
            '\'' | '"' => Value::String(self.strings()?),
            'r' | 'R' | 'u' | 'U' | 'b' | 'B' if self.is_prefix() => Value::String(self.strings()?),
            '-' | '+' | '.' | '0'..='9' => self.product()?,
            _ => {
                let word = self.word();
                return match word {
                    "None" => Some(None),
                    "True" => Some(Some(Value::Boolean(true))),
                    "False" => Some(Some(Value::Boolean(false))),
                    _ => None,
                };
            }
        };
        Some(Some(literal))
    }

    /// Consumes a parenthesised expression: a tuple, or one value.
    #[allow(clippy::option_option, reason = "a literal may be Python's None")]
    fn parenthesis(&mut self, depth: usize) -> Option<Option<Value>> {
        let start = self.at;
        self.at += 1;
        if let Some(value) = self.value(depth + 1)
            && self.takes(")")
        {
            return Some(value);
        }
        self.at = start;
        Some(Some(Value::Array(self.items('(', ")", depth)?)))
    }

    /// Consumes the items of a list or tuple.
    fn items(&mut self, open: char, close: &str, depth: usize) -> Option<Vec<Value>> {
        self.at += open.len_utf8();
        let mut items = Vec::new();
        while !self.takes(close) {
            items.extend(self.value(depth + 1)?);
            if !self.takes(",") {
                return self.takes(close).then_some(items);
            }
        }
        Some(items)
    }

    fn table(&mut self, depth: usize) -> Option<Value> {
        self.at += 1;
        let mut table = Table::new();
        while !self.takes("}") {
            self.skip_blanks();
            let key = self.strings()?;
            if !self.takes(":") {
                return None;
            }
            if let Some(value) = self.value(depth + 1)? {
                table.insert(key, value);
            }
            if !self.takes(",") {
                return self.takes("}").then_some(Value::Table(table));
            }
        }
        Some(Value::Table(table))
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Consumes a number, or a product of integers, such as `24 * 60 * 60`.
    fn product(&mut self) -> Option<Value> {
        let mut product = self.number()?;
        while self.takes("*") {
            self.skip_blanks();
            let both = product.as_integer().zip(self.number()?.as_integer());
            product = Value::Integer(both.and_then(|(a, b)| a.checked_mul(b))?);
        }
        Some(product)
    }

    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let is_of_number = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
        let end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
        let text = rest[..end].replace('_', "");
        self.at += end;
        match text.parse::<i64>() {
            Ok(number) => Some(Value::Integer(number)),
            Err(_) => text
                .parse::<f64>()
                .ok()
                .filter(|it| it.is_finite())
                .map(Value::Float),
        }
    }

    /// Whether the next characters are the prefix of a string literal, such as `r'…'`.
    fn is_prefix(&self) -> bool {
        let letters = self
            .rest()
            .trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let length = self.rest().len() - letters.len();
        length <= 2
            && letters.starts_with(['"', '\''])
            && !self.rest()[..length].contains(['f', 'F'])
    }

    /// Consumes adjacent string literals, which Python concatenates.
    fn strings(&mut self) -> Option<String> {
        let mut text = String::new();
        loop {
            let is_raw = match self.rest().starts_with(['"', '\'']) {
                true => false,
                false => self.word().contains(['r', 'R']),
            };
            let literal = self.string()?;
            text += &match is_raw {
                true => literal.to_owned(),
                false => unescaped(literal)?,
            };
            self.skip_blanks();
            let goes_on = self.rest().starts_with(['"', '\''])
                || (self.rest().starts_with(|c: char| c.is_ascii_alphabetic()) && self.is_prefix());
            if !goes_on {
                return Some(text);
            }
        }
    }

    /// Consumes a string literal and returns the raw text between the quotes, or `None` if the closing quote is
    /// missing.
    fn string(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let quote = rest.get(..1).filter(|quote| ["'", "\""].contains(quote))?;
        let three = quote.repeat(3);
        let quote = match rest.starts_with(&three) {
            true => three.as_str(),
            false => quote,
        };
        let inner = &rest[quote.len()..];
        let mut escaped = false;
        for (index, c) in inner.char_indices() {
            if !escaped && inner[index..].starts_with(quote) {
                self.at += quote.len() * 2 + index;
                return Some(&inner[..index]);
            }
            if c == '\n' && quote.len() == 1 && !escaped {
                return None;
            }
            escaped = c == '\\' && !escaped;
        }
        None
    }
}

/// Resolves the escape sequences of a Python string literal. Returns `None` for those that are not supported: `\u`,
/// `\N`, octal ones and rare control characters.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match rest.next()? {
            '\n' => {}
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            quoted @ ('\\' | '\'' | '"') => out.push(quoted),
            'x' => {
                let digits: String = rest.by_ref().take(2).collect();
                out.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            'u' | 'N' | 'U' | 'a' | 'b' | 'f' | 'v' | '0'..='7' => return None,
            // Python keeps the backslash of an unknown escape sequence, such as `\.` of a regular expression.
            other => out.extend(['\\', other]),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Option<Value> {
        let mut found = read(&format!("A = {text}\n"));
        found.assignments.pop().map(|it| it.value)
    }

    #[test]
    fn literals_of_all_kinds_are_read() {
        for (text, is) in [
            ("'a'", "\"a\""),
            ("\"it's\"", "\"it's\""),
            ("'a' 'b'", "\"ab\""),
            ("('a'\n     'b')", "\"ab\""),
            ("r'\\d+'", "'\\d+'"),
            ("'\\.'", "'\\.'"),
            ("'a\\'b\\\\'", "\"a'b\\\\\""),
            ("\"\"\"a\nb\"\"\"", "\"\"\"\na\nb\"\"\""),
            ("86400  # a day", "86400"),
            ("75e6", "75000000.0"),
            ("-1", "-1"),
            ("24 * 60*60  # a day", "86400"),
            ("True", "true"),
            ("[\n  'a',  # one\n  1,\n]", "[\"a\", 1]"),
            ("('a', 2)", "[\"a\", 2]"),
            ("[]", "[]"),
            ("{'a': [1], 'b': None}", "{ a = [1] }"),
        ] {
            let is: Table = format!("a = {is}").parse().unwrap();
            assert_eq!(value(text).as_ref(), Some(&is["a"]), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_named_and_never_evaluated() {
        for text in [
            "24 * hours",
            "9223372036854775807 * 2",
            "2 ** 3",
            "1.5 * 2",
            "60 + 60",
            "os.environ['A']",
            "[f('a')]",
            "f'{a}'",
            "'a' % b",
            "{1}",
            "'\\u0041'",
        ] {
            let found = read(&format!("A = {text}\nB = 1\n"));
            assert_eq!(found.expressions, [("A".to_owned(), 1)], "{text}");
            assert_eq!(found.assignments[0].name, "B", "{text}");
        }
        let found = read("import os\nif True:\n    A = 1\nB = None\nC == 1\n");
        assert_eq!(
            (found.assignments.len(), found.others),
            (0, vec![1, 2, 3, 5])
        );
    }

    #[test]
    fn lines_are_counted_through_comments_and_long_values() {
        let found = read("# it's a comment\n\nA = [\n 1,\n]\nB = 2");
        let lines: Vec<usize> = found.assignments.iter().map(|it| it.at.line).collect();
        assert_eq!(lines, [3, 6]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[A =\\[\\]{}()'\"\\\\\n#,:ru0-9é]{0,60}") {
            read(&text);
        }
    }
}
