# SPDX-License-Identifier: Apache-2.0
"""Records what a rewrite must not change, and compares it with a later state.

``python -m tests.house.baseline record FOLDER`` writes one JSON file per part, sorted, one entry a
line; ``compare FOLDER`` does the same in a temporary folder and prints the differences.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from hashlib import sha256
from io import StringIO
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sequences.draw.traffic import TrafficGenerator
from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.common.paths import ROOT
from tb.common.text import comma_list, counted
from tb.coverage.document import GM_BYTES
from tb.coverage.export.exchange import from_json
from tb.coverage.functional import FunctionalCoverage
from tb.coverage.stress import GROUPS
from tb.coverage.view import FORMS
from tb.explain.command import Options, explain_command
from tb.isa.profile import PROFILES, using
from tb.language.linked import Linked, linked_steps
from tb.language.printer import program_text, unprintable
from tb.record.record import RunRecord
from tb.run.testlist import load_plan
from tests.bugs.campaign import load_bugs, run_engines
from tests.conftest import warm_simulations
from tests.language.corpus import Case, cases, findings
from tests.sim.runs import run

Entries = dict[str, Any]
"""Name of an entry to its value, of JSON."""

SEED = 1
TRANSACTIONS = {"verilator": 2000, "icarus": 200}
"""Simulator to the transactions of a run whose length is not fixed."""

FEW_CORNERS = ("mte_l1_bt",)
"""Ops of test ``corner`` on Icarus, which takes minutes for all."""

EXPLAINED = 8
"""Ops explained of each form under each profile."""

LISTED = 16
"""Ranges of a memory that are kept in full; the others count by their digest."""

RUN_KEYS = {
    *("status", "transactions", "ops", "statuses", "bytes_checked", "full_compares", "mismatches"),
    *("protocol_errors", "agreed", "failures", "clocks", "left_out", "injected", "exercised"),
    *("outside", "explained"),
}
"""Keys of a run's record that neither a time nor a place changes."""

SHOWN = 20
"""Differences of a part that are printed."""

WIDTH = 100
"""Characters of a value that are printed."""


def flat(data: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the values of nested dictionaries by the path of their keys; a list is a value."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from flat(value, f"{name}/{key}" if name else key)
    else:
        yield name, data


def completed(record: RunRecord) -> RunRecord:
    """Returns the record of a run that was not interrupted.

    Raises:
        KeyboardInterrupt: it was.
    """
    if record.status == "interrupted":
        raise KeyboardInterrupt
    return record


def runs(_before: Entries) -> Entries:
    """Returns the counts, failures and hit bins of every test of the plan on both simulators."""
    found: Entries = {}
    with warm_simulations():
        for sim, transactions in TRANSACTIONS.items():
            for test in load_plan():
                ops = FEW_CORNERS if (sim, test) == ("icarus", "corner") else ()
                with tempfile.TemporaryDirectory() as name:
                    record = run(
                        test,
                        folder=Path(name),
                        fast_build=True,
                        sim=sim,
                        seed=SEED,
                        transactions=transactions,
                        ops=ops,
                    )
                    entry = completed(record).model_dump(mode="json", include=RUN_KEYS)
                    found[f"{sim}/{test}"] = entry | {"coverage": _hit(Path(name))}
    return dict(flat(found))


def _hit(folder: Path) -> Entries:
    path = folder / "coverage.json"
    if not path.is_file():
        return {}
    return {
        f"{group}/{name}": sorted(counts.group.label(name, int(at)) for at in np.flatnonzero(hits))
        for group, counts in from_json(json.loads(path.read_text())).groups.items()
        for name, hits in counts.hits.items()
        if hits.any()
    }


def bins(_before: Entries) -> Entries:
    """Returns every bin and cell of the coverage with the profiles in which it counts."""
    found: dict[str, list[str]] = {}
    for profile, knobs in PROFILES.items():
        with using(knobs):
            coverage = FunctionalCoverage(GM_BYTES, FORMS, illegal=True, stress=GROUPS)
        for group, counts in coverage.groups.items():
            for name in counts.hits:
                for at, counting in enumerate(counts.wanted(name)):
                    entry = found.setdefault(f"{group}/{name}/{counts.group.label(name, at)}", [])
                    entry += [profile] if counting else []
    return {name: ", ".join(profiles) or "never" for name, profiles in found.items()}


def examples() -> list[Case]:
    """Returns the example programs as cases of the corpus."""
    folder = ROOT / "examples/programs"
    return [
        Case(path, 1, str(path.relative_to(ROOT)), (), (), 0, 0, ("--foreign",), path.read_text())
        for path in sorted(folder.rglob("*.pto"))
    ]


def verify(_before: Entries) -> Entries:
    """Returns verdict and findings of corpus and examples, with lines that count from the case."""
    found: Entries = {}
    with tempfile.TemporaryDirectory() as name:
        for case in (*cases(), *examples()):
            reported = findings(replace(case, start=1), Path(name))
            wrong = any(one.severity == "error" for one in reported)
            texts = [str(one).replace(f"{name}/{case.path.name}:", "") for one in reported]
            found[case.name] = {"verdict": "refused" if wrong else "passed", "findings": texts}
    return dict(flat(found))


def explain(before: Entries) -> Entries:
    """Returns what ``explain --json`` writes of drawn ops of every form under both profiles.

    The ops are those of ``before`` if it has any: a later state may draw others.
    """
    suffix = "/program"
    programs = {
        name.removesuffix(suffix): "".join(f"{line}\n" for line in lines)
        for name, lines in before.items()
        if name.endswith(suffix)
    }
    found: Entries = {}
    for name, text in (programs or _drawn()).items():
        entry = _explained(text, name.partition("/")[0])
        found[name] = {"program": text.splitlines(), **(entry or {"error": "no op"})}
    return dict(flat(found))


def _drawn() -> dict[str, str]:
    """Returns programs of one op that can be explained, by profile, form and number."""
    found: dict[str, str] = {}
    for profile in PROFILES:
        for form in FORMS:
            readable = (
                x for x in _programs(form, profile) if "error" not in _explained(x, profile)
            )
            for number, text in enumerate(islice(readable, EXPLAINED)):
                found[f"{profile}/{form}/{number}"] = text
    return found


def _programs(form: str, profile: str) -> list[str]:
    with using(PROFILES[profile]):
        blocks = TrafficGenerator(SEED, (form,)).blocks(8 * EXPLAINED)
        ops = [tuple(x) for block in blocks for x in block.program()]
        return [
            program_text(linked_steps([Linked(x)])) for x in ops if not any(map(unprintable, x))
        ]


def _explained(text: str, profile: str) -> Entries:
    """Returns the document of the only op of a program, or the error."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "op.pto"
        path.write_text(text)
        try:
            with redirect_stdout(StringIO()) as output:
                explain_command(str(path), Options(profile=profile, json="-"))
        except PtoError as error:
            return {"error": str(error).replace(name, "")}
    entry: Entries
    (entry,) = json.loads(output.getvalue().replace(f"{name}/", ""))["ops"]
    for memory in entry["memories"].values():
        listed, rest = memory["ranges"][:LISTED], memory["ranges"][LISTED:]
        digest = sha256(json.dumps(rest).encode()).hexdigest()[:16]
        memory["ranges"] = [*listed, f"{len(rest)} more, digest {digest}"] if rest else listed
    return entry


def bugs(_before: Entries) -> Entries:
    """Returns for each injected bug the check that catches it."""
    found: Entries = {}
    every = sorted(load_bugs(), key=attrgetter("slots", "profile"))
    start = time.monotonic()
    with warm_simulations():
        for number, bug in enumerate(every, 1):
            outcome = run_engines(bug, bug.setting)
            status = completed(outcome.record).status
            found[bug.name] = outcome.check if outcome.caught else f"NOT CAUGHT ({status})"
            if number % 20 == 0:
                print(
                    f"bugs: {number} of {len(every)}, {time.monotonic() - start:.0f} s", flush=True
                )
    return found


PARTS: dict[str, Callable[[Entries], Entries]] = {
    "runs": runs,
    "bins": bins,
    "verify": verify,
    "explain": explain,
    "bugs": bugs,
}
"""Part to its function, which takes the recorded entries, none for the first record."""


def write_parts(folder: Path, before: Mapping[str, Entries]) -> dict[str, Entries]:
    """Writes the parts of ``before`` into a folder and returns them; prints a line for each."""
    found = {}
    for part, entries in before.items():
        start = time.monotonic()
        found[part] = PARTS[part](entries)
        lines = (f"{json.dumps(x)}: {json.dumps(y)}" for x, y in sorted(found[part].items()))
        write_bytes(folder / f"{part}.json", ("{\n" + ",\n".join(lines) + "\n}\n").encode())
        print(f"{part}: {len(found[part])} entries, {time.monotonic() - start:.0f} s", flush=True)
    return found


def record(folder: Path, parts: Sequence[str]) -> int:
    """Writes a new folder, which appears when all parts are done; returns the exit code.

    Raises:
        PtoError: there is something at the place, or no folder around it.
    """
    given, folder = folder, folder.absolute()
    taken = folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))
    if taken or not folder.parent.is_dir():
        raise PtoError(
            f"{folder} exists" if taken else f"there is no folder {folder.parent}",
            where="FOLDER",
            legal="a new or an empty folder in one that exists",
            remedy="name another, or remove this one" if taken else "make it first",
        )
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as name:
        new = Path(name) / "new"
        found = write_parts(new, {part: {} for part in parts})
        new.rename(folder)
    entries = sum(map(len, found.values()))
    print(f"{given}: {counted(len(parts), 'part')}, {entries} entries")
    command = f"python -m tests.house.baseline compare {given} --only {','.join(parts)}"
    print(f"next: change the project, then {command}")
    return 0


def read_part(folder: Path, part: str) -> Entries:
    """Returns the recorded entries of a part.

    Raises:
        PtoError: there are none, or the file is not one that this script wrote.
    """
    path = folder / f"{part}.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(entries, dict):
            return entries
        why = "not an object"
    except OSError as error:
        why = error.strerror or str(error)
    except ValueError as error:
        why = f"not JSON: {error}"
    there = [name for name in PARTS if (folder / f"{name}.json").is_file()]
    raise PtoError(
        f"cannot read the record of part {part}: {why}",
        where=str(path),
        legal=f"a folder that record wrote; parts in this one: {', '.join(there) or 'none'}",
        remedy="record it on the state before the change, or choose others with --only",
    )


def differences(before: Entries, after: Entries) -> list[str]:
    """Returns ``entry: before -> after`` of every entry that changed, came or went.

    Of two lists the elements that the other one lacks are shown.
    """
    found = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new and (name in before) == (name in after):
            continue
        if isinstance(old, list) and isinstance(new, list):
            only = [x for x in old if x not in new], [x for x in new if x not in old]
            old, new = only if any(only) else (old, new)  # else another order
        texts = [json.dumps(old) if name in before else "none"]
        texts.append(json.dumps(new) if name in after else "none")
        found.append(f"{name}: {' -> '.join(_cut(*texts))}")
    return found


def _cut(*texts: str) -> list[str]:
    """Returns the texts from shortly before the first character in which they differ."""
    same = next((k for k, x in enumerate(zip(*texts, strict=False)) if len({*x}) > 1), 0)
    start = max(0, same - WIDTH // 4) if max(map(len, texts)) > WIDTH else 0
    return [
        "..." * (start > 0) + text[start : start + WIDTH] + "..." * (len(text) > start + WIDTH)
        for text in texts
    ]


def compare(folder: Path, parts: Sequence[str]) -> int:
    """Prints the differences from the record in a folder; returns the exit code, 1 for any.

    Raises:
        PtoError: the folder has no record of a part.
    """
    before = {part: read_part(folder, part) for part in parts}
    later = Path(tempfile.mkdtemp(prefix="baseline-"))
    moved = 0
    try:
        for part, after in write_parts(later, before).items():
            changes = differences(before[part], after)
            moved += len(changes)
            for change in changes[:SHOWN]:
                print(f"{part}: {change}")
            if changes:
                shown = f", the first {SHOWN} above" if len(changes) > SHOWN else ""
                print(f"{part}: {counted(len(changes), 'difference')}{shown}")
    finally:
        if not moved:
            shutil.rmtree(later)
    if not moved:
        print(f"nothing moved: {', '.join(parts)}, {sum(map(len, before.values()))} entries")
        return 0
    print(f"{counted(moved, 'difference')}; all of them: diff {folder} {later}")
    print(f"next: explain each; to accept all, cp {later}/*.json {folder}")
    return 1


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise PtoError(
            message,
            where="the command line",
            legal="record or compare, FOLDER, and --bugs or --only PART,... after them",
            remedy="python -m tests.house.baseline --help has all options",
        )


def _parts(only: str, *, with_bugs: bool) -> list[str]:
    if not only:
        return [part for part in PARTS if with_bugs or part != "bugs"]
    chosen = comma_list(only, "--only", "--only", ", ".join(PARTS))
    for part in chosen:
        if part not in PARTS:
            raise PtoError(f"part {part!r} is unknown", where="--only", legal=", ".join(PARTS))
    return [part for part in PARTS if part in chosen]


def main(words: Sequence[str]) -> int:
    """Carries out the words of a command line; returns its exit code."""
    parser = _Parser(prog="python -m tests.house.baseline", description=__doc__)
    parser.add_argument("command", choices=["record", "compare"])
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--bugs", action="store_true", help="also the injected bugs")
    parser.add_argument(
        "--only", default="", help=f"parts: {', '.join(PARTS)}; default all but bugs"
    )
    try:
        given = parser.parse_args(words)
        parts = _parts(given.only, with_bugs=given.bugs)
        return (record if given.command == "record" else compare)(given.folder, parts)
    except PtoError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
