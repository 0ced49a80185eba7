//! Parses an nginx configuration, including the files that it includes, into directives with arguments and blocks.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use regex::Regex;

/// One directive, such as `root /data;` or `server { … }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directive {
    pub(super) name: String,
    pub(super) args: Vec<String>,
    /// The directives between the braces, if it is a block.
    pub(super) block: Option<Vec<Self>>,
    pub(super) place: Place,
}

/// A line of a configuration file, such as `nginx.conf:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
}

impl Directive {
    /// Returns the directive with its arguments, but without its block.
    pub(super) fn text(&self) -> String {
        let mut text = self.name.clone();
        for arg in &self.args {
            text.push(' ');
            text += arg;
        }
        text
    }

    pub(super) fn arg(&self, at: usize) -> &str {
        self.args.get(at).map_or("", String::as_str)
    }

    pub(super) fn inside(&self) -> &[Self] {
        self.block.as_deref().unwrap_or_default()
    }
}

/// Reads a file and the files that it includes. As in nginx, patterns that match no file are ignored.
pub(super) fn read(file: &Path) -> anyhow::Result<Vec<Directive>> {
    let folder = file.parent().unwrap_or(Path::new(""));
    Files { folder }.read(file, 0)
}

struct Files<'a> {
    /// Folder of the main file. Paths of included files are relative to it.
    folder: &'a Path,
}

/// Maximum nesting depth of includes; beyond it, files are assumed to include each other.
const DEEPEST: usize = 32;

impl Files<'_> {
    fn read(&self, file: &Path, depth: usize) -> anyhow::Result<Vec<Directive>> {
        if depth > DEEPEST {
            bail!("{}: files include each other", file.display());
        }
        let text =
            std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
        if text.contains(&0) {
            bail!("{} is not text, so no configuration", file.display());
        }
        let name = file.strip_prefix(self.folder).unwrap_or(file);
        let directives = parse(&String::from_utf8_lossy(&text), &name.display().to_string())?;
        self.included(directives, depth)
    }

    fn included(&self, directives: Vec<Directive>, depth: usize) -> anyhow::Result<Vec<Directive>> {
        let mut all = Vec::new();
        for mut directive in directives {
            if directive.name == "include" {
                for file in matching(&self.folder.join(directive.arg(0))) {
                    // Usually, an included file that is missing here has nothing to do with images.
                    if !file.exists() {
                        let Place { file: by, line } = &directive.place;
                        let missing = file.display();
                        eprintln!(
                            "andon: {by}:{line} includes {missing}, which does not exist: left out"
                        );
                        continue;
                    }
                    all.extend(self.read(&file, depth + 1)?);
                }
                continue;
            }
            if let Some(block) = directive.block.take() {
                directive.block = Some(self.included(block, depth)?);
            }
            all.push(directive);
        }
        Ok(all)
    }
}

/// Returns the files that match a path with the wildcards `*`, `?` and `[…]`, sorted. A path without wildcards is
/// returned even if there is no such file.
fn matching(path: &Path) -> Vec<PathBuf> {
    let mut paths = vec![PathBuf::new()];
    for part in path {
        let name = part.to_string_lossy();
        if !name.contains(['*', '?', '[']) {
            paths.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let pattern = regex::escape(&name)
            .replace(r"\*", ".*")
            .replace(r"\?", ".")
            .replace(r"\[", "[")
            .replace(r"\]", "]")
            .replace(r"\-", "-");
        let Ok(pattern) = Regex::new(&format!("^{pattern}$")) else {
            return Vec::new();
        };
        paths = paths
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                pattern.is_match(&name) && !name.starts_with('.')
            })
            .map(|entry| entry.path())
            .collect();
    }
    paths.sort();
    paths
}

/// Parses the text of a configuration file. `file` is its name in errors and directives.
pub(super) fn parse(text: &str, file: &str) -> anyhow::Result<Vec<Directive>> {
    let mut open: Vec<(Directive, Vec<Directive>)> = Vec::new();
    let mut directives = Vec::new();
    let mut words: Vec<(String, usize)> = Vec::new();
    let mut tokens = Tokens::new(text);
    while let Some((token, line)) = tokens.next() {
        let take_directive = |words: &mut Vec<(String, usize)>| {
            let mut all = std::mem::take(words).into_iter();
            let (name, line) = all.next()?;
            Some(Directive {
                name,
                args: all.map(|(word, _)| word).collect(),
                block: None,
                place: Place {
                    file: file.to_owned(),
                    line,
                },
            })
        };
        match token {
            Token::Word(word) => words.push((word, line)),
            Token::End => directives.extend(take_directive(&mut words)),
            Token::Open => {
                let Some(directive) = take_directive(&mut words) else {
                    bail!("{file}:{line}: `{{` follows no directive");
                };
                if directive.name.ends_with("_by_lua_block") {
                    tokens.skip_block();
                    directives.push(directive);
                } else {
                    open.push((directive, std::mem::take(&mut directives)));
                }
            }
            Token::Close => {
                if let Some((word, line)) = words.first() {
                    bail!("{file}:{line}: `{word}` lacks its `;`");
                }
                let Some((mut directive, outer)) = open.pop() else {
                    bail!("{file}:{line}: `}}` closes nothing");
                };
                directive.block = Some(std::mem::replace(&mut directives, outer));
                directives.push(directive);
            }
        }
    }
    if let Some((word, line)) = words.first() {
        bail!("{file}:{line}: `{word}` lacks its `;`");
    }
    if let Some((directive, _)) = open.last() {
        let Place { file, line } = &directive.place;
        bail!("{file}:{line}: `{}` lacks its `}}`", directive.name);
    }
    Ok(directives)
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// The `;` at the end of a directive.
    End,
    Open,
    Close,
}

struct Tokens<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            line: 1,
        }
    }

    fn take(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.line += usize::from(next == '\n');
        Some(next)
    }

    /// Returns the next token, and the line that it is on.
    fn next(&mut self) -> Option<(Token, usize)> {
        loop {
            let line = self.line;
            let token = match self.take()? {
                space if space.is_whitespace() => continue,
                '#' => {
                    while self.rest.peek().is_some_and(|next| *next != '\n') {
                        self.take();
                    }
                    continue;
                }
                ';' => Token::End,
                '{' => Token::Open,
                '}' => Token::Close,
                quote @ ('"' | '\'') => Token::Word(self.quoted(quote)),
                first => Token::Word(self.word(first)),
            };
            return Some((token, line));
        }
    }

    fn quoted(&mut self, quote: char) -> String {
        let mut word = String::new();
        while let Some(next) = self.take() {
            match next {
                '\\' => self.escape(&mut word),
                next if next == quote => break,
                next => word.push(next),
            }
        }
        word
    }

    /// Reads an unquoted word up to white space, `;` or `{`. The braces of `${name}` are part of the word.
    fn word(&mut self, first: char) -> String {
        let mut word = String::new();
        let mut next = Some(first);
        while let Some(char) = next {
            match char {
                '\\' => self.escape(&mut word),
                '$' if self.rest.peek() == Some(&'{') => {
                    word.push('$');
                    while let Some(inside) = self.take() {
                        word.push(inside);
                        if inside == '}' {
                            break;
                        }
                    }
                }
                char => word.push(char),
            }
            let ends = |next: &char| next.is_whitespace() || matches!(next, ';' | '{');
            next = match self.rest.peek() {
                Some(char) if !ends(char) => self.take(),
                _ => None,
            };
        }
        word
    }

    /// Adds an escape sequence to a word. The backslash of most sequences is kept, because they belong to regular
    /// expressions.
    fn escape(&mut self, word: &mut String) {
        match self.take() {
            Some(plain @ ('"' | '\'' | '\\')) => word.push(plain),
            Some('t') => word.push('\t'),
            Some('r') => word.push('\r'),
            Some('n') => word.push('\n'),
            Some(other) => word.extend(['\\', other]),
            None => word.push('\\'),
        }
    }

    /// Skips a block that contains another language, up to its closing brace.
    fn skip_block(&mut self) {
        let mut depth = 1;
        while depth > 0
            && let Some(next) = self.take()
        {
            match next {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        fn tell(directives: &[Directive], depth: usize, to: &mut Vec<String>) {
            for it in directives {
                let line = it.place.line;
                to.push(format!(
                    "{line}{} {} {:?}",
                    "  ".repeat(depth),
                    it.name,
                    it.args
                ));
                tell(it.inside(), depth + 1, to);
            }
        }
        let mut all = Vec::new();
        tell(&parse(text, "nginx.conf").unwrap(), 0, &mut all);
        all
    }

    #[test]
    fn words_quotes_comments_and_blocks_are_read_as_nginx_reads_them() {
        let text = r#"
user www; # nobody's
http {
    log_format main '$remote_addr "$request"'
                    "it\"s";
    server{listen 80;
        location ~ "^/(\d{2,4})x(\d+)/(.+\.jpg)$" { root /a/${host}b#c; }
        location ~* \.(jpg|png)$ { return 204; }
    }
}"#;
        assert_eq!(
            told(text),
            [
                r#"2 user ["www"]"#,
                r#"3 http []"#,
                r#"4   log_format ["main", "$remote_addr \"$request\"", "it\"s"]"#,
                r#"6   server []"#,
                r#"6     listen ["80"]"#,
                r#"7     location ["~", "^/(\\d{2,4})x(\\d+)/(.+\\.jpg)$"]"#,
                r#"7       root ["/a/${host}b#c"]"#,
                r#"8     location ["~*", "\\.(jpg|png)$"]"#,
                r#"8       return ["204"]"#,
            ]
        );
    }

    #[test]
    fn what_is_not_closed_is_named_with_its_line() {
        for (text, why) in [
            ("a;\nhttp {\nb c", "nginx.conf:3: `b` lacks its `;`"),
            ("a;\nhttp {\nb c;", "nginx.conf:2: `http` lacks its `}`"),
            ("http { a }", "nginx.conf:1: `a` lacks its `;`"),
            ("a;\n}", "nginx.conf:2: `}` closes nothing"),
            ("{", "nginx.conf:1: `{` follows no directive"),
        ] {
            let error = parse(text, "nginx.conf").unwrap_err();
            assert_eq!(error.to_string(), why);
        }
    }

    #[test]
    fn a_program_in_lua_is_skipped() {
        let told = told("content_by_lua_block { local t = {1; 2} } a;");
        assert_eq!(told, ["1 content_by_lua_block []", "1 a []"]);
    }

    #[test]
    fn included_files_are_found_by_patterns_relative_to_the_main_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write(
            "nginx.conf",
            "http { include sites/*.conf; include none/*; include sites/[x-z]?; }",
        );
        write("sites/b.conf", "b;");
        write("sites/a.conf", "include sites/y1;");
        write("sites/y1", "y;");
        write("sites/.hidden.conf", "hidden;");
        let read = read(&folder.path().join("nginx.conf")).unwrap();
        let inside: Vec<String> = read[0]
            .inside()
            .iter()
            .map(|it| format!("{}:{}", it.place.file, it.name))
            .collect();
        assert_eq!(inside, ["sites/y1:y", "sites/b.conf:b", "sites/y1:y"]);
        write("sites/y1", "include sites/a.conf;");
        assert!(
            super::read(&folder.path().join("nginx.conf"))
                .unwrap_err()
                .to_string()
                .contains("include each other")
        );
    }
}
