//! Warnings about rewrite rules that are valid but do not do what they were written for.

use crate::config::BELOW;
use crate::dialect::Target;
use crate::forms::is_script;
use crate::{Dialects, EXAMPLE_SOURCE};

impl Dialects {
    /// Returns a sentence about each rewrite rule that never applies, that looks for the query in the path, or whose
    /// new path looks like a URL of a dialect that is off or mounted elsewhere; and about each dialect whose URLs a
    /// rule turns into paths of files.
    #[must_use]
    pub fn rewrite_warnings(&self) -> Vec<String> {
        let rule_warnings = self.rewriter.doubts().flat_map(|(index, sample, doubts)| {
            let result = self.read_rewritten(Target::new(&sample));
            let is_file = result.is_ok_and(|result| result.request.is_file());
            let hint = is_file.then(|| self.hint_of(&sample)).flatten();
            let runs = is_file && is_script(&sample);
            let hint = hint.or_else(|| runs.then(|| NOTHING_RUNS.to_owned()));
            let hint = hint.map(|hint| format!("rewrite.{index}.to: {hint}"));
            doubts.into_iter().chain(hint)
        });
        rule_warnings.chain(self.hidden_dialects()).collect()
    }

    /// Returns a sentence about each dialect with a prefix of its own whose URLs a rewrite rule turns into paths of
    /// files.
    fn hidden_dialects(&self) -> impl Iterator<Item = String> {
        self.dialects.iter().filter_map(|(name, dialect)| {
            let target = dialect.example(EXAMPLE_SOURCE);
            let rewritten = self.rewriter.apply(&target);
            let (rule, new) = (rewritten.rule?, rewritten.target);
            // A rule that leads to a hidden name closes the paths that it matches, which is intended.
            if new == target || new.contains("/.") {
                return None;
            }
            let parsed = self.read_rewritten(Target::new(&new)).ok()?;
            let (_, places) = self.places.iter().find(|(entry, _)| entry == name)?;
            let prefix = places.first()?.trim_end_matches(BELOW);
            let is_hidden = parsed.request.is_file() && !prefix.is_empty();
            let prefix = regex::escape(prefix);
            is_hidden.then(|| {
                format!(
                    "rewrite.{rule} takes the URLs of {name}, such as {target}, and makes {new} of them; a rule before it \
                     keeps them: from = '^({prefix}/.+)$', to = '$1'"
                )
            })
        })
    }
}

/// The end of the warning about a rewrite rule that leads to a script.
const NOTHING_RUNS: &str = "it is the URL of a script, which is not run here, and no other rule is applied to it: lead to an image \
                            (`/r/fit:…`)";

#[cfg(test)]
mod tests {
    use crate::{Config, Dialects};

    fn warnings(keys: &str) -> Vec<String> {
        let known = andon_settings::Known::default();
        let config = crate::ConfigError::reading(keys, &known, |all| all.read::<Config>());
        Dialects::new(&config.expect(keys))
            .unwrap()
            .rewrite_warnings()
    }

    fn rule(from: &str, to: &str) -> String {
        format!("[[rewrite]]\nfrom = '{from}'\nto = '{to}'\n")
    }

    #[test]
    fn a_rule_whose_path_another_takes_before_it_is_said() {
        let thumb = rule(r"^/thumb\.php$", "/r/fit:${arg_w}x/$arg_src");
        let all = rule(r"^(.*\.php)$", "/files$1");
        let said = warnings(&format!("{all}{thumb}"));
        assert!(said[0].starts_with("rewrite.1 never applies: "), "{said:?}");
        assert!(said[0].contains("rewrite.0 takes /thumb.php"), "{said:?}");
        assert_eq!(warnings(&format!("{thumb}{all}")), [""; 0]);
        let some = format!("{all}query = 'x=1'\n{thumb}");
        assert_eq!(warnings(&some), [""; 0]);
    }

    #[test]
    fn a_rule_that_looks_for_the_query_in_the_path_is_said() {
        let said = warnings(&rule(
            r"^/thumb\.php\?(.*&)?zc=1",
            "/r/cover:30x30/$arg_src",
        ));
        assert!(
            said[0].starts_with("rewrite.0.from has a question mark"),
            "{said:?}"
        );
    }

    #[test]
    fn a_rule_that_takes_the_urls_of_a_dialect_is_said() {
        let files = rule(r"(?i)^(.*\.(jpg|jpeg|png))$", "/_nginx/2$1");
        let said = warnings(&files).concat();
        let keeps = "from = '^(/r/.+)$', to = '$1'";
        assert!(
            said.contains("rewrite.0 takes the URLs of native, such as /r/"),
            "{said}"
        );
        assert!(said.contains(keeps), "{said}");
        let small = "[small_light]\nenabled = false\n";
        let own = rule("^(/r/.+)$", "$1");
        assert_eq!(warnings(&format!("{own}{files}{small}")), [""; 0]);
        let closed = rule("^/_nginx(/|$)", "/.closed");
        let filter = "[image_filter]\nprefix = \"/_nginx\"\n";
        assert_eq!(warnings(&format!("{closed}{filter}{small}")), [""; 0]);
        assert_eq!(
            warnings(&rule("^/([0-9]+)/(.+)$", "/r/fit:$1x/$2")),
            [""; 0]
        );
    }

    #[test]
    fn a_rule_that_leads_to_a_script_is_said() {
        let script = rule("^/foto/([0-9]+)/(.+)$", "/resize.php?src=$2&w=$1");
        let said = warnings(&script).concat();
        assert!(
            said.starts_with("rewrite.0.to: it is the URL of a script"),
            "{said}"
        );
    }

    #[test]
    fn a_rule_that_leads_to_a_dialect_that_is_off_is_said() {
        let thumb = rule(r"^/thumb\.php$", "/r/fit:${arg_w}x${arg_h}/$arg_src");
        let said = warnings(&format!("{thumb}[native]\nenabled = false\n"));
        assert!(
            said[0].starts_with("rewrite.0.to: this looks like a URL of native, "),
            "{said:?}"
        );
        assert!(
            said[0].contains("[native] with `enabled = true`"),
            "{said:?}"
        );
        let moved = warnings(&format!("{thumb}[native]\nprefix = \"/img\"\n"));
        assert!(
            moved[0].contains("here it is /img/fit:1x1/a.jpg"),
            "{moved:?}"
        );
        assert_eq!(
            warnings(&format!("{thumb}[native]\nprefix = \"/r\"\n")),
            [""; 0]
        );
        let filter = rule(
            r"^/w([0-9]+)/(.+)$",
            "/_nginx/image_filter(resize,$1,-)/_nginx/1/$2",
        );
        let below = format!("{filter}[image_filter]\nprefix = \"/_nginx\"\n");
        assert_eq!(warnings(&below), [""; 0]);
        let options = rule("^/s/([^/]+)/(.+)$", "/small_light($1)/$2");
        assert_eq!(warnings(&options), [""; 0]);
    }
}
