//! How errors are answered: each URL language has its own habits.

use std::fmt;

/// What is wrong with a request, as far as URL languages answer it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The URL asks for what may not be.
    Url,
    /// The URL is not signed, or not by anybody who may.
    Signature,
    /// The URL was good until a moment that is past.
    Expired,
    /// The source may not be used.
    Source,
    /// There is no such source.
    Missing,
    /// The source is no image.
    NotImage,
    /// The source is damaged.
    Damaged,
    /// What is asked for, or the source's format, is known but not done here.
    Unsupported,
    /// Source or result is over a limit.
    Limit,
    /// The origin of the source failed.
    Origin,
    /// It took too long.
    Late,
    /// There is more work than can be done.
    Busy,
    /// The method is not allowed.
    Method,
    /// A fault of this program.
    Internal,
}

/// How one URL language answers errors.
pub trait Errors: fmt::Debug + Sync {
    /// The status, where the server's own is `own`.
    fn status(&self, fault: Fault, own: u16) -> u16 {
        let _ = fault;
        own
    }

    /// The status where the origin answered with this one, which blames the request.
    fn of_origin(&self, answered: u16, fault: Fault, own: u16) -> u16 {
        let _ = answered;
        self.status(fault, own)
    }

    /// Media type and text of the body with this status, from the sentence for the public; `None`: the sentence.
    fn body(&self, status: u16, sentence: &str) -> Option<(&'static str, String)> {
        let _ = (status, sentence);
        None
    }

    /// A header that tells which error it is: name in lower case, and value.
    fn mark(&self, status: u16) -> Option<(&'static str, String)> {
        let _ = status;
        None
    }

    /// Further headers: name in lower case, and value.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// How errors are answered.
#[derive(Clone, Copy, Debug)]
pub struct ErrorStyle(pub &'static dyn Errors);

/// Equal when they call themselves the same: those without fields may share an address, or have several.
impl PartialEq for ErrorStyle {
    fn eq(&self, other: &Self) -> bool {
        format!("{:?}", self.0) == format!("{:?}", other.0)
    }
}

impl Eq for ErrorStyle {}

/// Each with its own status, as one sentence.
pub const OWN_ERRORS: ErrorStyle = ErrorStyle(&Own);

#[derive(Debug)]
struct Own;

impl Errors for Own {}

/// Errors that all have this status.
#[derive(Debug)]
pub(crate) struct Every(pub(crate) u16);

impl Errors for Every {
    fn status(&self, _: Fault, _: u16) -> u16 {
        self.0
    }
}
