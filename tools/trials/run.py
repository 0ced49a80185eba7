#!/usr/bin/python3
"""Adds a trial of each kind to a copy of the repository, counts the other files that had to be changed for it, and uses it.

./dev trials. A format, a dialect, an operation and a step of a recipe each need a change in one other place: the list that contains
them. An option of a dialect is one row of the dialect's table, and a limit is one line of its format.
Any other change that a trial needs is a fault of the interface.
"""
import os, shutil, subprocess, sys, tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def copy(to):
    """Returns the files that git tracks, and the new ones."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


class Trial:
    def __init__(self, root, kind):
        self.root, self.kind, self.outside = root, kind, set()

    def own(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def after(self, name, line, new):
        """Inserts a line after a line that occurs once."""
        path = self.root / name
        text = path.read_text()
        if text.count(line) != 1:
            sys.exit(f"trials: {name} has `{line}` {text.count(line)} times")
        path.write_text(text.replace(line, f"{line}{new}"))
        self.outside.add(name)


def add(root):
    pnm = Trial(root, "format read and written")
    pnm.own("crates/codecs/src/pnm/mod.rs", (HERE / "pnm.rs").read_text())
    pnm.after("crates/codecs/src/lib.rs", "mod png;\n", "mod pnm;\n")
    pnm.after("crates/codecs/src/lib.rs", "    &png::Png,\n", "    &pnm::Pnm,\n")

    thumb = Trial(root, "dialect, served and translated")
    thumb.own("crates/dialects/src/thumb/mod.rs", (HERE / "thumb.rs").read_text())
    thumb.after("crates/dialects/src/lib.rs", "pub mod thumbor;\n", "pub mod thumb;\n")
    thumb.after("crates/dialects/src/lib.rs", "    iiif: IiifConfig,\n", "    /// A trial.\n    thumb: thumb::ThumbConfig,\n")

    mosaic = Trial(root, "operation")
    text = (root / "crates/pixels/src/ops/pixelate.rs").read_text()
    mosaic.own("crates/pixels/src/ops/mosaic.rs", text.replace("pixelate", "mosaic").replace("Pixelate", "Mosaic"))
    mosaic.after("crates/pixels/src/ops/mod.rs", "mod mask;\n", "mod mosaic;\n")
    mosaic.after("crates/pixels/src/ops/mod.rs", "    &pixelate::Pixelate,\n", "    &mosaic::Mosaic,\n")

    zoom = Trial(root, "step that changes the geometry")
    zoom.own("crates/recipe/src/steps/zoom.rs", (HERE / "zoom.rs").read_text())
    zoom.after("crates/recipe/src/steps.rs", "    shrink::Shrink,\n", "    zoom::Zoom,\n")

    option = Trial(root, "option of a dialect")
    option.after("crates/dialects/src/thumbor/table.rs", '    skipped("equalize", Flavour::Thumbor),\n',
                 '    row("tiles").help("A trial.").both(1..=1, |args| effect("mosaic", &[number(args.whole(0)? as f64)])),\n')

    limit = Trial(root, "limit of a format")
    path = root / "crates/codecs/src/pnm/mod.rs"
    path.write_text(path.read_text().replace(
        "        let kind = if planes", '        guard::at_most(andon_pixels::Bound::of_format(NAME, "side", "px"), frame.width.into(), 1000)?;\n'
        "        let kind = if planes"))
    return [pnm, thumb, mosaic, zoom, option, limit]


def main():
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    # The path is always the same, so that a second run compiles only what has changed.
    root = target / "trials/andon"
    shutil.rmtree(root, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        copy(root)
        trials = add(root)
        # Dependencies are compiled with the settings of the tests, so that both share them.
        subprocess.run(["cargo", "build", "--quiet", "--bin", "andon", "--features", sys.argv[1]], cwd=root, check=True,
                       env={**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0"})
        trial = Path(folder, "trial")
        shutil.copy(target / "debug/andon", trial)
        (target / "debug/andon").unlink()
        use(trial, Path(folder))
    failed = False
    for trial in trials:
        count = len(trial.outside)
        failed |= count > 1
        print(f"{trial.kind}: {count} place{'s' * (count != 1)} outside its own" + "".join(f"\n  {name}" for name in sorted(trial.outside)))
    sys.exit(failed)


def use(andon, folder):
    def run(*words, code=0):
        done = subprocess.run([andon, *map(str, words)], cwd=folder, capture_output=True, text=True)
        if done.returncode != code:
            sys.exit(f"trials: andon {' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    shutil.copy(ROOT / "samples/jpeg/420.jpg", folder / "a.jpg")
    # The format: an image is written, read again, and compared with a PNG of the same image.
    for recipe, name in (("fit:120x120,as:pnm", "a.pnm"), ("fit:120x120,as:png", "a.png")):
        run("convert", recipe, "a.jpg", "-o", name)
    run("convert", "as:png", "a.pnm", "-o", "b.png")
    shown = [Image.open(folder / name).convert("RGB") for name in ("a.pnm", "a.png", "b.png")]
    assert shown[0].size == shown[2].size and max(shown[0].size) == 120, [image.size for image in shown]
    assert shown[0].tobytes() == shown[1].tobytes() == shown[2].tobytes(), "other pixels"
    # Its limit is reported with the same words as all others.
    said = run("convert", "exact:2000x10,as:pnm", "a.jpg", "-o", "large.pnm", code=1)
    assert "pnm_side 2000 is over the limit of 1000 px" in said, said
    # The dialect: served, and translated in both directions.
    (folder / "andon.toml").write_text('[[origin]]\nfs.root = "."\n[thumb]\nprefix = "/thumb"\n')
    run("render", "/thumb/60/a.jpg", "--config", "andon.toml", "-o", "t.webp")
    made = Image.open(folder / "t.webp")
    assert made.format == "WEBP" and made.width == 60, (made.format, made.size)
    said = run("translate", "/r/fit:60x,as:webp/a.jpg", "--to", "thumb")
    assert "/thumb/60/a.jpg" in said, said
    said = run("translate", "/thumb/60/a.jpg", "--from", "thumb", "--to", "native")
    assert "/r/fit:60x,as:webp/a.jpg" in said, said
    # The operation, compared with the one that it resembles.
    for word in ("mosaic", "pixelate"):
        run("convert", f"fit:120x120,{word}:12,as:png", "a.jpg", "-o", f"{word}.png")
    alike = [Image.open(folder / f"{word}.png").tobytes() for word in ("mosaic", "pixelate")]
    assert alike[0] == alike[1] and alike[0] != Image.open(folder / "a.png").tobytes(), "mosaic"
    # The step, compared with the same operation in other words. Its declaration is also in the reference.
    for recipe, name in (("zoom:2,as:png", "zoom.png"), ("crop:50%x50%,exact:200%x200%,as:png", "cropped.png")):
        run("convert", recipe, "a.jpg", "-o", name)
    assert Image.open(folder / "zoom.png").tobytes() == Image.open(folder / "cropped.png").tobytes(), "zoom"
    assert "`zoom:FACTOR`" in run("reference", "--markdown"), "the reference"
    # The option: it is parsed, and listed among its dialect's options.
    (folder / "andon.toml").write_text('[[origin]]\nfs.root = "."\n[thumbor]\nprefix = "/thumbor"\n')
    for filters, name in (("tiles(12)", "tiles.png"), ("no_upscale()", "plain.png")):
        target = f"/thumbor/unsafe/120x120/filters:{filters}:format(png)/a.jpg"
        said = run("render", target, "--config", "andon.toml", "-o", name)
        assert "tiles" not in said, said
    assert Image.open(folder / "tiles.png").tobytes() != Image.open(folder / "plain.png").tobytes(), "tiles"


if __name__ == "__main__":
    main()
