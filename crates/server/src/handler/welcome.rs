//! The page at `/` of a served folder. It shows how to request an image, for somebody who opens a new server in a
//! browser.

use std::fmt::Write as _;
use std::time::Instant;

use andon_dialects::EXAMPLE_SOURCE;
use hyper::HeaderMap;
use hyper::header;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::config::AllowedClients;
use crate::error::Error;
use crate::handler::App;
use crate::response::{self, Reply};
use crate::results::making::Allowance;

impl App {
    /// Returns the welcome page. It reveals the path of one image at most.
    pub(super) async fn welcome(
        &self,
        headers: &HeaderMap,
        deadline: Instant,
    ) -> Result<Reply, Error> {
        let resolver = self.maker.resolver.clone();
        let look = move || Ok::<_, Error>(resolver.images(EXAMPLES));
        let mut file = None;
        for path in self.maker.fetcher.look(look).await? {
            let target = format!("/{}", utf8_percent_encode(&path, IN_PATH));
            if self.is_whole(&target, headers, deadline).await {
                file = Some(target);
                break;
            }
        }
        let path = file.as_deref().unwrap_or(EXAMPLE_SOURCE);
        let page = page(file.as_deref(), self.maker.resolver.examples(path));
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let page = match self.loopback_is_local && self.folder_allow == AllowedClients::Local {
            true => page + PRIVATE,
            false => page,
        };
        Ok(response::welcome(page.replace(HERE, &base_url(host))))
    }

    /// Whether the file is a complete image. The file is opened in the same way as for a client's request.
    async fn is_whole(&self, target: &str, headers: &HeaderMap, deadline: Instant) -> bool {
        let maker = &self.maker;
        let variant = self
            .targets
            .understand(target, headers, &[], maker, &self.negotiation);
        let Ok(variant) = variant else { return false };
        let ctx = maker.context(variant, Allowance::until(deadline));
        match maker.open_file(ctx.request()).await {
            Ok(file) => maker.serve(&ctx, file).await.is_ok(),
            Err(_) => false,
        }
    }
}

/// Returns the text of the page. `file` is the path of an image in a URL, and each example is the name of one of this
/// server's URL dialects and a request target in it.
fn page(file: Option<&str>, examples: impl Iterator<Item = (&'static str, String)>) -> String {
    let mut page = format!(
        "Andon {} serves the images of this folder, resized on request.\n\n",
        env!("CARGO_PKG_VERSION")
    );
    // Writing to a String cannot fail.
    let _ = match file {
        Some(file) => writeln!(page, "An image as it is:    {HERE}{file}"),
        None => writeln!(
            page,
            "No image was found in it yet. With an image {EXAMPLE_SOURCE}:\n"
        ),
    };
    for (name, target) in examples {
        let title = format!("Resized, {name}:");
        let _ = writeln!(page, "{title:<21} {HERE}{target}");
    }
    page.push_str(
        "\n`andon explain URL --root FOLDER` shows how a URL is processed; `andon reference` lists the operations.\n",
    );
    page
}

/// Returns the scheme and host for the URLs on the page, from the client's `Host`, or nothing if `Host` is missing or
/// not a valid host name. Nobody but this client gets the page with its `Host`.
fn base_url(host: Option<&str>) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte);
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(is_part) => format!("http://{host}"),
        _ => String::new(),
    }
}

/// Maximum number of images that are tried until a complete one is found.
const EXAMPLES: usize = 8;

const HERE: &str = "{here}";

/// The sentence about the page with all images.
const PRIVATE: &str = "Browsers on the same machine get a page with all images here; `andon serve FOLDER --share` shows it to everybody.\n";

/// Characters of a path that are escaped in URLs.
pub(super) const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
