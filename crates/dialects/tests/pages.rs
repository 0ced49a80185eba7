//! Tests that the tables about dialects in `docs/` agree with the dialects' options and results.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use andon_dialects::{Config, Dialects, OptionHelp};
use andon_recipe::{Facts, Kept};

/// The environment variable with which the tests write the tables into `docs/` instead of comparing them:
/// `ANDON_BLESS=1`.
const SWITCH: &str = "ANDON_BLESS";

const START: &str = "<!-- options -->\n";
const END: &str = "<!-- /options -->\n";

/// Returns the options of a dialect as a table, those of imgproxy's `/info` aside.
fn table(options: &[OptionHelp]) -> String {
    let has_values = options.iter().any(|option| !option.values.is_empty());
    let mut text = match has_values {
        true => "| option | values | |\n|---|---|---|\n".to_owned(),
        false => "| option | |\n|---|---|\n".to_owned(),
    };
    for OptionHelp {
        names,
        values,
        help,
        ..
    } in options
    {
        assert!(help.ends_with('.'), "{names:?} has no sentence");
        if names[0].contains(' ') {
            continue;
        }
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let values = if has_values {
            format!(" {values} |")
        } else {
            String::new()
        };
        let _ = writeln!(text, "| {} |{values} {help} |", names.join(" "));
    }
    text
}

#[test]
fn every_page_has_the_options_of_its_dialect() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects");
    for (dialect, _) in andon_dialects::ALL {
        let options = andon_dialects::option_help(dialect);
        if options.is_empty() {
            continue;
        }
        let page = pages.join(dialect).with_extension("md");
        let text = fs::read_to_string(&page).expect(dialect);
        let (before, rest) = text.split_once(START).expect(dialect);
        let (_, after) = rest.split_once(END).expect(dialect);
        let new = format!("{before}{START}{}{END}{after}", table(&options));
        if std::env::var_os(SWITCH).is_some() {
            fs::write(&page, new).expect(dialect);
        } else {
            assert!(
                new == text,
                "docs/dialects/{dialect}.md lists other options: run this test once with {SWITCH}=1 in its environment"
            );
        }
    }
}

const CHANGES: &str = "<!-- changes -->\n";
const END_OF_CHANGES: &str = "<!-- /changes -->\n";

/// Returns a table of what each dialect does not do as the original does. Options with one reason share a row.
fn changes() -> String {
    let mut text = String::new();
    for (dialect, _) in andon_dialects::ALL {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for OptionHelp { names, differs, .. } in andon_dialects::option_help(dialect) {
            let Some(why) = differs else {
                continue;
            };
            let name = format!("`{}`", names[0]);
            match reasons.iter_mut().find(|(known, _)| *known == why) {
                Some((_, names)) => names.push(name),
                None => reasons.push((why, vec![name])),
            }
        }
        if reasons.is_empty() {
            continue;
        }
        let _ = writeln!(text, "### [{dialect}](dialects/{dialect}.md)\n");
        text += "| option | what is different |\n|---|---|\n";
        for (why, names) in reasons {
            let _ = writeln!(text, "| {} | {why} |", names.join(" "));
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len() + 1);
    text
}

#[test]
fn the_page_on_moving_has_what_changes_in_each_dialect() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/migration.md");
    let text = fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(CHANGES).expect("a beginning");
    let (_, after) = rest.split_once(END_OF_CHANGES).expect("an end");
    let new = format!("{before}{CHANGES}{}{END_OF_CHANGES}{after}", changes());
    if std::env::var_os(SWITCH).is_some() {
        fs::write(&page, new).expect("written");
    } else {
        assert!(
            new == text,
            "docs/migration.md lists other changes: run this test once with {SWITCH}=1 in its environment"
        );
    }
}

const METADATA: &str = "<!-- metadata -->\n";
const END_OF_METADATA: &str = "<!-- /metadata -->\n";

/// Returns what a result keeps of the metadata of a source in this format, as recipes name it.
fn kept(dialects: &Dialects, target: &str, format: &str) -> &'static str {
    let request = dialects.parse(target).expect(target);
    let facts = Facts {
        metadata: true,
        ..Facts::new(format, 2000, 1500)
    };
    let recipe = request.rules.resolve(&facts);
    match recipe.expect(target).output.metadata {
        Kept::None => "`none`",
        Kept::Copyright => "`copyright`",
        Kept::Public => "`public`",
        Kept::All => "`all`",
    }
}

/// Returns a table of what results of the dialects keep of metadata where the URL says nothing of it.
fn metadata() -> String {
    let mut config = Config::default();
    config.switch_on_all();
    let dialects = Dialects::new(&config).expect("dialects");
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, target) in dialects.open_examples("/trip/a.jpg") {
        let [jpeg, others @ ..] =
            ["jpeg", "png", "webp"].map(|format| kept(&dialects, &target, format));
        let said = match others.iter().find(|other| **other != jpeg) {
            None => jpeg.to_owned(),
            Some(other) => format!("{jpeg} in JPEG, else {other}"),
        };
        match rows.iter_mut().find(|(known, _)| *known == said) {
            Some((_, names)) => names.push(name),
            None => rows.push((said, vec![name])),
        }
    }
    let mut text = "| results of | keep |\n|---|---|\n".to_owned();
    for (said, names) in rows {
        let _ = writeln!(text, "| {} | {said} |", names.join(", "));
    }
    text
}

#[test]
fn the_page_on_security_has_what_results_keep_of_metadata() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let text = fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(METADATA).expect("a beginning");
    let (_, after) = rest.split_once(END_OF_METADATA).expect("an end");
    let new = format!("{before}{METADATA}{}{END_OF_METADATA}{after}", metadata());
    if std::env::var_os(SWITCH).is_some() {
        fs::write(&page, new).expect("written");
    } else {
        assert!(
            new == text,
            "docs/security.md says otherwise: run this test once with {SWITCH}=1 in its environment"
        );
    }
}

#[test]
fn every_option_is_tried() {
    for dialect in ["imgproxy", "thumbor", "imagor"] {
        let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("options");
        let tried = fs::read_to_string(tables.join(format!("{dialect}.toml")));
        let tried = tried.expect("a table");
        for name in andon_dialects::options(dialect) {
            let row = format!("{{ name = '{name}',");
            assert!(tried.contains(&row), "{dialect}: {name} is not tried");
        }
    }
}
