//! The options that each dialect knows. The server's tests compare the tables in `options/` with them.

use crate::{cloudflare, imgix, imgproxy, small_light, weserv};

/// Returns one name for each option of a dialect. Empty if the dialect keeps no list of its options.
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
