"""The components of the binary: Rust crates as Cargo resolves them, and the C libraries that some of them contain."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib


class Library:
    """A C or C++ library inside a crate: its folder there, and the file that contains its version."""

    def __init__(self, crate, name, licence, homepage, folder, file, pattern):
        self.crate, self.name, self.licence, self.homepage = crate, name, licence, homepage
        self.folder, self.file, self.pattern = folder, file, pattern

    def version(self, package):
        path = pathlib.Path(package["manifest_path"]).parent / self.file
        # Several numbers are joined to one version.
        found = re.findall(self.pattern, path.read_text(errors="replace"), re.MULTILINE)
        if not found:
            sys.exit(f"release: the version of {self.name} is no longer said by {path}")
        return ".".join(found)


LIBRARIES = [
    Library("turbojpeg-sys", "libjpeg-turbo", "IJG AND BSD-3-Clause AND Zlib", "https://libjpeg-turbo.org/",
            "libjpeg-turbo", "libjpeg-turbo/CMakeLists.txt", r"^set\(VERSION ([\d.]+)\)"),
    Library("libwebp-sys", "libwebp", "BSD-3-Clause", "https://developers.google.com/speed/webp",
            "vendor", "vendor/src/enc/vp8i_enc.h", r"define ENC_(?:MAJ|MIN|REV)_VERSION (\d+)"),
    Library("libaom-sys", "libaom", "BSD-2-Clause", "https://aomedia.googlesource.com/aom/",
            "vendor", "vendor/CHANGELOG", r"\A[\d-]+ v([\d.]+)"),
    Library("jxl-sys", "libjxl", "BSD-3-Clause", "https://github.com/libjxl/libjxl",
            "libjxl", "libjxl/lib/CMakeLists.txt", r"^set\(JPEGXL_(?:MAJOR|MINOR|PATCH)_VERSION (\d+)\)"),
    Library("jxl-sys", "highway", "Apache-2.0 OR BSD-3-Clause", "https://github.com/google/highway",
            "libjxl/third_party/highway", "libjxl/third_party/highway/hwy/base.h",
            r"define HWY_(?:MAJOR|MINOR|PATCH) (\d+)"),
    Library("jxl-sys", "brotli", "MIT", "https://github.com/google/brotli",
            "libjxl/third_party/brotli", "libjxl/third_party/brotli/c/common/version.h",
            r"define BROTLI_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)"),
    # This library has no version numbers, so the commit is given.
    Library("jxl-sys", "skcms", "BSD-3-Clause", "https://skia.org/",
            "libjxl/third_party/skcms", "libjxl/deps.sh", r'^THIRD_PARTY_SKCMS="([0-9a-f]+)"'),
]


# The products: for each its crate, the crate's workspace, and the cargo features with which it is built.
PRODUCTS = {
    "andon": ("andon-cli", ".", ""),
    "andon-lab": ("andon-lab-cli", "lab", ""),
    "andon-heic": ("andon-worker", ".", "andon-worker/heic"),
    "andon-python": ("andon-python", ".", ""),
}


def read(target, product):
    """(the product's crate, all packages in it by id, ids that each needs directly) for a target such as
    x86_64-unknown-linux-gnu; packages bear the checksum of Cargo.lock."""
    crate, workspace, features = PRODUCTS[product]
    workspace = pathlib.Path(workspace)
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", target,
               "--manifest-path", workspace / "Cargo.toml", "--features", features]
    metadata = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    lock = tomllib.loads((workspace / "Cargo.lock").read_text())
    sums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in lock["package"]}
    root = next(package for package in metadata["packages"] if package["name"] == crate)
    needs, waiting = {}, [root["id"]]
    while waiting:
        package = waiting.pop()
        if package not in needs:
            needs[package] = sorted(linked(nodes[package], packages))
            waiting += needs[package]
    for package in needs:
        packages[package]["checksum"] = sums[packages[package]["name"], packages[package]["version"]]
    return root, {package: packages[package] for package in needs}, needs


def linked(node, packages):
    """Yields the crates that are linked into the product: no macros, and no crates that are needed only for building or testing."""
    for needed in node["deps"]:
        normal = any(kind["kind"] is None for kind in needed["dep_kinds"])
        macro = any("proc-macro" in target["kind"] for target in packages[needed["pkg"]]["targets"])
        if normal and not macro:
            yield needed["pkg"]


def libraries(packages):
    """Yields (library, its package) for all libraries in the packages."""
    for library in LIBRARIES:
        carriers = [package for package in packages.values() if package["name"] == library.crate]
        if not carriers:
            sys.exit(f"release: {library.crate} is no longer linked: {library.name} is to leave crates.py")
        yield from ((library, carrier) for carrier in carriers)
