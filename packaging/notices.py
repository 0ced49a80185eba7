"""notices.py TARGET PRODUCT: the licences of everything foreign in a product (crates.py), each text once, to
standard output: of libraries, and of data in Andon's own crates, such as fonts and models."""

import pathlib
import sys

import crates

NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def texts(folder):
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(NAMES):
            yield path.read_text(errors="replace").strip()


def data(packages):
    """Yields (name, folder) of data with licences of their own. Crates that are linked only with other cargo features are included."""
    linked = {pathlib.Path(package["manifest_path"]).parent for package in packages.values()}
    for path in sorted(pathlib.Path("crates").rglob("LICENSE")):
        is_linked = any(folder in path.resolve().parents for folder in linked)
        note = "" if is_linked else ", only in builds with the cargo feature that links it"
        yield f"data in {path.parent}{note}", path.parent


def main(target, product):
    _, packages, _ = crates.read(target, product)
    owners = {}
    without = []
    found = [
        (f"{package['name']} {package['version']} ({package['license']})", pathlib.Path(package["manifest_path"]).parent)
        for package in packages.values() if package["source"]
    ] + [
        (f"{library.name} {library.version(carrier)} ({library.licence})",
         pathlib.Path(carrier["manifest_path"]).parent / library.folder)
        for library, carrier in crates.libraries(packages)
    ] + list(data(packages))
    for name, folder in sorted(found):
        licences = list(texts(folder))
        if not licences:
            without.append(name)
        for text in licences:
            owners.setdefault(text, []).append(name)
    print("Andon is linked with these libraries and contains these data. Their licences follow, each text once.\n")
    for text, names in sorted(owners.items(), key=lambda entry: entry[1]):
        print("=" * 100, *names, sep="\n")
        print("-" * 100, text, "", sep="\n")
    print("=" * 100, "Licensed as they say, without a text of their own:", *without, sep="\n")


main(*sys.argv[1:])
