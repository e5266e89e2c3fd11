# SPDX-License-Identifier: Apache-2.0
"""The pyuvm test of speed: clocks of fixed streams against the limits of the manifests."""

from __future__ import annotations

import pyuvm
from pyuvm import uvm_subscriber

from sequences.streams.speed import speed_streams
from sequences.streams.workload import Workload, stream
from tb.env.tests.directed import DirectedTest
from tb.harness.items import Batch
from tb.harness.knobs import PROFILES
from tb.isa.block import FrontEndError, OpBlock
from tb.isa.rules import d_violations
from tb.isa.spaces import Space
from tb.record.failure import Failure
from tb.record.settings import DataWidth, RunSettings
from tb.record.speed import SpeedFigure

NEAR, FAR = 8, 40
"""Latencies of GM in clocks: 16 bursts in flight cover the first, and the second if a burst has
three beats or more. Local ports have the first."""

STREAM_BYTES = 65536
FEWEST_OPS = 3
"""Size of a stream: as many ops as move so many bytes, at least so many, if there are places."""

UNITS = {
    "words": ("a word", 1),
    "rows": ("a row", 1),
    "ops": ("an op", 1),
    "C0 blocks": ("a C0 block", 1),
    "elements": ("16 elements", 16),
}
"""Unit of a workload to the unit of its figure, and how many of the former that is."""

PARAMETER_BYTE = 0x3C
"""Every byte of FB: as scales and slopes these are small normal numbers."""


class BatchTap(uvm_subscriber):
    """Keeps the last batch; its done records have the clocks."""

    last: Batch

    def write(self, batch: Batch) -> None:
        """Receives a batch."""
        self.last = batch


def limits_apply(settings: RunSettings) -> bool:
    """Returns whether a run has the memory, widths and bursts in flight that limits are for."""
    most = RunSettings.model_fields["outstanding"].default
    ideal = settings.gm == "hdl" and settings.outstanding >= most
    return ideal and settings.gm_width == settings.local_width


@pyuvm.test()
class SpeedTest(DirectedTest):
    """Ops of one shape back to back, on memories with a short fixed latency and no stalls.

    A stream is measured from its first accept to its last done, less the clocks of one of its ops
    alone. Its ops are compared with the model as all ops are.
    """

    sends = tuple(dict.fromkeys(work.op for work in speed_streams(32)))

    def configure(self) -> None:
        """Makes the subscriber for done records."""
        self.tap = BatchTap.create("tap", self)

    def connect_phase(self) -> None:
        """Connects the subscriber."""
        self.env.dispatcher.batch_ap.connect(self.tap.analysis_export)

    async def stimulate(self) -> None:
        """Measures every stream that the engines can do."""
        settings = self.run.settings
        self.restart({Space.FB: PARAMETER_BYTE}, ())
        self.apply_profile(PROFILES[0])
        for work in speed_streams(min(settings.gm_width, settings.local_width) // 8):
            block = self.block(work) if work.op in settings.ops else None
            if block is None or self.refuses([block], "a stream"):
                continue
            gm = FAR if work.far else NEAR
            self.run.mailbox.set_knobs(
                axi_read_latency=gm, axi_write_latency=gm, local_read_latency=NEAR
            )
            first = block.take(0, 1)
            await self.clocks(first)  # leaves the unit selected
            clocks: float = await self.clocks(first)
            if len(block) > 1:
                clocks = (await self.clocks(block) - clocks) / (len(block) - 1)
            if self.run.aborted:
                break
            self.note(work, clocks)
        for figure in self.run.counts.speed:
            if figure.missed:
                report = f"TOO SLOW: {figure.line}"
                detail = Failure(
                    kind="speed",
                    slot=figure.slot,
                    op=figure.op,
                    field=figure.stream,
                    end_clock=int(self.run.mailbox.cycles),
                    text=report,
                )
                self.run.fail(report, detail)

    def block(self, work: Workload) -> OpBlock | None:
        """Returns the ops of a stream, or None and a note if the profile refuses its op."""
        count = min(work.places, max(FEWEST_OPS, STREAM_BYTES // work.bytes))
        try:
            block = stream([work.make(place) for place in range(count)], work.ctrl)
            legal = not any(d_violations(block.issued(k)) for k in range(len(block)))
        except FrontEndError:
            legal = False
        if not legal:
            self.run.notes.append(f"stream {work.name}: its op is illegal under the profile")
        return block if legal else None

    async def clocks(self, block: OpBlock) -> int:
        """Sends ops; returns the clocks from the first accept to the last done."""
        await self.send_blocks([block])
        if self.run.aborted:
            return 0
        (records,) = self.tap.last.done.values()
        return int(records["done_cycle"][-1]) - int(records["accept_cycle"][0])

    def note(self, work: Workload, clocks: float) -> None:
        """Notes the clocks of an op of a stream beside their limit."""
        unit, count = UNITS[work.unit]
        self.run.counts.speed.append(
            SpeedFigure(
                stream=work.name,
                slot=work.slot,
                op=work.op,
                unit=unit,
                clocks=round(clocks * count / work.units, 3),
                limit=self.limit(work.name, work.slot),
            )
        )

    def limit(self, name: str, slot: str) -> float | None:
        """Returns the limit of a stream at the widths of the run, None for no limit."""
        settings = self.run.settings
        if not limits_apply(settings):
            return None
        width: DataWidth = settings.gm_width
        return self.limits.capabilities[slot].clocks_at(width).get(name)
