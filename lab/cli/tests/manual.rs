//! Tests `--help`, manual pages and completions.

use std::path::Path;

use crate::common::{LAB, manual};

#[test]
fn every_command_has_help_with_examples() {
    manual::every_command_has_help_with_examples(Path::new(LAB), &[]);
}

#[test]
fn every_command_has_a_manual_page_with_its_examples() {
    let folder = tempfile::tempdir().expect("a folder");
    manual::every_command_has_a_page(Path::new(LAB), folder.path(), &[]);
}

#[test]
fn completions_name_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    manual::completions_name_every_command(Path::new(LAB), folder.path(), &[]);
}
