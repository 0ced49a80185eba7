"""notices.py TARGET: the licences of everything that the binary is linked with, each text once, to standard output."""

import pathlib
import sys

import crates

NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")


def texts(folder):
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(NAMES):
            yield path.read_text(errors="replace").strip()


def main(target):
    root, packages, _ = crates.read(target)
    owners = {}
    without = []
    found = [
        (f"{package['name']} {package['version']} ({package['license']})", pathlib.Path(package["manifest_path"]).parent)
        for package in packages.values() if package["source"]
    ] + [
        (f"{library.name} {library.version(carrier)} ({library.licence})",
         pathlib.Path(carrier["manifest_path"]).parent / library.folder)
        for library, carrier in crates.libraries(packages)
    ]
    for name, folder in sorted(found):
        licences = list(texts(folder))
        if not licences:
            without.append(name)
        for text in licences:
            owners.setdefault(text, []).append(name)
    print("Andon is linked with these libraries. Their licences follow, each text once.\n")
    for text, names in sorted(owners.items(), key=lambda entry: entry[1]):
        print("=" * 100, *names, sep="\n")
        print("-" * 100, text, "", sep="\n")
    print("=" * 100, "Licensed as they say, without a text of their own:", *without, sep="\n")


main(*sys.argv[1:])
