//! The outcome of the trials: a recommendation with its reasons.

use andon_lab::analysis::{Comparison, Verdict};
use andon_lab::report::between;
use toml::{Table, Value};

use super::trial::{CURRENT, Candidate, Trial};
use crate::judged_run::JudgedRun;

/// What the trials have shown so far. Every candidate that was tried and may be recommended is in one of these fields.
#[derive(Default)]
pub(super) struct Advice {
    /// The fastest candidate of the last trial, until it is confirmed.
    winner: Option<Winner>,
    /// Confirmed candidates, each with its evidence.
    recommended: Vec<(Candidate, String)>,
    /// Names of candidates that were faster than the current settings, but not the fastest of their trial, each with
    /// its evidence.
    outrun: Vec<(String, String)>,
    /// Names of candidates that are as fast as the current settings.
    same: Vec<String>,
    /// Names of candidates that are slower than the current settings.
    slower: Vec<String>,
    /// Names of candidates without a conclusive result yet.
    open: Vec<String>,
    /// Names of candidates that could not be compared, each with the reason, e.g. which URLs failed or which processes
    /// disturbed the run.
    failed: Vec<(String, String)>,
}

/// A candidate that was faster in its trial and has to be confirmed.
pub(super) struct Winner {
    pub(super) candidate: Candidate,
    ratio: f64,
    evidence: String,
}

impl Advice {
    /// Adds the result of a trial, and returns its description.
    pub(super) fn add(&mut self, trial: &Trial, judged_run: &JudgedRun) -> String {
        let mut text = format!(
            "{} (replies per second compared with the current settings)\n",
            trial.question
        );
        if let Some(floor) = &judged_run.analysis.noise_floor {
            text += &format!(
                "  noise floor: differences under ±{:.1} % are within the noise\n",
                floor.half_width * 100.0
            );
        }
        for comparison in judged_run.analysis.primary() {
            text += &line(comparison);
            let mut candidates = trial.candidates.iter();
            if let Some(candidate) = candidates.find(|it| it.name == comparison.name) {
                let ratio = comparison.estimate.map_or(1.0, |it| it.ratio);
                self.sort(candidate, &comparison.verdict, ratio, figures(comparison));
            }
        }
        text.push('\n');
        text
    }

    /// Files a candidate by its verdict. The fastest candidate waits to be confirmed.
    fn sort(&mut self, candidate: &Candidate, verdict: &Verdict, ratio: f64, evidence: String) {
        if !candidate.can_win {
            return;
        }
        match verdict {
            Verdict::Faster => {
                let mut other = Winner {
                    candidate: candidate.clone(),
                    ratio,
                    evidence,
                };
                match &mut self.winner {
                    None => self.winner = Some(other),
                    Some(winner) => {
                        if other.ratio > winner.ratio {
                            std::mem::swap(winner, &mut other);
                        }
                        self.outrun.push((other.candidate.name, other.evidence));
                    }
                }
            }
            Verdict::Same { .. } => self.same.push(candidate.name.clone()),
            Verdict::Slower => self.slower.push(candidate.name.clone()),
            Verdict::Invalid { why } => self.failed.push((candidate.name.clone(), why.clone())),
            _ => self.open.push(candidate.name.clone()),
        }
    }

    /// Takes out the fastest candidate of the last trial. The caller confirms it or gives it up.
    pub(super) fn take_winner(&mut self) -> Option<Winner> {
        self.winner.take()
    }

    /// Adds the confirming run of a winner, and returns its description.
    pub(super) fn confirm(&mut self, winner: Winner, judged_run: &JudgedRun) -> String {
        let mut text = String::from("once more, with another seed\n");
        let mut confirmed = None;
        for comparison in judged_run.analysis.primary() {
            text += &line(comparison);
            if comparison.verdict == Verdict::Faster {
                confirmed = Some(figures(comparison));
            }
        }
        match confirmed {
            Some(evidence) => self.recommended.push((winner.candidate, evidence)),
            None => self.give_up(winner),
        }
        text.push('\n');
        text
    }

    /// Files a winner that was not confirmed as undecided.
    pub(super) fn give_up(&mut self, winner: Winner) {
        let name = winner.candidate.name;
        let entry = format!("{name}, which was faster once ({})", winner.evidence);
        self.open.push(entry);
    }

    /// Returns whether no candidate at all could be compared, in which case the trials have failed.
    pub(super) fn is_blind(&self) -> bool {
        let conclusions = self.outrun.len() + self.same.len() + self.slower.len() + self.open.len();
        self.recommended.is_empty() && conclusions == 0 && !self.failed.is_empty()
    }

    /// Returns the final recommendation, with the configuration if there is something to change. `subject` describes
    /// the configuration that was tuned.
    pub(super) fn recommendation(&self, subject: &str) -> anyhow::Result<String> {
        let mut text = String::new();
        if !self.recommended.is_empty() {
            text += &format!("Recommended for {subject}:\n\n{}\n", self.config(None)?);
        } else if self.open.is_empty() && self.failed.is_empty() && !self.same.is_empty() {
            let others = if self.slower.is_empty() {
                ""
            } else {
                " or slower"
            };
            text += &format!(
                "Nothing to change: {subject} and what was tried beside it are SAME within ±3 %{others}.\n"
            );
        } else if self.is_blind() {
            text += &format!("Nothing is known about {subject}: no candidate could be compared.\n");
        } else {
            text += &format!(
                "Nothing to change about {subject}: no candidate is faster for certain.\n"
            );
        }
        for (name, evidence) in &self.outrun {
            text += &format!(
                "Faster too, not taken: {name}  {evidence} (of one trial only the fastest is)\n"
            );
        }
        if !self.same.is_empty() {
            text += &format!("SAME within ±3 %: {}.\n", self.same.join(", "));
        }
        if !self.slower.is_empty() {
            text += &format!("SLOWER: {}.\n", self.slower.join(", "));
        }
        for (name, why) in &self.failed {
            text += &format!("Not comparable, so left at the {CURRENT}: {name}: {why}.\n");
        }
        if !self.open.is_empty() {
            text += &format!(
                "Not decided, so left at the {CURRENT}: {} (give it more time, or a calmer machine).\n",
                self.open.join(", ")
            );
        }
        Ok(text)
    }

    /// Returns the recommended configuration as TOML: the whole configuration of the user with the recommended
    /// settings, or the recommended settings alone if there is none.
    pub(super) fn config(&self, user: Option<&Table>) -> anyhow::Result<String> {
        let mut config = user.cloned().unwrap_or_default();
        let mut text = String::from("# By `andon-lab tune`.\n");
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

/// Formats a comparison as a line, e.g. `  workers = 4   ×1.120 [1.080, 1.150]  FASTER`.
fn line(comparison: &Comparison) -> String {
    let figures = figures(comparison);
    let verdict = between::verdict(&comparison.verdict);
    format!("  {:36} {figures:24} {verdict}\n", comparison.name)
}

fn figures(comparison: &Comparison) -> String {
    let sound = !matches!(
        comparison.verdict,
        Verdict::Invalid { .. } | Verdict::SwitchInactive { .. }
    );
    match comparison.estimate.filter(|_| sound) {
        Some(it) => format!(
            "×{:.3} [{:.3}, {:.3}]",
            it.ratio, it.interval_95.low, it.interval_95.high
        ),
        None => "–".to_owned(),
    }
}

/// Sets the value at a path such as `cache.memory`, and creates missing tables on the way.
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

    fn candidate(name: &str, path: &str, value: Value) -> Candidate {
        Candidate {
            name: name.to_owned(),
            set: [(path.to_owned(), value)].into(),
            can_win: true,
        }
    }

    fn workers(count: i64) -> Candidate {
        candidate(&format!("workers = {count}"), "workers", count.into())
    }

    #[test]
    fn a_recommendation_is_laid_over_the_users_configuration() {
        let memory = candidate("m", "cache.memory", "0".into());
        let advice = Advice {
            recommended: vec![(workers(4), "×1.1".into()), (memory, "×1.2".into())],
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
        let said = advice.recommendation("x").expect("says");
        assert!(
            said.contains("# m: ×1.2\nworkers = 4\n\n[cache]\nmemory = \"0\"\n"),
            "{said}"
        );
    }

    #[test]
    fn every_candidate_is_named_whatever_its_verdict() {
        let same = Verdict::Same {
            within: 0.03,
            tiny: None,
        };
        let invalid = Verdict::Invalid {
            why: "4 of 80 requests failed: /cut.jpg (4: status 415, expected 200)".into(),
        };
        let mut advice = Advice::default();
        for (count, verdict, ratio) in [
            (1, &Verdict::Faster, 1.1),
            (2, &Verdict::Faster, 1.3),
            (3, &Verdict::Faster, 1.2),
            (4, &same, 1.0),
            (5, &Verdict::Slower, 0.8),
            (6, &invalid, 1.0),
        ] {
            advice.sort(&workers(count), verdict, ratio, format!("×{ratio}"));
        }
        let winner = advice.take_winner().expect("one won");
        assert_eq!(winner.candidate.name, "workers = 2");
        advice.give_up(winner);
        let said = advice.recommendation("x").expect("says");
        for line in [
            "Faster too, not taken: workers = 1  ×1.1",
            "Faster too, not taken: workers = 3  ×1.2",
            "SAME within ±3 %: workers = 4.",
            "SLOWER: workers = 5.",
            "workers = 6: 4 of 80 requests failed: /cut.jpg (4: status 415, expected 200).",
            "workers = 2, which was faster once (×1.3)",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
    }

    #[test]
    fn where_nothing_could_be_compared_nothing_is_concluded() {
        let mut advice = Advice::default();
        let why = "8 of 8 requests failed".to_owned();
        advice.sort(&workers(4), &Verdict::Invalid { why }, 1.0, String::new());
        assert!(advice.is_blind());
        let said = advice.recommendation("the defaults").expect("says");
        assert!(
            said.starts_with("Nothing is known about the defaults"),
            "{said}"
        );
        assert!(
            said.contains("workers = 4: 8 of 8 requests failed"),
            "{said}"
        );
        advice.sort(&workers(2), &Verdict::Slower, 0.9, String::new());
        assert!(!advice.is_blind());
    }

    #[test]
    fn where_all_is_the_same_the_defaults_are_said_to_stand() {
        let mut advice = Advice::default();
        let same = Verdict::Same {
            within: 0.03,
            tiny: None,
        };
        advice.sort(&workers(4), &same, 1.0, String::new());
        let said = advice.recommendation("the defaults").expect("says");
        assert!(said.starts_with("Nothing to change: the defaults and"));
        assert!(said.contains("SAME within ±3 %"));
    }
}
