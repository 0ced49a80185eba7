//! Imports the configuration of an nginx, including the files that it includes.

use anyhow::Context;

use super::{Format, Input, site, syntax, write};

pub(super) const FORMAT: Format = Format {
    name: "the configuration of an nginx (server { … })",
    is: |text| text.contains(['{', ';']),
    read,
};

fn read(input: &Input<'_>) -> anyhow::Result<String> {
    let directives = syntax::read(input.path)?;
    let site = site::read(&directives, input.server).with_context(|| input.name.to_owned())?;
    Ok(write::text(&site, input.name))
}
