//! The tables of options in the pages of the dialects are made of the dialects' own tables.

use std::fmt::Write as _;
use std::path::Path;

/// The environment variable that writes the tables into the pages: `ANDON_BLESS=1`.
const SWITCH: &str = "ANDON_BLESS";

const START: &str = "<!-- options -->\n";
const END: &str = "<!-- /options -->\n";

/// Returns the options of a dialect as a table, those of imgproxy's `/info` aside.
fn table(dialect: &str) -> String {
    let mut text = "| option | |\n|---|---|\n".to_owned();
    for option in andon_dialects::option_help(dialect) {
        let names: Vec<String> = option
            .names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        assert!(option.help.ends_with('.'), "{names:?} has no sentence");
        if !option.names[0].contains(' ') {
            let _ = writeln!(text, "| {} | {} |", names.join(" "), option.help);
        }
    }
    text
}

#[test]
fn pages_list_the_options_that_there_are() {
    for dialect in ["imgproxy", "thumbor", "imagor"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects");
        let page = folder.join(format!("{dialect}.md"));
        let text = std::fs::read_to_string(&page).expect("a page");
        let (before, rest) = text.split_once(START).expect("a table begins");
        let (_, after) = rest.split_once(END).expect("a table ends");
        let new = format!("{before}{START}{}{END}{after}", table(dialect));
        if std::env::var_os(SWITCH).is_some() {
            std::fs::write(&page, new).expect("the page can be written");
        } else {
            assert!(
                new == text,
                "docs/dialects/{dialect}.md lists other options: run this test once with {SWITCH}=1 in its environment"
            );
        }
    }
}

#[test]
fn every_option_is_tried() {
    for dialect in ["imgproxy", "thumbor", "imagor"] {
        let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("options");
        let tried = std::fs::read_to_string(tables.join(format!("{dialect}.toml")));
        let tried = tried.expect("a table");
        for name in andon_dialects::options(dialect) {
            let row = format!("{{ name = '{name}',");
            assert!(tried.contains(&row), "{dialect}: {name} is not tried");
        }
    }
}
