//! Which options each language knows: what the tables in `options/` are held against.

use crate::{cloudflare, imgix, imgproxy, small_light, weserv};

/// The options that a language reads, each by one name; none where the language keeps no list of them.
#[must_use]
pub fn options(language: &str) -> Vec<String> {
    match language {
        "imgproxy" => imgproxy::option_names(),
        "small_light" => owned(small_light::PARAMETERS.iter().map(|one| one.name)),
        "cloudflare" => owned(cloudflare::options()),
        "weserv" => owned(weserv::options()),
        "imgix" => owned(imgix::options()),
        _ => Vec::new(),
    }
}

fn owned<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}
