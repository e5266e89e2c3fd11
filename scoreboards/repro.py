# SPDX-License-Identifier: Apache-2.0
"""Writes programs that replay a transaction, with the memory contents that they need.

A folder below ``repro/`` of the run holds ``failing.pto``, the transaction with those of its block
that it depends on (``transaction.pto`` of one that did not fail), ``batch.pto``, the whole block
with its links and gaps, a setup file beside each, ``memory.bin`` with the bytes that both find, and
``README.txt``. The memory contents are those from before the block (:mod:`scoreboards.before`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoreboards.before import Before
from scoreboards.repro_ops import Item, items_of, linked, needed
from scoreboards.repro_ranges import Ranges, Section, ranges_of, read_sections, sections_in
from scoreboards.repro_text import MEMORY, readme_text, replay_command, setup_text
from tb.common.errors import PtoError
from tb.common.files import write_bytes
from tb.common.paths import RESULT_ENV
from tb.harness.items import Batch
from tb.harness.layout import KNOBS
from tb.isa.program import moving
from tb.isa.text import op_name, to_text
from tb.language.linked import linked_steps
from tb.language.printer import program_text, unprintable

FOLDER = "repro"
"""Folder of a run that these folders are in."""

MOST = 3
"""Failing transactions of a run that are written down."""

STALL_SEED = "seed"
"""Knob with the seed of the stalls."""

Chosen = dict[int, tuple[int, ...]]
"""Transactions of a block to print, each with those that it waits for in addition to its links."""


class Repro:
    """Writes the folders of a run.

    Args:
        run: The run (:class:`tb.env.context.RunContext`).
        mailbox: The mailbox, for knobs.

    Attributes:
        before: State before the block, recorded by the scoreboard.
        folder: Their folder below the folder of the run; None where there is none.
        wanted: Numbers of transactions to write down, whether they fail or not.
    """

    def __init__(self, run: Any, mailbox: Any) -> None:
        self.before = Before()
        self.wanted = {int(number) for number in run.settings.repro.split(",") if number}
        self._run = run
        self._mailbox = mailbox
        result = os.environ.get(RESULT_ENV, "")
        self.folder = Path(result).with_name(FOLDER) if result else None
        self._written: dict[int, str] = {}
        self._failed = 0

    def failed(self, batch: Batch, index: int, why: str, history: Sequence[str] = ()) -> str:
        """Writes programs for an op that failed, up to a limit per run.

        Args:
            batch: The block that :attr:`before` belongs to, or one before it, in which case its
                memory is no longer known and the programs have a note.
            index: Place of the op in the block.
            why: What was found.
            history: Events before the op that the programs do not replay, a sentence each.

        Returns:
            The command that replays it; empty when there is none.
        """
        if batch.first + index not in self._written:
            if self._failed >= MOST or self.folder is None:
                return ""
            self._failed += 1
        return self.write(batch, index, why, history)

    def write_wanted(self, batch: Batch) -> None:
        """Writes programs for the transactions of the block in :attr:`wanted`."""
        for number in sorted(self.wanted):
            if batch.first <= number < batch.first + len(batch.block):
                self.write(batch, number - batch.first, "")

    def close(self) -> None:
        """Notes the transactions of :attr:`wanted` that were not sent."""
        for number in sorted(self.wanted - self._written.keys()):
            self._run.notes.append(f"REPRO: the run has no transaction {number}")

    def write(self, batch: Batch, index: int, why: str, history: Sequence[str] = ()) -> str:
        """Writes programs for an op, once; arguments and result as of :meth:`failed`."""
        number = batch.first + index
        if number not in self._written and self.folder is not None:
            try:
                self._written[number] = self._write(self.folder, batch, index, why, history)
            except PtoError as error:
                self._run.notes.append(f"transaction {number} is not written down: {error}")
                self._written[number] = ""
        return self._written.get(number, "")

    def _write(self, top: Path, batch: Batch, index: int, why: str, history: Sequence[str]) -> str:
        number, block = batch.first + index, batch.block
        items = items_of(block)
        chosen: dict[str, Chosen] = {
            ("failing" if why else "transaction"): needed(items, index),
            "batch": dict.fromkeys(range(len(items)), ()),
        }
        if unprintable(moving(items[index].ops)):
            del chosen[next(iter(chosen))]
        folder = top / f"{number}-{op_name(moving(items[index].ops))}"
        ranges = {name: _ranges(items, which) for name, which in chosen.items()}
        with self.before.rewound() as (golden, _):
            sections, data = read_sections(golden, ranges["batch"])
        write_bytes(folder / MEMORY, data)
        title = f"Transaction {number} of {self._run.command}"
        notes = [] if batch.reset is None else ["The reset that cut the block off is not replayed."]
        notes += [f"Not replayed, {sentence}." for sentence in history]
        if batch.number != self.before.number:
            title += f"\n{_LATE}"
            notes.append(_LATE)
        commands: dict[str, str] = {}
        for name, which in chosen.items():
            ops, left_out = linked(block, items, which, self.before.registers, batch.first)
            notes += [sentence for sentence in left_out if sentence not in notes]
            path = folder / f"{name}.pto"
            text = program_text(linked_steps(ops), function=name, header=title)
            write_bytes(path, text.encode())
            setup = self._setup(title, sections_in(sections, ranges[name]), batch, items, which)
            write_bytes(path.with_suffix(".toml"), setup.encode())
            what = _BLOCK if name == "batch" else _ALONE
            commands[replay_command(self._run.settings, path)] = what
        write_bytes(
            folder / "README.txt",
            readme_text(
                title=f"Transaction {number}: {to_text(moving(items[index].ops))}",
                why=why,
                programs=commands,
                notes=notes,
                repeat=self._run.command,
            ).encode(),
        )
        return next(iter(commands))

    def _setup(
        self,
        title: str,
        loads: list[Section],
        batch: Batch,
        items: list[Item],
        which: Chosen,
    ) -> str:
        knobs = {name: self._mailbox.knob(name) for name in KNOBS}
        return setup_text(
            header=title,
            loads=loads,
            stall_seed=knobs.pop(STALL_SEED),
            knobs=knobs,
            faults=batch.faults,
            seed=self._run.settings.seed,
            unit_flags=np.packbits(self.before.flags, bitorder="little").tobytes().hex(),
            illegal=any(items[index].illegal for index in which),
        )


_ALONE = "The transaction, and those of its block that it depends on"
_LATE = (
    "It was found later than in its block: memories, registers, unit flags and knobs are those "
    "before a later one, and what fails here need not be what failed there."
)
_BLOCK = "Its block as a whole, with links, gaps, stalls and errors"


def _ranges(items: list[Item], which: Chosen) -> Ranges:
    return ranges_of(region for index in which for region in items[index].touches)
