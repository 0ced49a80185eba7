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

/// Every rule, in the order in which they are applied.
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

/// The rules by phase. The first phase decides what is shown. The second decides how the source is read, once the
/// planes that the encoder needs are known.
static PHASES: [&[&Rule]; 2] = [
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

/// Applies the rules of the planning phase with this index, and returns those that had an effect, in the same order.
pub(super) fn apply(phase: usize, draft: &mut Draft<'_>) -> Vec<&'static Rule> {
    let rules = PHASES[phase].iter().copied();
    rules.filter(|rule| (rule.act)(draft)).collect()
}

/// A rule that makes plans cheaper without a visible change, or that preserves quality.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The rule's name.
    pub name: &'static str,
    /// Why the result stays the same, and what the rule saves.
    pub reason: &'static str,
    /// An example of the rule.
    pub example: Example,
    /// Applies the rule to a draft; returns whether it had an effect.
    act: fn(&mut Draft<'_>) -> bool,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// An example of a rule: a source, a recipe, and the resulting plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The source in words: format, size, model, and what else matters.
    pub source: &'static str,
    /// The recipe that is planned.
    pub recipe: &'static str,
    /// The resulting plan, as printed.
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
