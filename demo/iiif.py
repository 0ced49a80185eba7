#!/usr/bin/python3
"""Runs the public validator of the IIIF Image API 2.0 and 3.0, at level 2, against a server started for it.

Called by ./dev iiif, which installs the validator into an environment of its own. The image is the one that the validator
expects: squares in the colours of its table.
"""
import argparse, os, socket, subprocess, sys, tempfile, time
from pathlib import Path
from urllib.request import urlopen

from PIL import Image
from iiif_validator.validator import ImageAPI, TestSuite, ValidationInfo

IDENTIFIER = "67352ccc-d1b0-11e1-89ae-279075081939.png"
LEVEL = 2
# Number of tests at this level. Fewer tests mean that the validator's release is another one.
VERSIONS = {"2.0": ("iiif/2", 30), "3.0": ("iiif/3", 33)}
# Release 1.0.5 expects an error for `!2000,3000` of 1000x1000 px. The specification (section 4.2) requires the image at its own
# size, which is Andon's default and is covered by the dialect's tests.
CONFIG = '''
[[origin]]
prefix = "/"
fs.root = "."

[iiif]
prefix = "/iiif/3"
prefix2 = "/iiif/2"
larger_box = "error"
'''


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("andon")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as listener:
        draw(Path(folder, IDENTIFIER))
        listener.bind(("127.0.0.1", 0))
        server = "127.0.0.1:%d" % listener.getsockname()[1]
        listener.close()
        config = Path(folder, "andon.toml")
        config.write_text(CONFIG)
        command = [args.andon, "serve", "--config", str(config), "--listen", server]
        log = Path(folder, "log")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log.open("w"))
        try:
            if not answers(f"http://{server}/healthz", process):
                sys.exit("the server did not start:\n" + log.read_text())
            failed = [row for version in VERSIONS for row in validate(server, version)]
        finally:
            process.terminate()
            process.wait()
    for version, name, why in failed:
        print(f"{version} {name}: {why}")
    sys.exit(1 if failed else 0)


def draw(path):
    image = Image.new("RGB", (1000, 1000))
    for x, column in enumerate(ValidationInfo().colorInfo):
        for y, colour in enumerate(column):
            image.paste(colour, (100 * x, 100 * y, 100 * x + 100, 100 * y + 100))
    image.save(path)


def answers(url, process):
    """Waits up to half a minute until the URL answers. Returns whether it does."""
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()
            return True
        except OSError:
            time.sleep(0.1)
    return False


def validate(server, version):
    """Returns the failed tests, with the reasons."""
    prefix, expected = VERSIONS[version]
    known = TestSuite(ValidationInfo()).list_tests(version)
    names = [name for name, test in known.items() if test["level"] <= LEVEL]
    failed = []
    for name in names:
        api = ImageAPI(IDENTIFIER, server, prefix, "http", "", version, debug=False)
        try:
            # The validator's progress messages are discarded.
            with open(os.devnull, "w") as quiet:
                shown, sys.stdout = sys.stdout, quiet
                try:
                    TestSuite(ValidationInfo()).run_test(name, api)
                finally:
                    sys.stdout = shown
            why = api.exception and f"{api.exception} at {api.urls[-1:]}"
        except Exception as error:
            why = str(error)
        if why:
            failed.append((version, name, why))
    print(f"IIIF {version}, level {LEVEL}: {len(names) - len(failed)} of {len(names)} tests pass")
    if len(names) != expected:
        failed.append((version, "tests", f"{len(names)} in place of {expected}"))
    return failed


if __name__ == "__main__":
    main()
