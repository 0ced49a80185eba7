//! System call filters (seccomp), built from lists of call numbers.

use std::collections::BTreeMap;
use std::io;

use libc::c_int;
use seccompiler::{
    BackendError, BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp,
    SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The system calls that a filter matches, by number, each with the rules for its arguments. A call without rules
/// matches whatever its arguments are.
#[derive(Debug, Default)]
pub struct Calls(BTreeMap<i64, Vec<SeccompRule>>);

/// A condition on the low 32 bits of one argument of a system call.
pub type Condition = Result<SeccompCondition, BackendError>;

impl Calls {
    /// Adds system calls that match whatever their arguments are.
    pub fn any(mut self, numbers: &[i64]) -> Self {
        for number in numbers {
            self.0.insert(*number, Vec::new());
        }
        self
    }

    /// Adds a system call that matches if all conditions are true. After several calls of this method with the same
    /// `number`, the system call matches if the conditions of one of them are true.
    ///
    /// # Errors
    /// If a condition is for an argument index that system calls do not have.
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

    /// Builds a filter that permits only these system calls; others fail with `error`.
    ///
    /// # Errors
    /// On a machine architecture that is not supported.
    pub fn only(self, error: c_int) -> Result<BpfProgram, BackendError> {
        self.compile(SeccompAction::Allow, refuse(error))
    }

    /// Builds a filter that permits all system calls except these, which fail with `error`.
    ///
    /// # Errors
    /// On a machine architecture that is not supported.
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

/// Condition that the argument at index `place` equals `value`.
pub fn is(place: u8, value: c_int) -> Condition {
    condition(place, SeccompCmpOp::Eq, value)
}

/// Condition that the argument at index `place` differs from `value`.
pub fn is_not(place: u8, value: c_int) -> Condition {
    condition(place, SeccompCmpOp::Ne, value)
}

/// Condition that the argument at index `place` has none of these bits set.
pub fn lacks(place: u8, bits: c_int) -> Condition {
    let mask = u64::from(bits.cast_unsigned());
    condition(place, SeccompCmpOp::MaskedEq(mask), 0)
}

/// Condition that the argument at index `place` has all of these bits set.
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

/// Converts an error of `seccompiler` to an I/O error.
pub fn said(error: Error) -> io::Error {
    match error {
        Error::Prctl(error) | Error::Seccomp(error) => error,
        other => io::Error::other(other),
    }
}
