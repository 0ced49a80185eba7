//! What comes of the trials: a recommendation, and why.

use andon_lab::analysis::{Comparison, Verdict};
use andon_lab::report::between;
use toml::{Table, Value};

use super::trial::{AS_IT_IS, Candidate, Trial};
use crate::lab::whole::Whole;

/// What is known so far.
#[derive(Default)]
pub(super) struct Advice {
    /// The fastest of the last trial, until it is confirmed.
    pub(super) won: Option<Candidate>,
    /// Confirmed, each with its evidence.
    recommended: Vec<(Candidate, String)>,
    /// Names that are the same as it is.
    same: Vec<String>,
    /// Names of which nothing is known yet.
    open: Vec<String>,
}

impl Advice {
    /// Takes a trial in, and tells it.
    pub(super) fn add(&mut self, trial: &Trial, whole: &Whole) -> String {
        let mut text = format!(
            "{} (replies per second beside the configuration as it is)\n",
            trial.question
        );
        if let Some(floor) = &whole.analysis.noise_floor {
            text += &format!(
                "  noise floor: effects below ±{:.1} % cannot be told from nothing\n",
                floor.half_width * 100.0
            );
        }
        let mut best: Option<(f64, &Candidate)> = None;
        for comparison in whole.analysis.primary() {
            text += &line(comparison);
            let Some(candidate) = trial
                .candidates
                .iter()
                .find(|it| it.name == comparison.name)
            else {
                continue;
            };
            if !candidate.can_win {
                continue;
            }
            match &comparison.verdict {
                Verdict::Faster => {
                    let ratio = comparison.estimate.map_or(1.0, |it| it.ratio);
                    if best.is_none_or(|(highest, _)| ratio > highest) {
                        best = Some((ratio, candidate));
                    }
                }
                Verdict::Same { .. } => self.same.push(candidate.name.clone()),
                Verdict::Slower => {}
                _ => self.open.push(candidate.name.clone()),
            }
        }
        self.won = best.map(|(_, candidate)| candidate.clone());
        text.push('\n');
        text
    }

    /// Takes the second look at a winner in.
    pub(super) fn confirm(&mut self, won: Candidate, whole: &Whole) -> String {
        let mut text = String::from("once more, with another seed\n");
        for comparison in whole.analysis.primary() {
            text += &line(comparison);
            if comparison.verdict == Verdict::Faster {
                self.recommended.push((won.clone(), figures(comparison)));
            } else {
                self.open.push(won.name.clone());
            }
        }
        text.push('\n');
        text
    }

    /// The last word.
    pub(super) fn recommendation(&self, told: &str) -> String {
        let mut text = String::new();
        if self.recommended.is_empty() {
            text +=
                &format!("Nothing to change about {told}: no candidate is faster for certain.\n");
        } else {
            text += &format!("Recommended beside {told}:\n");
            for (candidate, evidence) in &self.recommended {
                text += &format!("  {}  # {evidence}\n", candidate.name);
            }
        }
        if !self.same.is_empty() {
            text += &format!("SAME within ±3 %: {}.\n", self.same.join(", "));
        }
        if !self.open.is_empty() {
            text += &format!(
                "Not decided, so left {AS_IT_IS}: {} (give it more time, or a calmer machine).\n",
                self.open.join(", ")
            );
        }
        text
    }

    /// The configuration: the user's whole, or what differs from the defaults.
    pub(super) fn config(&self, user: Option<&Table>) -> anyhow::Result<String> {
        let mut config = user.cloned().unwrap_or_default();
        let mut text = String::from("# By `andon tune`.\n");
        for (candidate, evidence) in &self.recommended {
            text += &format!("# {}: {evidence}\n", candidate.name);
            for (path, value) in &candidate.set {
                put(&mut config, path, value.clone());
            }
        }
        if self.recommended.is_empty() {
            text += "# Nothing is faster for certain than what was there.\n";
        }
        Ok(text + &toml::to_string_pretty(&config)?)
    }
}

/// `  workers = 4   ×1.120 [1.080, 1.150]  FASTER`.
fn line(comparison: &Comparison) -> String {
    let figures = figures(comparison);
    let verdict = between::verdict(&comparison.verdict);
    format!("  {:36} {figures:24} {verdict}\n", comparison.name)
}

fn figures(comparison: &Comparison) -> String {
    let sound = !matches!(
        comparison.verdict,
        Verdict::Invalid { .. } | Verdict::NotExercised { .. }
    );
    match comparison.estimate.filter(|_| sound) {
        Some(it) => format!(
            "×{:.3} [{:.3}, {:.3}]",
            it.ratio, it.interval_95.low, it.interval_95.high
        ),
        None => "–".to_owned(),
    }
}

/// Puts a value at a path such as `cache.memory`, with the tables on the way.
fn put(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_is_laid_over_the_users_configuration() {
        let won = |name: &str, path: &str, value: Value| Candidate {
            name: name.to_owned(),
            set: [(path.to_owned(), value)].into(),
            can_win: true,
        };
        let advice = Advice {
            recommended: vec![
                (won("workers = 4", "workers", 4.into()), "×1.1".into()),
                (won("m", "cache.memory", "0".into()), "×1.2".into()),
            ],
            ..Advice::default()
        };
        let user: Table = toml::from_str("queue = 9\n[cache]\nttl = \"1m\"\n").expect("toml");
        let text = advice.config(Some(&user)).expect("writes");
        let read: Table = toml::from_str(&text).expect("toml");
        assert_eq!(read["queue"].as_integer(), Some(9));
        assert_eq!(read["workers"].as_integer(), Some(4));
        assert_eq!(read["cache"]["memory"].as_str(), Some("0"));
        assert_eq!(read["cache"]["ttl"].as_str(), Some("1m"));
        assert!(text.contains("# workers = 4: ×1.1\n"));
        assert!(advice.recommendation("x").contains("  workers = 4  # ×1.1"));
    }
}
