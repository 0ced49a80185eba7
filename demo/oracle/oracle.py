#!/usr/bin/python3
"""Compares what Chromium and Firefox show of source images with what they show of Andon's results.

./dev browser [-k WORD] [--browser NAME] [-o FOLDER]. Each browser opens a page of this program, which draws every file and sends
the pixels back. The page requests results with the browser's own Accept header. Exit status 1: something differs.
"""
import argparse, json, re, subprocess, sys, tempfile
from pathlib import Path

import browsers, cases, sources
from report import Report
from session import Session
from targets import CONFIGURATION, targets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("andon")
    parser.add_argument("-k", default="", metavar="PATTERN", help="only URLs in which this regular expression is found")
    parser.add_argument("--browser", choices=browsers.BROWSERS, action="append", help="only this one")
    parser.add_argument("-o", "--output", type=Path, help="keep what differs in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        images = Path(folder, "images")
        images.mkdir()
        files = sources.all_sources(images) + cases.copied(images)
        requests = [target for source in files for target in targets(source) if re.search(args.k, target.url)]
        config = Path(folder, "andon.toml")
        config.write_text(CONFIGURATION.format(folder=json.dumps(str(images))))
        andon = subprocess.Popen([args.andon, "serve", "--config", config, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://([\d.]+:\d+)", andon.stdout.readline())[1]
            report = Report(args.output, all_asked=not args.k and not args.browser)
            for name in args.browser or browsers.BROWSERS:
                session = Session(name, address, images, files, requests, report)
                session.run(Path(folder, name))
        finally:
            andon.terminate()
            andon.wait()
    sys.exit(report.finish())


main()
