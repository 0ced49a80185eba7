"""The results: a line for each difference, and tables."""
import re, threading
from collections import defaultdict
from pathlib import Path

from judge import Frame, compare

EXPLAINED = Path(__file__).with_name("explained.txt")


class Explanation:
    """One line of explained.txt: a browser, a pattern of requests, and the differences that it explains."""
    def __init__(self, line):
        self.line = line
        browser, pattern, mean, worst = line.split()
        self.browser, self.pattern, self.mean, self.worst = browser, re.compile(pattern), float(mean), float(worst)
        self.met = False

    def covers(self, browser, request, verdict):
        fits = self.browser in (browser, "both") and self.pattern.search(request)
        covered = bool(fits) and verdict.mean <= self.mean and verdict.worst <= self.worst
        self.met |= covered
        return covered


class Report:
    def __init__(self, folder, all_asked):
        self.folder, self.all_asked = folder, all_asked
        self.lock = threading.Lock()
        # By kind of source and browser: whether it is drawn, and whether its orientation is applied.
        self.facts = defaultdict(lambda: defaultdict(set))
        # By browser, decoder, and format of the result: number of pairs, explained and different ones, the largest mean and the worst cell.
        self.rows = defaultdict(lambda: [0, 0, 0, 0.0, 0.0])
        lines = (line.split("#")[0].strip() for line in EXPLAINED.read_text().splitlines())
        self.explained = [Explanation(line) for line in lines if line]

    def source(self, browser, source, frames):
        kind, fact = source.name.split(".", 1)[1], "drawn" if frames else "not drawn"
        if frames and source.turn > 1:
            shown = [name for name, image in (("turned", source.upright), ("not turned", source.stored))
                     if not compare([Frame(image)], frames, "jpeg").why]
            fact = " and ".join(shown) or "WRONG"
        elif source.turn == 1 or source.kind in ("case", "colours"):
            return
        with self.lock:
            self.facts[kind][browser].add(fact)

    def result(self, browser, by, target, form, verdict, reference, frames, body):
        with self.lock:
            row = self.rows[browser, by, form]
            row[0] += 1
            # All explanations are checked, not only the first that fits, so that each knows whether it is used.
            if verdict.why and any([each.covers(browser, f"{target.url} {target.kind} {form}", verdict) for each in self.explained]):
                row[1] += 1
                return
            row[3], row[4] = max(row[3], verdict.mean), max(row[4], verdict.worst)
            if not verdict.why:
                return
            row[2] += 1
            print(f"{browser}: {target.url} ({form}, {by}): {verdict.why}", flush=True)
            if self.folder:
                self.keep(f"{sum(each[2] for each in self.rows.values()):04}-{browser}-{target.source.name}", form, reference, frames, body)

    def keep(self, name, form, reference, frames, body):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{name}.{form.split(';')[0]}").write_bytes(body)
        for side, images in (("source", reference), ("result", frames)):
            for number, frame in enumerate(images):
                frame.image.save(self.folder / f"{name}-{side}{number}.png")

    def finish(self):
        names = sorted({browser for browser, _, _ in self.rows})
        print(f"\n| source | {' | '.join(names)} |\n{'|---' * (len(names) + 1)}|")
        for kind, browsers in sorted(self.facts.items()):
            print(f"| {kind} | " + " | ".join(", ".join(sorted(browsers[name])) for name in names) + " |")
        print("\n| browser | judged by | result | pairs | explained | differ | mean | worst cell |\n|---|---|---|---|---|---|---|---|")
        for (browser, by, form), (pairs, explained, differ, mean, worst) in sorted(self.rows.items()):
            print(f"| {browser} | {by} | {form} | {pairs} | {explained} | {differ} | {mean:.1f} | {worst:.0f} |")
        pairs, explained, differ = (sum(row[at] for row in self.rows.values()) for at in range(3))
        print(f"\n{pairs} pairs, of which {differ} differ, and {explained} as {EXPLAINED.name} says")
        idle = [each.line for each in self.explained if not each.met] if self.all_asked else []
        for line in idle:
            print(f"explained, and not met: {line}")
        return 1 if differ or idle else 0
