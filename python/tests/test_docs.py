"""The examples of docs/python.md run, in their order."""

import re

from conftest import SAMPLES

DOCS = SAMPLES.parent / "docs/python.md"


def test_the_examples_of_the_documentation_run(tmp_path, monkeypatch, capsys):
    (tmp_path / "photo.jpg").write_bytes((SAMPLES / "photos/otter.jpg").read_bytes())
    (tmp_path / "logo.png").write_bytes((SAMPLES / "icons/lamp.png").read_bytes())
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(examples) > 5
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, str(DOCS), "exec"), names)
    said = capsys.readouterr().out
    promised = re.findall(r"print\(.*\) +# ([^…\n]+)$", DOCS.read_text(), re.MULTILINE)
    assert len(promised) > 1
    for line in promised:
        assert line in said
