//! The planner's rules: one file each, with its reason, an example that a test plans, and its code.

use std::fmt;

use super::draft::Draft;

pub(super) mod convert_colour_late;
pub(super) mod copy_if_nothing_changes;
pub(super) mod crop_before_resize;
pub(super) mod draw_at_size;
pub(super) mod scale_in_linear_light;
pub(super) mod shrink_on_load;
pub(super) mod skip_identity;
pub(super) mod stay_in_planes;
pub(super) mod turn_late;
pub(super) mod turn_what_is_not_said;

/// Every rule, in the order in which they act.
pub const RULES: &[&Rule] = &[
    &turn_what_is_not_said::RULE,
    &copy_if_nothing_changes::RULE,
    &crop_before_resize::RULE,
    &turn_late::RULE,
    &stay_in_planes::RULE,
    &convert_colour_late::RULE,
    &draw_at_size::RULE,
    &shrink_on_load::RULE,
    &skip_identity::RULE,
    &scale_in_linear_light::RULE,
];

/// The rules by phase: the first decides what is shown, the second, when the planes are known that the
/// encoder needs, how the source is read.
pub(super) static PHASES: [&[&Rule]; 2] = [
    &[
        &turn_what_is_not_said::RULE,
        &copy_if_nothing_changes::RULE,
        &crop_before_resize::RULE,
        &turn_late::RULE,
    ],
    &[
        &stay_in_planes::RULE,
        &convert_colour_late::RULE,
        &draw_at_size::RULE,
        &shrink_on_load::RULE,
        &skip_identity::RULE,
        &scale_in_linear_light::RULE,
    ],
];

/// One way in which a plan is made cheaper without changing what is seen, or which keeps what is seen.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The reason for which the result stays the same, and what the rule saves.
    pub reason: &'static str,
    /// One case of it.
    pub example: Example,
    /// Acts on a draft, if there is anything to do: then it says so.
    act: fn(&mut Draft<'_>) -> bool,
}

impl Rule {
    pub(super) fn acts_on(&self, draft: &mut Draft<'_>) -> bool {
        (self.act)(draft)
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_phase() {
        let phased: Vec<&str> = PHASES
            .iter()
            .flat_map(|phase| phase.iter())
            .map(|rule| rule.name)
            .collect();
        let all: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(phased, all);
    }
}
