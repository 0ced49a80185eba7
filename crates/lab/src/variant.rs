//! What is compared: the scenario's variants, or the cells of its matrix, each as one complete way to start the
//! server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scenario::Expect;

/// One way to start the server, complete: nothing needs to be looked up in `[server]` for its command and
/// environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: as given, or `engine=gd,jpeghint=n` for a cell of the matrix.
    pub name: String,
    /// Program and arguments, placeholders not yet replaced.
    pub cmd: Vec<String>,
    /// Environment beside `PATH` and inherited names; an empty value removes a name.
    pub env: BTreeMap<String, String>,
    /// Values for keys of TOML files and placeholders of others.
    pub set: BTreeMap<String, toml::Value>,
    /// Keys removed from TOML files.
    pub unset: Vec<String>,
    /// File of URLs that replaces the scenario's.
    pub urls: Option<String>,
    /// Name and bound of each witness, e.g. `threads_peak`, `<= 3`.
    pub witness: Vec<BTreeMap<String, String>>,
    /// How its replies must compare with the baseline's.
    pub expect: Expect,
}
