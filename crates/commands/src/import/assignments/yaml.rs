//! Parses docker-compose files, Kubernetes manifests, values and templates of Helm charts, and task definitions in
//! JSON. A library parses YAML into events; this module resolves anchors and merge keys (`<<`), and ignores tags.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::template::Template;

/// Maximum nesting depth of values.
const DEEPEST: usize = 64;

/// Maximum total bytes of the values of anchors, each use of which is a copy. Without a limit, anchors of anchors could
/// exhaust the memory.
const MOST_OF_ANCHORS: usize = 16 << 20;

/// A YAML value, and the line that it begins in, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) node: Node,
    pub(super) line: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// A missing value, or `null`.
    Null,
    Text(String),
    List(Vec<Item>),
    Map(Vec<(String, Item)>),
}

impl Node {
    /// Returns the value of a key. `None` if this is not a map, or has no such key.
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        let Self::Map(entries) = self else {
            return None;
        };
        let entry = entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, item)| item)
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the bytes that a copy of this value takes, and its nesting depth.
    fn size(&self) -> (usize, usize) {
        const OF_ITEM: usize = size_of::<(String, Item)>();
        let sum = |sizes: &mut dyn Iterator<Item = (usize, usize)>| {
            sizes.fold((OF_ITEM, 1), |(bytes, depth), (more, inner)| {
                (bytes + more, depth.max(inner + 1))
            })
        };
        match self {
            Self::Null => (OF_ITEM, 1),
            Self::Text(text) => (OF_ITEM + text.len(), 1),
            Self::List(items) => sum(&mut items.iter().map(|item| item.node.size())),
            Self::Map(entries) => sum(&mut entries.iter().map(|(key, item)| {
                let (bytes, depth) = item.node.size();
                (bytes + key.len(), depth)
            })),
        }
    }
}

/// Returns the YAML documents of a text, without empty ones. `None` if the text is not YAML, or has no document, or one
/// that is neither a map nor a list.
pub(super) fn documents(text: &str) -> Option<Vec<Item>> {
    let template = Template::new(text)?;
    let mut reader = Reader {
        template: &template,
        documents: Vec::new(),
        open: Vec::new(),
        anchors: BTreeMap::new(),
        room: MOST_OF_ANCHORS,
    };
    let mut parser = Parser::new_from_str(template.text());
    while let Some(event) = parser.next_event() {
        let (event, span) = event.ok()?;
        reader.take(event, span.start.line())?;
    }
    let mut items = reader.documents;
    items.retain(|item| item.node != Node::Null);
    let are_whole = |item: &Item| matches!(item.node, Node::Map(_) | Node::List(_));
    (!items.is_empty() && items.iter().all(are_whole)).then_some(items)
}

/// Builds values from the parser's events.
struct Reader<'a> {
    template: &'a Template<'a>,
    documents: Vec<Item>,
    /// The lists and maps that have begun but not ended, from the outermost to the innermost.
    open: Vec<Open>,
    /// The values of the document's anchors, by the parser's number of the anchor.
    anchors: BTreeMap<usize, Item>,
    /// Bytes that values of YAML anchors and their copies may still take, out of `MOST_OF_ANCHORS`.
    room: usize,
}

/// A list or map whose end has not been read yet.
struct Open {
    content: Content,
    line: usize,
    /// Number that the parser gave the anchor of this list or map, or 0 if it has none.
    anchor: usize,
}

enum Content {
    List(Vec<Item>),
    Map {
        entries: Vec<(String, Item)>,
        /// The key whose value comes next, and the line of the key.
        key: Option<(String, usize)>,
    },
}

impl Reader<'_> {
    /// Processes one event. Returns `None` if the text cannot be read as YAML.
    fn take(&mut self, event: Event<'_>, line: usize) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let node = self.scalar(&text, style)?;
                self.put(Item { node, line }, anchor)
            }
            Event::SequenceStart(anchor, _) => self.begin(Content::List(Vec::new()), line, anchor),
            Event::MappingStart(anchor, _) => {
                let (entries, key) = (Vec::new(), None);
                self.begin(Content::Map { entries, key }, line, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let open = self.open.pop()?;
                let node = match open.content {
                    Content::List(items) => Node::List(items),
                    Content::Map { entries, .. } => Node::Map(merged(entries)),
                };
                let line = open.line;
                self.put(Item { node, line }, open.anchor)
            }
            Event::Alias(anchor) => {
                // An anchor used inside its own value is not defined yet.
                let node = &self.anchors.get(&anchor)?.node;
                let (bytes, depth) = node.size();
                self.room = self.room.checked_sub(bytes)?;
                let node = node.clone();
                let fits = self.open.len() + depth <= DEEPEST;
                fits.then(|| self.put(Item { node, line }, 0))?
            }
            Event::DocumentStart(_) => {
                self.anchors.clear();
                Some(())
            }
            Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => Some(()),
        }
    }

    fn begin(&mut self, content: Content, line: usize, anchor: usize) -> Option<()> {
        let open = Open {
            content,
            line,
            anchor,
        };
        self.open.push(open);
        (self.open.len() < DEEPEST).then_some(())
    }

    fn scalar(&self, text: &str, style: ScalarStyle) -> Option<Node> {
        let is_plain = style == ScalarStyle::Plain;
        // `A=b: c` is a line of an environment file, not a key and its value.
        if is_plain && self.awaits_key() && text.contains('=') {
            return None;
        }
        let text = match style {
            // With its final line break, the value would look like several lines.
            ScalarStyle::Literal | ScalarStyle::Folded => text.trim_end_matches('\n'),
            _ => text,
        };
        match text {
            "" | "~" | "null" | "Null" | "NULL" if is_plain => Some(Node::Null),
            text => Some(Node::Text(self.template.restored(text))),
        }
    }

    fn awaits_key(&self) -> bool {
        let content = self.open.last().map(|open| &open.content);
        matches!(content, Some(Content::Map { key: None, .. }))
    }

    /// Adds a value to the innermost list or map.
    fn put(&mut self, mut item: Item, anchor: usize) -> Option<()> {
        if anchor > 0 {
            self.room = self.room.checked_sub(item.node.size().0)?;
            self.anchors.insert(anchor, item.clone());
        }
        match self.open.last_mut().map(|open| &mut open.content) {
            None => self.documents.push(item),
            Some(Content::List(items)) => items.push(item),
            Some(Content::Map { entries, key }) => match key.take() {
                Some((name, line)) => {
                    if item.node == Node::Null {
                        item.line = line;
                    }
                    entries.push((name, item));
                }
                None => {
                    let name = match item.node {
                        Node::Text(name) => name,
                        Node::Null => String::new(),
                        Node::List(_) | Node::Map(_) => return None,
                    };
                    *key = Some((name, item.line));
                }
            },
        }
        Some(())
    }
}

/// Resolves merge keys, `<<: *anchor` or `<<: [*anchor, *other]`, by adding the entries of the anchors to the map. The
/// map's own keys take precedence, then those of earlier anchors.
fn merged(entries: Vec<(String, Item)>) -> Vec<(String, Item)> {
    let is_merge = |(key, _): &(String, Item)| key == "<<";
    if !entries.iter().any(is_merge) {
        return entries;
    }
    let (merges, mut all): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_merge);
    let mut keys: BTreeSet<String> = all.iter().map(|(key, _)| key.clone()).collect();
    for (_, item) in merges {
        let maps = match item.node {
            Node::List(items) => items.into_iter().map(|item| item.node).collect(),
            node => vec![node],
        };
        for map in maps {
            if let Node::Map(entries) = map {
                let new = entries.into_iter();
                all.extend(new.filter(|(key, _)| keys.insert(key.clone())));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Formats a value like JSON, but without quotes around keys.
    fn json(node: &Node) -> String {
        match node {
            Node::Null => "null".to_owned(),
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

    fn first(text: &str) -> String {
        let all = documents(text).unwrap_or_else(|| panic!("no YAML: {text}"));
        json(&all[0].node)
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
            ("{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}", r#"{a:{b:"1"}}"#),
            ("a: |\n  b\n  c\nd: e", r#"{a:"b\nc",d:"e"}"#),
            ("a: >\n  b\n  c\nd: e", r#"{a:"b c",d:"e"}"#),
            (
                "a: http://b:80/c#d\ne: ~",
                r#"{a:"http://b:80/c#d",e:null}"#,
            ),
            ("a: b\n  c", r#"{a:"b c"}"#),
            ("a: !secret b\nc: ''", r#"{a:"b",c:""}"#),
            ("\u{feff}a: b\r\nc: d\r\n", r#"{a:"b",c:"d"}"#),
        ] {
            assert_eq!(first(text), is, "{text}");
        }
        assert_eq!(
            documents("a: b\n---\n---\nc: d").map(|it| it.len()),
            Some(2)
        );
        for text in [
            "A=b",
            "A=b\nC=d",
            "A=b: c",
            "a: b\nC=d",
            "a: {b",
            "a: \"b",
            "a: b\n  c: d",
            "[Service]\nA=b",
            "",
        ] {
            assert_eq!(documents(text), None, "{text}");
        }
    }

    #[test]
    fn anchors_and_merge_keys_are_resolved() {
        for (text, is) in [
            ("a: &x\n  b: c\nd: *x", r#"{a:{b:"c"},d:{b:"c"}}"#),
            ("a: &x b\nc: [*x, *x]", r#"{a:"b",c:["b","b"]}"#),
            (
                "a: &x {b: 1, c: 1}\nd: {c: 2, <<: *x}",
                r#"{a:{b:"1",c:"1"},d:{c:"2",b:"1"}}"#,
            ),
            (
                "- &x {a: 1}\n- &y {a: 2, b: 2}\n- {<<: [*x, *y]}",
                r#"[{a:"1"},{a:"2",b:"2"},{a:"1",b:"2"}]"#,
            ),
        ] {
            assert_eq!(first(text), is, "{text}");
        }
        for text in ["a: *x", "a: &x [*x]", "a: &x b\n---\nc: *x"] {
            assert_eq!(documents(text), None, "{text}");
        }
    }

    #[test]
    fn neither_depth_nor_copies_of_anchors_take_more_than_a_limit() {
        let deep = |depth: usize| documents(&format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
        assert!(deep(DEEPEST - 1).is_some());
        assert_eq!(deep(DEEPEST), None);
        let mut laughs = "- &a0 [ha, ha, ha, ha, ha, ha, ha, ha]\n".to_owned();
        for n in 1..30 {
            let of = format!("*a{}", n - 1);
            laughs += &format!("- &a{n} [{}]\n", vec![of; 8].join(", "));
        }
        assert_eq!(documents(&laughs), None);
    }

    #[test]
    fn lines_are_counted_in_brackets_and_below_templates_too() {
        let lines = |text: &str| {
            let all = documents(text).unwrap();
            let Some(Node::List(items)) = all[0].node.get("a").map(|it| it.node.clone()) else {
                panic!("a list");
            };
            items.iter().map(|it| it.line).collect::<Vec<_>>()
        };
        assert_eq!(lines("# one\na: [\n\n  b,\n  {c: d}]"), [4, 5]);
        assert_eq!(
            lines("{{- if .a }}\na:\n{{/* a\n comment */}}\n- b\n- {c: d}"),
            [5, 6]
        );
        let null = documents("a: b\nc:\nd: e").unwrap();
        assert_eq!(null[0].node.get("c").unwrap().line, 2);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a:\\- \n{}\\[\\]\"'#,|>&*!%<é\\\\]{0,60}") {
            documents(&text);
        }

        #[test]
        fn what_json_says_is_read(text in "[^\u{e000}]{0,30}", key in "[a-z]{1,5}") {
            let document = serde_json::json!({ &key: [&text] }).to_string();
            // Characters outside YAML's printable range make the text invalid YAML.
            if let Some(all) = documents(&document) {
                let Node::List(items) = &all[0].node.get(&key).unwrap().node else {
                    panic!("a list");
                };
                prop_assert_eq!(items[0].node.text(), Some(text.as_str()));
            }
        }
    }
}
