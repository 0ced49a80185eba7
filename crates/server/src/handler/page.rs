//! The files of the server's own pages, which are part of the binary.

use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderValue};

use crate::request::conditional::Validators;
use crate::response::{self, Reply};

/// A file that belongs to one of the server's own pages.
pub(super) struct PageFile {
    /// Path below the page's address; empty for the page itself.
    pub(super) name: &'static str,
    pub(super) media_type: &'static str,
    pub(super) content: &'static str,
}

/// Lists the files of a page: path, media type, and file name in the folder `page`.
macro_rules! files {
    ($($name:literal, $media_type:expr, $file:literal;)+) => {
        &[$($crate::handler::page::PageFile {
            name: $name,
            media_type: $media_type,
            content: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/handler/page/", $file)),
        }),+]
    };
}

pub(super) const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(super) use files;

impl PageFile {
    /// Returns the file, or 304 if the client has it already.
    pub(super) fn reply(&self, headers: &HeaderMap) -> Reply {
        let validators = Validators {
            etag: format!("\"{}\"", blake3::hash(self.content.as_bytes()).to_hex()),
            modified: None,
        };
        let mut reply = match validators.unchanged(headers) {
            true => response::not_modified(&validators),
            false => {
                let body = Bytes::from_static(self.content.as_bytes());
                response::found(body, self.media_type, &validators)
            }
        };
        response::set_cache_control(&mut reply, "no-cache");
        let policy = HeaderValue::from_static(POLICY);
        reply
            .headers_mut()
            .insert(header::CONTENT_SECURITY_POLICY, policy);
        reply
    }
}

/// Returns a page that was generated for one request and must not be stored. Its content security policy allows only the
/// server's own files and forms.
pub(super) fn html_page(html: String) -> Reply {
    let mut reply = response::text("text/html; charset=utf-8", html);
    response::set_cache_control(&mut reply, "no-store");
    let policy = HeaderValue::from_static(POLICY_WITH_FORMS);
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    reply
}

/// Escapes a text for HTML, in attributes as well.
pub(super) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            char => html.push(char),
        }
    }
    html
}

/// Content security policy that allows only the server's own files, and forms that are sent to the server itself.
const POLICY_WITH_FORMS: &str =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Content security policy that allows only the server's own files. Images dropped on the page, and results whose
/// headers are examined, are `blob:` URLs.
const POLICY: &str = "default-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
