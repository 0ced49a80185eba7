#!/usr/bin/python3
"""Checks Andon's protocols with programs of other projects.

./dev protocols [PART...]. Each part starts its own servers on loopback. It fails if a program has a finding that exceptions.txt
does not explain, or if an explained finding no longer occurs.
"""
import argparse, sys, tempfile
from pathlib import Path

import caches, collector, http2, metrics, nginx, tls, traces
from found import Findings

PARTS = {"http2": http2.check, "tls": tls.check, "metrics": metrics.check, "traces": traces.check,
         "collector": collector.check, "nginx": nginx.check, "caches": caches.check}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--andon", type=Path, required=True, help="the binary")
    parser.add_argument("--h2spec", type=Path, required=True, help="the program")
    parser.add_argument("--caddy", type=Path, required=True, help="the program, with its cache")
    parser.add_argument("--collector", type=Path, required=True, help="the program")
    parser.add_argument("part", nargs="*", help=", ".join(PARTS) + " [default: all]")
    args = parser.parse_args()
    unknown = [part for part in args.part if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {unknown[0]} ({', '.join(PARTS)})")
    findings = Findings.explained_in(Path(__file__).with_name("exceptions.txt"))
    for part in args.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            findings.judge(part, PARTS[part](args, Path(folder)))
    sys.exit(findings.unexplained)


if __name__ == "__main__":
    main()
