//! Sets linker options that make the binary smaller.
//!
//! - Packed relocations, which the loader applies at start-up: 1.7 MB become a few kilobytes.
//! - Identical code folding: only one copy remains of functions that compile to the same instructions, which saves 0.7
//!   MB.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is_gnu
        && env::var("HOST") == env::var("TARGET")
        && glibc().is_some_and(|it| it >= READS_PACKED)
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if is_gnu && is("CARGO_CFG_TARGET_ARCH", "x86_64") && links_with_lld() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Whether the linker is the compiler's own LLD, which supports code folding. It is the default for this target since
/// Rust 1.90, unless flags or the configuration select another linker.
fn links_with_lld() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let another = flags.contains("linker") || flags.contains("fuse-ld");
    let configured = env::var_os("RUSTC_LINKER").is_some();
    !another && !configured && rust_version().is_some_and(|it| it >= (1, 90))
}

/// Returns the compiler's major and minor version, from a line such as `rustc 1.95.0 (59807616e 2026-04-14)`.
fn rust_version() -> Option<(u32, u32)> {
    let rustc = env::var_os("RUSTC")?;
    let output = Command::new(rustc).arg("--version").output().ok()?;
    let output = String::from_utf8(output.stdout).ok()?;
    let mut parts = output.strip_prefix("rustc ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The first version of glibc whose loader supports packed relocations.
const READS_PACKED: (u32, u32) = (2, 36);

/// Returns the version of this machine's glibc, from a line such as `glibc 2.36`.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let output = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = output.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
