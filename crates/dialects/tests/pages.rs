//! The pages about dialects have the tables of the dialects' options.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- begin: ANDON_WRITE=1 cargo test -p andon-dialects --test pages -->\n";
const END: &str = "<!-- end -->";

/// With `ANDON_WRITE` in the environment, the tables are written into the pages.
#[test]
fn every_page_has_the_options_of_its_dialect() {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects");
    let dialects = andon_dialects::ALL.iter().map(|(name, _)| *name);
    let tables = dialects.map(|name| (name, andon_dialects::options_page(name)));
    for (name, table) in tables.filter(|(_, table)| !table.is_empty()) {
        let page = pages.join(name).with_extension("md");
        let text = fs::read_to_string(&page).expect(name);
        let (before, rest) = text.split_once(BEGIN).expect(name);
        let (_, after) = rest.split_once(END).expect(name);
        let right = format!("{before}{BEGIN}{table}{END}{after}");
        if std::env::var_os("ANDON_WRITE").is_some() {
            fs::write(&page, right).expect(name);
        } else {
            assert!(
                text == right,
                "docs/dialects/{name}.md is out of date: its line `begin` says what to run"
            );
        }
    }
}
