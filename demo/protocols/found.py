"""Findings of programs, and those that are explained."""


class Findings:
    def __init__(self, explained):
        self.explained = explained
        self.unexplained = 0

    @classmethod
    def explained_in(cls, file):
        """Reads a file with one finding per line: program, name of the finding, `always` or `sometimes`, and why it is no fault of Andon."""
        lines = [line.split(None, 3) for line in file.read_text().splitlines() if line and not line.startswith("#")]
        return cls({(program, name): when for program, name, when, _ in lines})

    def judge(self, part, reports):
        """Judges `reports`, which are triples: program, number of its checks, and its findings as name → text."""
        for program, checks, found in reports:
            assert checks, f"{program} checked nothing"
            expected = {name: when for (about, name), when in self.explained.items() if about == program}
            for name, text in found.items():
                if name in expected:
                    print(f"explained  {program} {name}: {text}")
                else:
                    self.fail(f"{program} {name}: {text}")
            for name, when in expected.items():
                if when == "always" and name not in found:
                    self.fail(f"{program} {name}: is not found any more; take it out of exceptions.txt")
            print(f"{part}: {program} made {checks} checks, {len(found)} findings")

    def fail(self, text):
        self.unexplained += 1
        print(f"FAILED     {text}")
