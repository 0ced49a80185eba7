//! Filters of system calls, from lists of their numbers.

use std::collections::BTreeMap;
use std::io;

use libc::c_int;
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The calls that a filter is about, and for which arguments; none: for all.
#[derive(Debug, Default)]
pub struct Calls(BTreeMap<i64, Vec<SeccompRule>>);

/// A condition on one argument, of which the kernel looks at 32 bits.
pub type Condition = Result<SeccompCondition, BackendError>;

impl Calls {
    /// These, whatever their arguments.
    pub fn any(mut self, numbers: &[i64]) -> Self {
        for number in numbers {
            self.0.insert(*number, Vec::new());
        }
        self
    }

    /// This one, if all conditions hold. Said several times, one of them has to.
    ///
    /// # Errors
    /// For an argument that no call has.
    pub fn when<const N: usize>(
        mut self,
        number: i64,
        conditions: [Condition; N],
    ) -> Result<Self, BackendError> {
        let conditions = conditions.into_iter().collect::<Result<_, _>>()?;
        let rule = SeccompRule::new(conditions)?;
        self.0.entry(number).or_default().push(rule);
        Ok(self)
    }

    /// A filter that permits these alone; others fail with `error`.
    ///
    /// # Errors
    /// On a machine whose calls it does not know.
    pub fn only(self, error: c_int) -> Result<BpfProgram, BackendError> {
        self.compile(SeccompAction::Allow, refuse(error))
    }

    /// A filter that permits all but these, which fail with `error`.
    ///
    /// # Errors
    /// On a machine whose calls it does not know.
    pub fn none(self, error: c_int) -> Result<BpfProgram, BackendError> {
        self.compile(refuse(error), SeccompAction::Allow)
    }

    fn compile(
        self,
        these: SeccompAction,
        others: SeccompAction,
    ) -> Result<BpfProgram, BackendError> {
        let machine = TargetArch::try_from(std::env::consts::ARCH)?;
        SeccompFilter::new(self.0, others, these, machine)?.try_into()
    }
}

fn refuse(error: c_int) -> SeccompAction {
    SeccompAction::Errno(error.unsigned_abs())
}

/// Is the argument at this place `value`?
pub fn is(place: u8, value: c_int) -> Condition {
    condition(place, SeccompCmpOp::Eq, value)
}

/// Is it anything else?
pub fn is_not(place: u8, value: c_int) -> Condition {
    condition(place, SeccompCmpOp::Ne, value)
}

/// Has it none of these bits?
pub fn lacks(place: u8, bits: c_int) -> Condition {
    let mask = u64::from(bits.cast_unsigned());
    condition(place, SeccompCmpOp::MaskedEq(mask), 0)
}

/// Has it all of these bits?
pub fn has(place: u8, bits: c_int) -> Condition {
    let mask = u64::from(bits.cast_unsigned());
    SeccompCondition::new(
        place,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::MaskedEq(mask),
        mask,
    )
}

fn condition(place: u8, operator: SeccompCmpOp, value: c_int) -> Condition {
    let value = u64::from(value.cast_unsigned());
    SeccompCondition::new(place, SeccompCmpArgLen::Dword, operator, value)
}

/// As the rest of the program says it.
pub fn said(error: Error) -> io::Error {
    match error {
        Error::Prctl(error) | Error::Seccomp(error) => error,
        other => io::Error::other(other),
    }
}
