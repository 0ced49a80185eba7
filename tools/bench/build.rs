//! Compiles the C shim (`peers.c`) around libvips, ImageMagick and GD, and links these libraries as Debian ships them.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=peers.c");
    println!("cargo::rerun-if-changed=peers.h");
    let mut shim = cc::Build::new();
    shim.file("peers.c").warnings(true).extra_warnings(true);
    // The shim must precede the libraries, because the linker drops shared libraries that nothing has referenced yet.
    let mut includes = Vec::new();
    let mut defines = Vec::new();
    let mut libraries = Vec::new();
    for name in ["vips", "MagickWand-6.Q16", "gdlib"] {
        let library = pkg_config::Config::new()
            .cargo_metadata(false)
            .probe(name)?;
        includes.extend(library.include_paths);
        defines.extend(library.defines);
        libraries.extend(library.libs);
    }
    for path in includes {
        // As system headers, so that the compiler does not report warnings in them.
        shim.flag("-isystem").flag(path.display().to_string());
    }
    for (name, value) in defines {
        shim.define(&name, value.as_deref());
    }
    shim.compile("andon_bench_peers");
    libraries.sort();
    libraries.dedup();
    for library in libraries {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    // Andon links its own libjpeg-turbo and libwebp. Without this option the peers' shared libraries would be bound to
    // those, and the comparison would measure the same code twice.
    println!("cargo::rustc-link-arg-bins=-Wl,--exclude-libs,ALL");
    Ok(())
}
