//! Turns a Helm template into YAML, as far as that is possible without the chart's values.

/// The text of a template in which each action, `{{ … }}`, is replaced by a placeholder, because actions are not YAML.
pub(super) struct Template<'a> {
    text: String,
    /// A character that does not occur in the template. A placeholder is this character, the action's number, and this
    /// character again.
    mark: char,
    actions: Vec<&'a str>,
}

impl<'a> Template<'a> {
    /// Replaces the actions of a text. Lines with nothing but actions, such as `{{- if .Values.on }}`, become empty,
    /// because the lines between them usually are YAML. Returns `None` if no character is free for the placeholders.
    pub(super) fn new(text: &'a str) -> Option<Self> {
        let mut private = '\u{e000}'..='\u{f8ff}';
        let mut template = Self {
            text: String::with_capacity(text.len()),
            mark: private.find(|c| !text.contains(*c))?,
            actions: Vec::new(),
        };
        let mut is_open = false;
        for line in text.lines() {
            let content = line.trim();
            let begins = content.starts_with("{{");
            let closes = content.contains("}}");
            if is_open || (begins && (content.ends_with("}}") || !closes)) {
                is_open = !closes;
            } else {
                template.add(line);
            }
            template.text.push('\n');
        }
        Some(template)
    }

    /// Returns the template as YAML, with the same number of lines.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Replaces the placeholders in a text by the original actions.
    pub(super) fn restored(&self, text: &str) -> String {
        let parts = text.split(self.mark).enumerate();
        let texts = parts.map(|(index, part)| match part.parse::<usize>() {
            Ok(number) if index % 2 == 1 => self.actions.get(number).copied().unwrap_or(part),
            _ => part,
        });
        texts.collect()
    }

    fn add(&mut self, line: &'a str) {
        let mut rest = line;
        while let Some(start) = rest.find("{{")
            && let Some(length) = rest[start..].find("}}")
        {
            let end = start + length + "}}".len();
            self.text.push_str(&rest[..start]);
            self.text += &format!("{0}{1}{0}", self.mark, self.actions.len());
            self.actions.push(&rest[start..end]);
            rest = &rest[end..];
        }
        self.text.push_str(rest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::yaml::documents;
    use super::*;

    #[test]
    fn actions_are_texts_and_lines_of_actions_are_left_out() {
        let text = "{{/* of a\n  chart */}}\na: {{ .Values.b }}\n{{- if .c }}\nd: [{e: {{ f }}}]\n{{- end }}\ng: \"x-{{ h }}-{{ i }}\"";
        let all = documents(text).unwrap();
        let map = &all[0].node;
        let of = |key: &str| map.get(key).and_then(|it| it.node.text());
        assert_eq!(of("a"), Some("{{ .Values.b }}"));
        assert_eq!(of("g"), Some("x-{{ h }}-{{ i }}"));
        assert_eq!(map.get("d").unwrap().line, 5);
    }

    proptest! {
        #[test]
        fn a_template_has_its_lines_and_its_actions_back(
            lines in prop::collection::vec("[a{}\u{e000}\u{e001} ]{0,12}", 1..6),
        ) {
            let text = lines.join("\n");
            let template = Template::new(&text).unwrap();
            prop_assert_eq!(template.text().lines().count(), text.lines().count());
            for (given, made) in text.lines().zip(template.text().lines()) {
                let restored = template.restored(made);
                prop_assert!(made.is_empty() || restored == given, "{}: {}", given, restored);
            }
        }
    }
}
