//! Parses the part of YAML that compose files, manifests of Kubernetes and values of charts are written in: maps, lists
//! and texts, in blocks and in brackets. Anchors and tags are skipped.

use super::flow::{DEEPEST, Flow};

/// A value and the line that it begins in, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) node: Node,
    pub(super) line: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A key without a value, or `null`.
    Null,
    /// `*name`: the value of an anchor.
    Alias,
    Text(String),
    List(Vec<Item>),
    Map(Vec<(String, Item)>),
}

impl Node {
    /// Returns the value of a key of a map.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        let Self::Map(entries) = self else {
            return None;
        };
        let found = entries.iter().find(|(name, _)| name == key);
        found.map(|(_, item)| item)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Returns a text without quotes as a value.
pub(super) fn plain(text: &str) -> Node {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Node::Null,
        text if text.starts_with('*') => Node::Alias,
        text => Node::Text(text.to_owned()),
    }
}

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
}

/// Returns the documents of a text. `None` if it is something else than maps and lists of YAML.
pub(super) fn documents(text: &str) -> Option<Vec<Item>> {
    let mut documents: Vec<Vec<Line<'_>>> = vec![Vec::new()];
    for (index, line) in text.lines().enumerate() {
        let content = line.trim();
        // Lines of a template of Helm are no YAML, and what is between them mostly is.
        let is_template = content.starts_with("{{") && content.ends_with("}}");
        if content == "---" || content.starts_with("--- ") {
            documents.push(Vec::new());
        } else if !content.is_empty() && !content.starts_with(['#', '%']) && !is_template {
            documents.last_mut()?.push(Line {
                number: index + 1,
                indent: line.len() - line.trim_start().len(),
                text: content,
            });
        }
    }
    let documents = documents.into_iter().filter(|lines| !lines.is_empty());
    let items: Option<Vec<Item>> = documents.map(document).collect();
    items.filter(|items| !items.is_empty())
}

fn document(lines: Vec<Line<'_>>) -> Option<Item> {
    let mut reader = Reader { lines, at: 0 };
    let item = reader.block(0, 0)?;
    let is_all = reader.at == reader.lines.len();
    (is_all && matches!(item.node, Node::Map(_) | Node::List(_))).then_some(item)
}

struct Reader<'a> {
    lines: Vec<Line<'a>>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.at).copied()
    }

    /// Takes the value that begins in the next line. It is nothing if that line is indented by less than `least`.
    fn block(&mut self, least: usize, depth: usize) -> Option<Item> {
        let line = match self.peek() {
            Some(line) if line.indent >= least => line,
            line => {
                return Some(Item {
                    node: Node::Null,
                    line: line.map_or(0, |line| line.number),
                });
            }
        };
        if depth > DEEPEST {
            return None;
        }
        let node = match is_dash(line.text) {
            true => self.list(line.indent, depth)?,
            false if key(line.text).is_some() => self.map(line.indent, depth)?,
            false => {
                self.at += 1;
                return self.value(line.text, least, line.number, depth);
            }
        };
        Some(Item {
            node,
            line: line.number,
        })
    }

    fn list(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let mut items = Vec::new();
        while let Some(line) = self
            .peek()
            .filter(|line| line.indent == indent && is_dash(line.text))
        {
            let rest = without_properties(line.text[1..].trim_start());
            if rest.is_empty() || rest.starts_with('#') {
                self.at += 1;
            } else {
                self.lines[self.at] = Line {
                    indent: indent + line.text.len() - rest.len(),
                    text: rest,
                    ..line
                };
            }
            items.push(self.block(indent + 1, depth + 1)?);
        }
        Some(Node::List(items))
    }

    fn map(&mut self, indent: usize, depth: usize) -> Option<Node> {
        let mut entries = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent == indent) {
            let Some((key, rest)) = key(line.text) else {
                break;
            };
            self.at += 1;
            let value = self.value(rest, indent + 1, line.number, depth + 1)?;
            entries.push((key, value));
        }
        Some(Node::Map(entries))
    }

    /// Takes a value whose first line is `rest`, and whose other lines are indented by `least` or more.
    fn value(&mut self, rest: &'a str, least: usize, line: usize, depth: usize) -> Option<Item> {
        let rest = without_properties(rest.trim());
        let node = match rest.chars().next() {
            None | Some('#') => {
                // A list may be indented as little as its key.
                let is_list = |it: Line<'_>| it.indent + 1 == least && is_dash(it.text);
                if self.peek().is_some_and(is_list) {
                    self.list(least - 1, depth)?
                } else {
                    return self.block(least, depth + 1).map(|item| Item {
                        line: if item.node == Node::Null {
                            line
                        } else {
                            item.line
                        },
                        ..item
                    });
                }
            }
            Some('|' | '>') => self.lines_of_text(least),
            Some('{' | '[') if !rest.starts_with("{{") => {
                return self.flow(rest, line, depth);
            }
            Some('"' | '\'') => Node::Text(self.quoted(rest)?),
            Some(_) => self.plain_lines(rest, least)?,
        };
        Some(Item { node, line })
    }

    /// Takes the lines of a text after `|` or `>`.
    fn lines_of_text(&mut self, least: usize) -> Node {
        let mut lines = Vec::new();
        while let Some(line) = self.peek().filter(|line| line.indent >= least) {
            lines.push(line.text);
            self.at += 1;
        }
        Node::Text(lines.join("\n"))
    }

    fn plain_lines(&mut self, first: &str, least: usize) -> Option<Node> {
        let mut text = without_comment(first).to_owned();
        while let Some(line) = self.peek().filter(|line| line.indent >= least) {
            if key(line.text).is_some() {
                return None;
            }
            self.at += 1;
            text = format!("{text} {}", without_comment(line.text));
        }
        Some(plain(&text))
    }

    /// Takes a text in quotes, of which the first line has been taken already.
    fn quoted(&mut self, first: &str) -> Option<String> {
        const MOST_LINES: usize = 200;
        let mut text = first.to_owned();
        for _ in 0..MOST_LINES {
            let mut flow = Flow {
                text: &text,
                at: 0,
                starts: &[],
            };
            if let Some(quoted) = flow.quoted() {
                return without_comment(flow.rest()).is_empty().then_some(quoted);
            }
            let next = self.peek()?;
            self.at += 1;
            text = format!("{text}\n{}", next.text);
        }
        None
    }

    /// Takes a value in brackets, of which the first line has been taken already.
    fn flow(&mut self, first: &str, line: usize, depth: usize) -> Option<Item> {
        let mut text = first.to_owned();
        let mut starts = vec![(0, line)];
        let mut brackets = Brackets::default();
        let mut is_open = brackets.stay_open(first);
        while is_open {
            let next = self.peek()?;
            self.at += 1;
            text.push('\n');
            starts.push((text.len(), next.number));
            text.push_str(next.text);
            is_open = brackets.stay_open(next.text);
        }
        let mut flow = Flow {
            text: &text,
            at: 0,
            starts: &starts,
        };
        let item = flow.item(depth)?;
        without_comment(flow.rest()).is_empty().then_some(item)
    }
}

/// Counts brackets over lines.
#[derive(Default)]
struct Brackets {
    open: usize,
    quote: Option<char>,
}

impl Brackets {
    /// Whether brackets are still open at the end of this line.
    fn stay_open(&mut self, line: &str) -> bool {
        let mut before = ' ';
        for c in line.chars() {
            match (self.quote, c) {
                // `''` closes and opens; `\"` is a quote in the text.
                (Some(quote), c) if c == quote && !(quote == '"' && before == '\\') => {
                    self.quote = None;
                }
                (Some(_), _) => {}
                (None, '"' | '\'') if before.is_whitespace() || "[{,:'".contains(before) => {
                    self.quote = Some(c);
                }
                (None, '#') if before == ' ' => break,
                (None, '{' | '[') => self.open += 1,
                (None, '}' | ']') => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            // A backslash after a backslash escapes nothing.
            before = if (before, c) == ('\\', '\\') { ' ' } else { c };
        }
        self.open > 0
    }
}

fn is_dash(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Splits `key: value`.
fn key(text: &str) -> Option<(String, &str)> {
    if text.starts_with(['"', '\'']) {
        let mut flow = Flow {
            text,
            at: 0,
            starts: &[],
        };
        let key = flow.quoted()?;
        let rest = flow.rest().trim_start().strip_prefix(':')?;
        return (rest.is_empty() || rest.starts_with(' ')).then_some((key, rest));
    }
    let end = match text.find(": ") {
        Some(at) => at,
        None => text.strip_suffix(':')?.len(),
    };
    let (key, rest) = (&text[..end], &text[end + 1..]);
    // `A=b: c` is a text of an environment.
    let is_key = !text.starts_with(['{', '[', '&', '*', '!', '|', '>', '@', '`', '-'])
        && !key.contains(" #")
        && !key.contains('=');
    is_key.then(|| (key.trim_end().to_owned(), rest))
}

/// Returns a value without the anchor or tag before it, such as `&common` or `!reference`.
fn without_properties(mut text: &str) -> &str {
    while text.starts_with(['&', '!']) {
        let end = text.find(' ').unwrap_or(text.len());
        text = text[end..].trim_start();
    }
    text
}

fn without_comment(text: &str) -> &str {
    if text.trim_start().starts_with('#') {
        return "";
    }
    text.split(" #").next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A value as JSON.
    fn json(node: &Node) -> String {
        match node {
            Node::Null => "null".to_owned(),
            Node::Alias => "*".to_owned(),
            Node::Text(text) => format!("{text:?}"),
            Node::List(items) => {
                let items: Vec<String> = items.iter().map(|it| json(&it.node)).collect();
                format!("[{}]", items.join(","))
            }
            Node::Map(entries) => {
                let entry = |(key, it): &(String, Item)| format!("{key}:{}", json(&it.node));
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    #[test]
    fn blocks_brackets_and_quotes_are_read() {
        for (text, is) in [
            ("a: b\nc:\n  d: e # why", r#"{a:"b",c:{d:"e"}}"#),
            ("a:\n- b: 1\n  c: 2\n- d", r#"{a:[{b:"1",c:"2"},"d"]}"#),
            ("a:\n  -   b:\n        c", r#"{a:[{b:"c"}]}"#),
            ("- - a\n  - b\n- c", r#"[["a","b"],"c"]"#),
            (
                "a: {b: c, 'd': [e, \"f, g\"], h}",
                r#"{a:{b:"c",d:["e","f, g"],h:null}}"#,
            ),
            (
                "a: [\n  {b: c}, # one\n  {d: 'it''s'},\n]",
                r#"{a:[{b:"c"},{d:"it's"}]}"#,
            ),
            ("{\"a\":{\"b\":[1,\"c\"]}}", r#"{a:{b:["1","c"]}}"#),
            (
                "a: {{ .Values.b }}\nc: [{b: {{ d }}}]",
                r#"{a:"{{ .Values.b }}",c:[{b:"{{ d }}"}]}"#,
            ),
            ("a: |\n  b\n  c\nd: e", r#"{a:"b\nc",d:"e"}"#),
            ("a: &x\n  b: c\nd: *x", r#"{a:{b:"c"},d:*}"#),
            (
                "a: http://b:80/c#d\ne: ~",
                r#"{a:"http://b:80/c#d",e:null}"#,
            ),
            ("a: b\n  c", r#"{a:"b c"}"#),
        ] {
            let all = documents(text).expect(text);
            assert_eq!(json(&all[0].node), is, "{text}");
        }
        assert_eq!(documents("a: b\n---\nc: d").map(|it| it.len()), Some(2));
        for text in [
            "A=b",
            "A=b\nC=d",
            "a: b\nC=d",
            "a: {b",
            "a: \"b",
            "a: b\n  c: d",
            "",
        ] {
            assert_eq!(documents(text), None, "{text}");
        }
    }

    #[test]
    fn lines_are_counted_in_brackets_too() {
        let all = documents("# one\na: [\n\n  b,\n  {c: d}]").unwrap();
        let Node::List(items) = &all[0].node.get("a").unwrap().node else {
            panic!("a list");
        };
        assert_eq!((items[0].line, items[1].line), (4, 5));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a:\\- \n{}\\[\\]\"'#,|>&*é\\\\]{0,60}") {
            documents(&text);
        }
    }
}
