# SPDX-License-Identifier: Apache-2.0
"""The pyuvm test that replays programs, run by ``make program`` and ``pto-dv program``."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pyuvm

from scoreboards.faults import fault_of
from scoreboards.model.mad import product
from sequences.replay import Round, not_issued, schedule
from sequences.uvm import BlockItem
from tb.common.errors import PtoError
from tb.common.paths import RESULT_ENV
from tb.dut.limits import capability_filters
from tb.env.base_test import PtoTestBase
from tb.harness.knobs import PROFILES, KnobProfile
from tb.isa.block import OpBlock
from tb.isa.fix.op import FixOp
from tb.isa.footprint import flag_blocks as fix_blocks
from tb.isa.mad import CHECK_AND_SET, flag_blocks
from tb.isa.op import replace
from tb.isa.ops import OPS_BY_CODE
from tb.isa.spaces import Space, located
from tb.language.order.flags import own_blocks
from tb.language.order.order import Order
from tb.language.place import refuse
from tb.language.trace import Compute, Trace
from tb.programs.comparison import Comparison
from tb.programs.job import Check, Dump, ProgramJob, read_programs, set_flags
from tb.programs.schedules import Basis, Schedule
from tb.record.settings import RunSettings

HOST_ALONE = "no data movement: results of the host alone, no byte of an engine compared"
"""Caveat of a run whose programs have products and nothing for an engine."""


def space_named(name: str) -> Space:
    """Returns a memory by its name in small letters."""
    return Space[name.upper()]


@pyuvm.test()
class ProgramTest(PtoTestBase):
    """Replays programs, which are in the folder of the run (:func:`read_programs`).

    Attributes:
        staged: Title of a program to the program.
        job: The current program.
        schedule: The schedule of the current replay, if there are several.
        host_ops: Ops computed by the host so far, by name.
    """

    fixed_length = True
    job: ProgramJob | None = None
    schedule: Schedule | None = None

    def build_phase(self) -> None:
        """Reads the programs first."""
        folder = Path(os.environ[RESULT_ENV]).parent
        self.staged = {one.job.title: one for one in read_programs(folder)}
        self.host_ops: Counter[str] = Counter()
        super().build_phase()

    def sends_illegal_ops(self, settings: RunSettings) -> bool:  # noqa: ARG002 (of the base)
        """Illegal ops are part of the coverage where a program may send them."""
        return any(one.job.illegal == "send" for one in self.staged.values())

    def prepare_memory(self) -> None:
        """Does not fill GM: programs have buffers anywhere in it."""

    @property
    def stall_seed(self) -> int:
        """The seed of the schedule or of the program, if it has one."""
        if self.schedule is not None:
            return self.schedule.stall_seed
        return (self.job.stall_seed if self.job else 0) or super().stall_seed

    async def stimulate(self) -> None:
        """Replays the programs, each on fresh memories.

        One that cannot be replayed does not stop the others; the run is not a pass.

        Raises:
            PtoError: that of the first such program, after the last program.
        """
        errors: list[PtoError] = []
        for job in (one.job for one in self.staged.values()):
            if self.run.aborted:
                return
            self.job = job
            try:
                if job.schedules:
                    await self.replay_schedules(job)
                else:
                    await self.replay(job)
            except PtoError as error:
                errors.append(error)
        if errors:
            raise errors[0]
        if self.host_ops and not self.run.counts.transactions:
            self.run.counts.caveat = HOST_ALONE

    def program(self, job: ProgramJob) -> tuple[Trace, Order]:
        """Returns the trace of a program, and an order of its ops."""
        one = self.staged[job.title]
        return one.trace, one.order

    async def replay(self, job: ProgramJob) -> None:
        """Replays one program and checks the resulting memories."""
        with self.run.stopwatch.phase("generate"):
            trace, order = self.program(job)
            rounds = schedule(trace, order, illegal=job.illegal)
            self.require_served(rounds)
            self.note_not_issued(trace)
        ideal = PROFILES[0].knobs
        await self.replay_rounds(job, rounds, KnobProfile("program", {**ideal, **job.knobs}))

    def note_not_issued(self, trace: Trace) -> None:
        """Adds the ops that end before they are issued to the notes of the run."""
        self.run.notes += [
            f"{found.place}: {found.op} breaks {found.rule}, {found.message}"
            for found in not_issued(trace)
        ]

    async def replay_schedules(self, job: ProgramJob) -> None:
        """Replays one program under its schedules, and compares the images that they leave."""
        with self.run.stopwatch.phase("generate"):
            trace, order = self.program(job)
            comparison = Comparison(job, trace, order, self.run)
            self.note_not_issued(trace)
        basis = Basis(job.seed or self.run.settings.seed, self.stall_seed, job.knobs)
        before = self.wrong()
        for number in job.schedules:
            drawn = basis.schedule(number)
            with self.run.stopwatch.phase("generate"):
                rounds = comparison.rounds(drawn)
                self.require_served(rounds)
            self.schedule = drawn
            start = int(self.run.mailbox.cycles)
            try:
                await self.replay_rounds(job, rounds, drawn.profile)
            finally:
                self.schedule = None
            if self.run.aborted:
                return
            with self.run.stopwatch.phase("compare"):
                comparison.take(drawn, int(self.run.mailbox.cycles) - start)
        if self.wrong() == before:
            self.run.counts.exercised[job.title] += len(job.schedules)

    async def replay_rounds(
        self, job: ProgramJob, rounds: list[Round], profile: KnobProfile
    ) -> None:
        """Replays one program on fresh memories and checks the resulting memories."""
        self.restart(job, profile)
        if not job.unit_flags and any(one.op.unit_flag for each in rounds for one in each.compute):
            self.set_unit_flags("")
        rounds = without_delays(rounds)
        before = self.wrong()
        faults = tuple(map(fault_of, job.faults))
        for item in rounds:
            if self.run.aborted:
                return
            for step in item.compute:
                self.compute(step)
            if len(item.block):
                await self.send_items([BlockItem(item.block, faults=faults)])
        if self.run.aborted:
            return
        self.env.scoreboard.compare_everything()
        agree = self.wrong() == before
        for check in job.checks:
            self.check(job, check, agree=agree)
        for dump in job.dumps:
            self.dump(dump)
        if self.schedule is None and self.wrong() == before:
            self.run.counts.exercised[job.title] += 1

    def restart(self, job: ProgramJob, profile: KnobProfile) -> None:
        """Compares the memories so far, then loads the initial contents of the program."""
        scoreboard, memory = self.env.scoreboard, self.run.memory
        scoreboard.compare_everything()
        memory.set_background_seed(job.seed or self.run.settings.seed)
        for name, byte in job.backgrounds.items():
            memory.set_background(space_named(name), byte)
        scoreboard.expected.restart()
        if job.unit_flags:
            self.set_unit_flags(job.unit_flags)
        for load in job.loads:
            scoreboard.poke(space_named(load.space), load.address, load.data)
        self.apply_profile(profile)

    def set_unit_flags(self, text: str) -> None:
        """Sets the unit flags of both sides, as ``unit_flags`` of a job; clears all without it."""
        for flags in (self.run.memory.unit_flags, self.env.scoreboard.expected.golden.unit_flags):
            flags[:] = 0
            flags[sorted(set_flags(text))] = 1

    def compute(self, step: Compute) -> None:
        """Computes a product on the host: of the memories under test, and of the golden ones.

        So a wrong load shows in the product. Unit flags follow the clause of the op.
        """
        golden, memory, op = self.env.scoreboard.expected.golden, self.run.memory, step.op
        under_test = {space: memory.view(space) for space in (Space.L0, Space.L0C, Space.BT)}
        if op.unit_flag:
            blocks = flag_blocks(op)
            for flags in (golden.unit_flags, memory.unit_flags):
                held = [block for block in blocks if flags[block]]
                if held:
                    message = (
                        f"deadlock: it waits for the unit flag of L0C block {held[0]} to be "
                        "clear, and no write-back before it clears the flag"
                    )
                    raise refuse(step.place, message, op=f"pto.{step.name}")
                flags[blocks] = int(op.unit_flag == CHECK_AND_SET)
        for memories in (golden, under_test):
            rows = product(op, memories)
            if rows is not None:
                rows.put(memories[Space.L0C])
        self.host_ops[step.name] += 1

    def require_served(self, rounds: list[Round]) -> None:
        """Raises PtoError when no engine takes an op: a program is sent whole or not at all."""
        filters = capability_filters(self.limits.capabilities)
        for item in rounds:
            block = item.block
            for at, slot in enumerate(block.slot.tolist()):
                name = OPS_BY_CODE[int(block.opcode[at])].name
                if slot not in self.env.agents or name not in self.run.config.dut_ops:
                    raise PtoError(f"no engine executes {name}", where=str(block.places[at]))
            for op_filter in filters:
                for at in np.flatnonzero(~op_filter(block)).tolist() if len(block) else ():
                    raise PtoError(
                        f"the engine does not take this op: {op_filter.reason}",
                        where=str(block.places[at]),
                    )

    def wrong(self) -> int:
        """Returns how many failures there were so far."""
        return self.run.counts.mismatches + self.run.counts.protocol_errors

    def bytes_of(self, part: Check | Dump) -> bytes:
        """Returns bytes of a memory under test."""
        space = space_named(part.space)
        self.run.memory.ensure(space, part.address, part.length)
        view = self.run.memory.view(space)
        found: bytes = view[part.address : part.address + part.length].tobytes()
        return found

    def check(self, job: ProgramJob, check: Check, *, agree: bool) -> None:
        """Compares bytes with their expected CRC-32.

        Args:
            job: The program.
            check: The bytes.
            agree: Engine and model agree.
        """
        found = self.bytes_of(check)
        crc32 = zlib.crc32(found)
        if crc32 == check.crc32:
            return
        space, address = located(space_named(check.space), check.address)
        lines = [
            f"MISMATCH: {job.title}: CRC-32 of {check.length} bytes of {space} at "
            f"{address:#x} is {crc32:08X}, expected {check.crc32:08X}"
        ]
        if check.where:
            lines.append(f"  check: {check.where}")
        if check.expected is not None:
            wanted = check.expected
            wrong = [at for at in range(len(found)) if found[at] != wanted[at]]
            many = "1 byte differs" if len(wrong) == 1 else f"{len(wrong)} bytes differ"
            lines.append(
                f"  {many}, the first at offset {wrong[0]:#x}: "
                f"{found[wrong[0]]:#04x}, expected {wanted[wrong[0]]:#04x}"
            )
        if agree:
            lines.append("  engine and model agree: the program, its data or the check is wrong")
        self.run.fail("\n".join([*lines, f"  repeat: {self.run.command}"]), agreed=agree)

    def dump(self, dump: Dump) -> None:
        """Writes bytes into the run's folder."""
        folder = Path(os.environ[RESULT_ENV]).parent
        (folder / dump.file).write_bytes(self.bytes_of(dump))


def without_delays(rounds: list[Round]) -> list[Round]:
    """Returns rounds in which no op delays flags that a product of the program sets or checks."""
    own = own_blocks([step for item in rounds for step in item.compute])
    return [replace(item, block=_delayed(item.block, own)) for item in rounds] if own else rounds


def _delayed(block: OpBlock, own: frozenset[int]) -> OpBlock:
    if block.flag_delay is None:
        return block
    delays = block.flag_delay.copy()
    for at in np.flatnonzero(delays >= 0).tolist():
        if block.expected_rule is not None and block.expected_rule[at]:
            continue  # It waits for no flags.
        desc = block.issued(at)
        if isinstance(desc, FixOp) and own.intersection(fix_blocks(desc).tolist()):
            delays[at] = -1
    return replace(block, flag_delay=delays)
