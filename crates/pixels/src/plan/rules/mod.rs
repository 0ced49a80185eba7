//! The planner's rules: one file each, with its reason, an example that a test plans, and its code.

use std::fmt;

pub(super) mod convert_colour_late;
pub(super) mod copy_if_nothing_changes;
pub(super) mod crop_before_resize;
pub(super) mod shrink_on_load;
pub(super) mod skip_identity;
pub(super) mod stay_in_planes;
pub(super) mod turn_late;

/// Every rule, in the order in which the planner asks them.
pub const RULES: &[&Rule] = &[
    &copy_if_nothing_changes::RULE,
    &crop_before_resize::RULE,
    &turn_late::RULE,
    &stay_in_planes::RULE,
    &convert_colour_late::RULE,
    &shrink_on_load::RULE,
    &skip_identity::RULE,
];

/// One way in which a plan is made cheaper without changing what is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// Why it holds and what it saves.
    pub reason: &'static str,
    /// One case of it.
    pub example: Example,
}

/// A case of a rule: what is planned and what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The source in words: format, size, model, and what else matters.
    pub source: &'static str,
    /// The recipe.
    pub recipe: &'static str,
    /// The plan's line.
    pub plan: &'static str,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The rules that acted on a plan so far.
#[derive(Debug, Default)]
pub(super) struct Fired(Vec<&'static Rule>);

impl Fired {
    /// Notes that a rule acted; once is enough.
    pub(super) fn note(&mut self, rule: &'static Rule) {
        if !self.0.iter().any(|known| known.name == rule.name) {
            self.0.push(rule);
        }
    }

    /// All of them, in the order in which they acted.
    pub(super) fn into_rules(self) -> Vec<&'static Rule> {
        self.0
    }
}
