//! Styles of error responses, which differ between URL languages.

use std::fmt;

/// The kinds of faults that URL languages answer differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The URL is invalid, or asks for something that is not allowed.
    Url,
    /// The URL is not signed, or its signature does not permit the request.
    Signature,
    /// The URL has expired.
    Expired,
    /// The source may not be used.
    Source,
    /// There is no such source.
    Missing,
    /// The source is not an image.
    NotImage,
    /// The source is damaged.
    Damaged,
    /// The requested feature, or the source's format, is known but not supported.
    Unsupported,
    /// The source or the result exceeds a limit.
    Limit,
    /// The source's origin failed.
    Origin,
    /// The work took too long.
    Late,
    /// The server is overloaded.
    Busy,
    /// The HTTP method is not allowed.
    Method,
    /// An internal error of this program.
    Internal,
}

/// The facts that the body of an error response is written from.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The kind of fault.
    pub fault: Fault,
    /// The code of the refusal; see [`Refusal::code`](crate::Refusal::code).
    pub code: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The message that clients may see: one sentence.
    pub sentence: &'a str,
}

#[cfg(test)]
impl<'a> Told<'a> {
    /// Returns the facts about a fault that has no code.
    pub(crate) fn of(fault: Fault, status: u16, sentence: &'a str) -> Self {
        let code = "";
        Self {
            fault,
            code,
            status,
            sentence,
        }
    }
}

/// The error responses of one URL language.
pub trait Errors: fmt::Debug + Sync {
    /// Returns the HTTP status for a fault. `default` is that of the server's own style.
    fn status(&self, fault: Fault, default: u16) -> u16 {
        let _ = fault;
        default
    }

    /// Returns the HTTP status if the origin answered with the client error `answered`, such as 404. By default, it is
    /// what [`Self::status`] returns for the fault.
    fn of_origin(&self, answered: u16, fault: Fault, default: u16) -> u16 {
        let _ = answered;
        self.status(fault, default)
    }

    /// Returns media type and text of an error's body; `None` if the body is just [`Told::sentence`].
    fn body(&self, error: &Told<'_>) -> Option<(&'static str, String)> {
        let _ = error;
        None
    }

    /// Returns a header that identifies the kind of error: name in lower case, and value.
    fn mark(&self, status: u16) -> Option<(&'static str, String)> {
        let _ = status;
        None
    }

    /// Returns further headers of all error responses: names in lower case, and values.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// The style of error responses.
#[derive(Clone, Copy, Debug)]
pub struct ErrorStyle(pub &'static dyn Errors);

/// Compares the `Debug` texts of the styles. Addresses do not identify a style: values of types without fields may
/// share an address, or have more than one.
impl PartialEq for ErrorStyle {
    fn eq(&self, other: &Self) -> bool {
        format!("{:?}", self.0) == format!("{:?}", other.0)
    }
}

impl Eq for ErrorStyle {}

/// The server's own style: each error has its own status, and its body is one sentence.
pub const OWN_ERRORS: ErrorStyle = ErrorStyle(&Own);

#[derive(Debug)]
struct Own;

impl Errors for Own {}

/// Error style in which every error has this status.
#[derive(Debug)]
pub(crate) struct Every(pub(crate) u16);

impl Errors for Every {
    fn status(&self, _: Fault, _: u16) -> u16 {
        self.0
    }
}
