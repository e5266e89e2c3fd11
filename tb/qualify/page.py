# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: rates by file and kind, survivors, and the sources with marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tb.common.paths import ROOT
from tb.qualify.judge import EQUIVALENT, KILLED, SURVIVED
from tb.qualify.summary import Summary, rate
from tb.report.page import STATIC, environment

TEMPLATE = "page.html.j2"


@dataclass(frozen=True)
class Line:
    """A line of a source: its state, as of code coverage, and killed of judged faults."""

    number: int
    text: str
    state: str
    marks: str


def write_page(path: Path, seed: int, found: Summary) -> None:
    """Writes the page of a campaign."""
    text = (
        environment(Path(__file__).parent)
        .get_template(TEMPLATE)
        .render(
            style=(STATIC / "style.css").read_text(),
            script=(STATIC / "report.js").read_text(),
            seed=seed,
            **_data(found),
        )
    )
    path.write_text(text)


def _data(found: Summary) -> dict[str, Any]:
    texts = {
        mutant.file: (ROOT / mutant.file).read_text().splitlines()
        for mutant in found.mutants
        if (ROOT / mutant.file).is_file()
    }

    def text(file: str, line: int) -> str:
        lines = texts.get(file, [])
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""

    return {
        "name": found.engine,
        "rate": str(rate(found.verdicts.values())),
        "rest": found.drawn - len(found.mutants),
        "survivors": [(m, v.how, text(m.file, m.line)) for m, v in found.of(SURVIVED)],
        "files": found.rates(lambda mutant: mutant.file),
        "kinds": found.rates(lambda mutant: mutant.kind),
        "tests": Counter(verdict.test for _, verdict in found.of(KILLED)),
        "excused": found.of(EQUIVALENT),
        "sources": {file: _lines(found, file, texts[file]) for file in sorted(texts)},
    }


def _lines(found: Summary, file: str, texts: Sequence[str]) -> list[Line]:
    results: dict[int, list[str]] = {}
    for mutant in found.mutants:
        if mutant.file == file:
            results.setdefault(mutant.line, []).append(found.verdicts[mutant.name].result)
    lines = []
    for number, text in enumerate(texts, 1):
        here = results.get(number, [])
        killed, survived = here.count(KILLED), here.count(SURVIVED)
        state = "" if not killed + survived else "miss" if not killed else "hit"
        state = "part" if killed and survived else state
        lines.append(Line(number, text, state, f"{killed}/{killed + survived}" if state else ""))
    return lines
