//! Compiles the JPEG shim against the headers of the libjpeg-turbo that `turbojpeg-sys` has built.

fn main() {
    const SHIM: &str = "src/jpeg/turbo/shim.c";
    println!("cargo::rerun-if-changed={SHIM}");
    println!("cargo::rerun-if-env-changed=DEP_TURBOJPEG_INCLUDE");

    let mut build = cc::Build::new();
    // Absent when the library is the system's own: then its headers are on the default path.
    let include = std::env::var("DEP_TURBOJPEG_INCLUDE").unwrap_or_default();
    build.includes(include.split(',').filter(|path| !path.is_empty()));
    build
        .file(SHIM)
        .std("c99")
        .warnings(true)
        .extra_warnings(true)
        .compile("andon_jpeg_shim");
}
