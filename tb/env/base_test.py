# SPDX-License-Identifier: Apache-2.0
"""Base of the pyuvm tests: attaches to the harness, builds the environment, reports.

Tests, including those of users, import from this module: it has the base and the classes that a
factory override may replace. docs/uvm.md lists them.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer
from cocotb.utils import get_sim_steps, get_sim_time
from pyuvm import ConfigDB, uvm_report_object, uvm_test

from scoreboards.scoreboard import Scoreboard
from sequences.constraints import OpConstraints
from sequences.op_filter import FilterChain, OpFilter
from sequences.uvm import (
    BlockItem,
    BlockSeq,
    CornerSeq,
    DirectedSeq,
    IllegalSeq,
    ItemSeq,
    RandomSeq,
)
from tb.common.errors import PtoError
from tb.coverage.functional import FunctionalCoverage
from tb.dut.constraints import Limits, user_limits
from tb.dut.limits import capability_filters
from tb.dut.user_code import DEFAULT_TRANSACTIONS
from tb.env.agent import DoneMonitor, MailboxDriver, SlotAgent
from tb.env.capacity import FEWEST, CapacityProbe
from tb.env.context import RunContext, load_settings
from tb.env.environment import CLOCK_NS, CoverageCollector, Dispatcher, PtoEnv
from tb.env.stopwatch import Stopwatch
from tb.harness.items import Batch, CheckedBatch, DoneBatch, SlotItem
from tb.harness.knobs import PROFILES, AfterValid, KnobProfile, without_axi
from tb.harness.mailbox import Mailbox
from tb.harness.memory import SimMemory
from tb.isa.block import OpBlock
from tb.isa.profile import parse_profile, use
from tb.record.settings import DEFAULT_PROFILE, RunSettings

RESET_NS = 100

COLLECT_AFTER = 100_000
"""Objects made between two collections of garbage: cycles are rare, a collection takes long."""


class PtoTestBase(uvm_test):
    """Sets a run up and closes it; subclasses send the stimulus in :meth:`stimulate`.

    Attributes:
        transactions: Default of N, for a test that is named by its file.
        fixed_length: The number of transactions does not depend on N; for the same.
        sends: Ops and legacy forms that it sends, for coverage and verdict; empty for all of the
            run.
        run: State shared by components: settings, memories, counts, verdict.
        limits: Limits of the engines and of the user's constraints.
        rng: Random numbers of this run, from its seed.
    """

    transactions = DEFAULT_TRANSACTIONS
    fixed_length = False
    sends: tuple[str, ...] = ()

    def build_phase(self) -> None:
        """Attaches to memories and mailbox, fills ConfigDB, builds the environment."""
        config = load_settings()
        use(parse_profile(config.run.profile or DEFAULT_PROFILE))
        self.limits = user_limits(config.run, config.capabilities)
        memory = SimMemory.attach(Path(config.library) if config.library else None)
        # Before the scoreboard takes its copy of the on-chip memories.
        memory.set_background_seed(config.run.seed)
        stopwatch = Stopwatch()
        coverage = FunctionalCoverage(
            gm_bytes=config.run.gm_width // 8,
            forms=[name for name in config.run.ops if not self.sends or name in self.sends],
            illegal=self.sends_illegal_ops(config.run)
            and self.limits.reports_rules(config.run.ops),
            limits=self.limits.forms(config.run.ops),
            stress=self.stresses(config.run),
        )
        self.run = RunContext(config, memory, Mailbox.attach(memory.library), coverage, stopwatch)
        self.run.mailbox.set_clock_ticks(get_sim_steps(CLOCK_NS, "ns"))
        self.run.sends = self.sends
        self.rng = np.random.default_rng(config.run.seed)
        self._released = 0
        self._profiles: list[KnobProfile] = []
        self._after_valid = AfterValid(config.run.seed)
        if config.run.gm == "cocotbext":
            self._connect_python_gm()
        for name, value in (
            ("RUN", self.run),
            ("DUT", cocotb.top),
            ("MAILBOX", self.run.mailbox),
            ("COVERAGE", coverage),
            ("STOPWATCH", stopwatch),
            ("FILTER_CHAIN", self.filter_chain(capability_filters(self.limits.capabilities))),
        ):
            ConfigDB().set(None, "*", name, value)
        self.configure()
        self.env = PtoEnv.create("env", self)

    def _connect_python_gm(self) -> None:
        """Connects cocotbext-axi in place of the harness's AXI memory, and starts the clock."""
        # Imported here: the import is slow, and few runs need it.
        from tb.env.python_axi import PythonAxiMemory, start_clock

        memory = PythonAxiMemory(self.run.memory.library)
        memory.connect(cocotb.top, self.run.slots, self.run.mailbox)
        self.run.memory = memory
        start_clock(cocotb.top)

    def sends_illegal_ops(self, settings: RunSettings) -> bool:  # noqa: ARG002 (for subclasses)
        """Returns whether the D rules are part of the coverage; depends on the test."""
        return False

    def stresses(self, settings: RunSettings) -> Collection[str]:  # noqa: ARG002 (for subclasses)
        """Names the groups of ``tb.coverage.stress`` that are part of the coverage."""
        return ()

    def probes_capacity(self) -> bool:
        """Returns whether the run measures what the engines hold, at its start and at its end.

        Tests of the plan have the option ``capacity``: 1 for a batch of one form of each slot,
        2 for two of every form. Short runs, and those with a GM in Python, do not.
        """
        settings = self.run.settings
        wanted = bool(settings.options.get("capacity")) and settings.gm == "hdl"
        return wanted and settings.transactions >= FEWEST

    def configure(self) -> None:
        """Hook: factory overrides and knobs, before the environment is built."""

    def end_of_elaboration_phase(self) -> None:
        """Keeps pyuvm's own messages out of the log."""
        uvm_report_object.set_default_logging_level(30)

    async def run_phase(self) -> None:
        """Resets the harness, sends the stimulus, compares every byte at the end."""
        self.raise_objection()
        gc.freeze()  # What there is now lives as long as the run.
        gc.set_threshold(COLLECT_AFTER, 50, 1000)
        try:
            self.prepare_memory()
            await self.reset()
            if self.env.scoreboard.known_after_reset(self._released):
                await self._drive()
            self.run.write(complete=True)
        except BaseException as error:
            if isinstance(error, Exception):
                self.run.crashed(error)
            self.run.write(complete=False)
            raise
        self.drop_objection()

    async def _drive(self) -> None:
        probe = CapacityProbe(self) if self.probes_capacity() else None
        if probe:
            await probe.begin()
        await self.stimulate()
        if probe:
            await probe.end()
        await Timer(1, "us")
        self.env.scoreboard.close()
        self._note_unused_constraints()

    def _note_unused_constraints(self) -> None:
        if self.limits.user is not None and not self.run.constrained:
            name = Path(self.limits.user.path).name
            self.run.notes.append(f"the constraints in {name}: this test does not draw from them")

    def constraints(self) -> OpConstraints:
        """Returns the test's constraints; :meth:`narrowed` applies further limits."""
        return OpConstraints(bus_bytes=self.run.settings.gm_width // 8)

    def narrowed(self) -> OpConstraints:
        """Returns :meth:`constraints` as the manifests and the user's constraints narrow them."""
        self.run.constrained = True
        return self.limits.narrowed(self.constraints())

    @property
    def filters(self) -> tuple[OpFilter, ...]:
        """Predicates of random ops: those of the manifests and of the user's constraints."""
        self.run.constrained = True
        return self.limits.filters

    def filter_chain(self, filters: tuple[OpFilter, ...] | None = None) -> FilterChain:
        """Returns the filter that drops ops which may not be sent from one generator's blocks.

        Args:
            filters: The filters; None for :attr:`filters`.
        """
        filters = self.filters if filters is None else filters
        return FilterChain(filters, self.run.left_out, self.run.dropped)

    def prepare_memory(self) -> None:
        """Fills the dense windows of GM with their random background."""
        self.env.scoreboard.expected.prefill()

    async def reset(self) -> None:
        """Pulses the harness reset."""
        harness: Any = cocotb.top
        harness.rst_n_req.value = 0
        await Timer(RESET_NS, "ns")
        harness.rst_n_req.value = 1
        self._released = int(get_sim_time("ns")) // CLOCK_NS
        await Timer(RESET_NS, "ns")

    def apply_profile(self, profile: KnobProfile) -> None:
        """Sets memory latencies and stalls; a GM in Python has stalls only."""
        python_gm = self.run.settings.gm == "cocotbext"
        if python_gm:
            profile = without_axi(profile)
        self.run.mailbox.set_knobs(**profile.knobs, seed=self.stall_seed)
        self.run.profile = profile
        memory: Any = self.run.memory
        if python_gm:
            channels = ("aw", "w", "b", "ar", "r")
            chances = {name: profile.knobs[f"stall_{name}"] / 256 for name in channels}
            memory.stall(chances, int(self.rng.integers(2**31)))

    @property
    def stall_seed(self) -> int:
        """Seed of the harness's random stalls: that of the run, truncated to the knob's width."""
        return self.run.settings.seed % ((1 << 32) - 1) + 1

    def random_profile(self) -> KnobProfile:
        """Draws a memory profile, and a channel whose ready waits for valid.

        All profiles are used once, in random order, before any repeats; and so are the channels.
        """
        if not self._profiles:
            self._profiles = [PROFILES[index] for index in self.rng.permutation(len(PROFILES))]
        return self._after_valid.applied(self._profiles.pop())

    async def stimulate(self) -> None:
        """Sends blocks to ``self.env.sequencer``; each test overrides it.

        Raises:
            PtoError: the test does not override it.
        """
        raise PtoError(
            f"{type(self).__name__} does not declare what it sends",
            where=type(self).__module__,
            remedy="define `async def stimulate(self)`, see docs/uvm.md",
        )

    async def send_items(self, items: Iterable[BlockItem]) -> None:
        """Sends items with :class:`ItemSeq` or its factory override."""
        sequence = ItemSeq.create("items")
        sequence.items = items
        await sequence.start(self.env.sequencer)

    async def send(self, block: OpBlock) -> None:
        """Sends one block outside any sequence."""
        await self.env.dispatcher.execute(block)


__all__ = [
    "Batch",
    "BlockItem",
    "BlockSeq",
    "CheckedBatch",
    "CornerSeq",
    "CoverageCollector",
    "DirectedSeq",
    "Dispatcher",
    "DoneBatch",
    "DoneMonitor",
    "IllegalSeq",
    "ItemSeq",
    "Limits",
    "MailboxDriver",
    "OpConstraints",
    "PtoEnv",
    "PtoTestBase",
    "RandomSeq",
    "Scoreboard",
    "SlotAgent",
    "SlotItem",
]
