//! `Andon-Priority: idle`: a request that lets all others go first, such as one that only fills the cache.

use hyper::header::HeaderMap;

use super::purge::Token;
use crate::error::Error;

/// Name of the header, in lower case.
const NAME: &str = "andon-priority";

/// Whether the request has the priority `idle`, which lets all others go first. It may wait longer than others do, so
/// only the administrator may use it.
///
/// # Errors
/// If the priority is unknown, or the administrator's token is missing or wrong.
pub(crate) fn is_idle(headers: &HeaderMap, token: Option<&Token>) -> Result<bool, Error> {
    let Some(value) = headers.get(NAME) else {
        return Ok(false);
    };
    if !value.as_bytes().eq_ignore_ascii_case(b"idle") {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        return Err(Error::Priority(value));
    }
    let token = token.ok_or(Error::NoPriority)?;
    match token.opens(headers) {
        true => Ok(true),
        false => Err(Error::Unauthorized),
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{AUTHORIZATION, HeaderValue};

    use super::*;

    #[test]
    fn only_the_administrator_may_ask_for_the_one_priority_that_there_is() {
        let token = Token::new("a token of some length");
        let said = |priority: Option<&'static str>, given: &'static str, token| {
            let mut headers = HeaderMap::new();
            if let Some(priority) = priority {
                headers.insert(NAME, HeaderValue::from_static(priority));
            }
            headers.insert(AUTHORIZATION, HeaderValue::from_static(given));
            is_idle(&headers, token).map_err(|error| error.label())
        };
        let (right, wrong) = ("Bearer a token of some length", "Bearer another one");
        assert_eq!(said(None, wrong, None), Ok(false));
        assert_eq!(said(Some("idle"), right, Some(&token)), Ok(true));
        assert_eq!(said(Some("Idle"), right, Some(&token)), Ok(true));
        assert_eq!(said(Some("idle"), wrong, Some(&token)), Err("unauthorized"));
        assert_eq!(said(Some("idle"), right, None), Err("priority_forbidden"));
        assert_eq!(said(Some("high"), right, Some(&token)), Err("priority"));
    }
}
