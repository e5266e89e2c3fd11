# SPDX-License-Identifier: Apache-2.0
"""A violation of each protocol rule, as a script that script_dma.v plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tb.harness.layout import ACCESSES
from tb.isa.spaces import SEGMENTS, SIZES, Space
from tests.hdl.mini import (
    CHECK_AND_CLEAR,
    CHECK_ONLY,
    FIX,
    GM,
    MTE2,
    MTE3,
    UNIT_FLAG_LSB,
    WRITE_BACK,
    words_of,
)

L0_HOLES = tuple(segment.stop for segment in SEGMENTS[Space.L0])
"""First bytes after the segments of L0."""

FIELDS = {
    "hold": 8,
    "mode": 2,
    "x": 7,
    "reset": 1,
    "desc_ready": 1,
    "busy": 1,
    "done_valid": 1,
    "done_tag": 8,
    "done_status": 3,
    "done_rule": 8,
    "done_addr": 40,
    "src_req": 1,
    "src_space": 3,
    "src_addr": 20,
    "dst_req": 1,
    "dst_space": 3,
    "dst_addr": 20,
    "dst_be": 1,
    "dst_wdata": 8,
    "par_req": 1,
    "par_space": 3,
    "par_addr": 20,
    "flag_req": 1,
    "flag_clear": 1,
    "flag_addr": 4,
    "flag_mask": 32,
    "arvalid": 1,
    "arid": 4,
    "araddr": 40,
    "arlen": 8,
    "arsize": 3,
    "arburst": 2,
    "rready": 1,
    "awvalid": 1,
    "awid": 4,
    "awaddr": 40,
    "awlen": 8,
    "awsize": 3,
    "awburst": 2,
    "wvalid": 1,
    "wdata": 8,
    "wstrb": 1,
    "wlast": 1,
    "bready": 1,
    "arready": 1,
    "rvalid": 1,
    "rid": 4,
    "rdata": 8,
    "rresp": 2,
    "rlast": 1,
    "awready": 1,
    "wready": 1,
    "bvalid": 1,
    "bid": 4,
    "bresp": 2,
    "src_gnt": 1,
    "src_rvalid": 1,
    "dst_gnt": 1,
    "par_gnt": 1,
    "par_rvalid": 1,
    "flag_gnt": 1,
    "flag_rvalid": 1,
    "desc_valid": 1,
    "desc_tag": 8,
    "done_ready": 1,
}
"""Bits of each field of a step, highest first, as script_dma.v unpacks them."""

CONTROL = ("hold", "mode", "x", "reset")
X_NUMBERS = {
    name: number for number, name in enumerate((n for n in FIELDS if n not in CONTROL), start=1)
}
"""Numbers of the signals that a step can leave unset."""

SIGNALS = {number: name for name, number in X_NUMBERS.items()}

STORE_TAGS = range(0x40, 0x60)
PLAY_TAG, NEXT_TAG = 0x21, 0x22
"""Tags of the descriptors that store steps, of the one that plays, and of the next one."""

STALLED, TAKEN = 1, 2
"""Modes of a step: offered on a clock that stalls it, or until taken."""

FLAGS_SET, FLAGS_CLEARED = -1, -2
"""Instead of a mask: flags of word 0 that are set or not set in the memory."""

Step = Mapping[str, int]


@dataclass(frozen=True)
class Script:
    """Steps of script_dma.v, and their knobs.

    Attributes:
        steps: Values of the fields that are not idle.
        direct: Drive the checkers inside the engine instead of its pins.
        finish: A done follows the last step.
        late: The steps come after the done.
        in_reset: Step 0 has the pins in reset; it is not played.
        extra: Descriptors after the one that plays.
        knobs: Of the memories, where not the default.
        unit_flag: Of the descriptor; 0 for none.
        pins: The descriptor comes by pins: ``"mixed"`` while another waits in the ring, ``"unset"``
            with a bit that is X.
    """

    steps: tuple[Step, ...]
    direct: bool = False
    finish: bool = False
    late: bool = False
    in_reset: bool = False
    extra: int = 0
    knobs: Mapping[str, int] = field(default_factory=dict)
    unit_flag: int = 0
    pins: Literal["", "mixed", "unset"] = ""

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots that play it: all that have its pins, or one for the checkers inside."""
        names = {name for step in self.steps for name in step}
        names |= {SIGNALS[step["x"]] for step in self.steps if "x" in step}
        of_fix = any(name.startswith(("par_", "flag_")) for name in names) or self.unit_flag
        return (FIX,) if of_fix or self.direct or self.pins else (MTE2, MTE3, FIX)

    def play(self) -> NDArray[np.uint32]:
        """Returns the descriptor that plays the steps, ``uint32[16]``."""
        value = WRITE_BACK if self.unit_flag else 2
        value |= self.direct << 8 | self.finish << 9 | self.late << 10
        value |= self.in_reset << 11 | len(self.steps) << 16 | self.unit_flag << UNIT_FLAG_LSB
        return words_of(value)

    def stores(self, flags: int) -> list[NDArray[np.uint32]]:
        """Returns the descriptors that store the steps; ``flags`` is word 0 of the unit flags."""
        masks = {FLAGS_SET: flags, FLAGS_CLEARED: flags ^ 0xFFFF_FFFF}
        idle = int(self.direct or self.late)
        rest = {"desc_ready": idle, "busy": 1 - idle, "rready": 1, "bready": 1}
        return [
            words_of(1 | number << 8 | _pack({**rest, **step}, masks) << 16)
            for number, step in enumerate(self.steps)
        ]


def _pack(step: Step, masks: Mapping[int, int]) -> int:
    value = 0
    for name, bits in FIELDS.items():
        number = int(step.get(name, 0))
        number = masks.get(number, number)
        assert 0 <= number < 1 << bits, (name, number)
        value = value << bits | number
    assert set(step) <= set(FIELDS), step
    return value


GONE = {"desc_ready": 1, "busy": 0}
"""Pins after all responses."""


def ar(**fields: int) -> Step:
    """Returns a step that offers a read burst of one beat until it is taken."""
    rest = {"mode": TAKEN, "arvalid": 1, "araddr": GM, "arsize": 5, "arburst": 1}
    return {**rest, **fields}


def aw(**fields: int) -> Step:
    """Returns a step that offers a write burst of one beat until it is taken."""
    rest = {"mode": TAKEN, "awvalid": 1, "awaddr": GM, "awsize": 5, "awburst": 1}
    return {**rest, **fields}


def w(**fields: int) -> Step:
    """Returns a step that offers the last beat of a burst until it is taken."""
    return {"mode": TAKEN, "wvalid": 1, "wdata": 0x5A, "wstrb": 1, "wlast": 1, **fields}


def src(**fields: int) -> Step:
    """Returns a step that reads a word of UB until granted."""
    return {"mode": TAKEN, "src_req": 1, "src_space": Space.UB0, "src_addr": 0x400, **fields}


def dst(**fields: int) -> Step:
    """Returns a step that writes a word of UB until granted."""
    rest = {"mode": TAKEN, "dst_req": 1, "dst_space": Space.UB0, "dst_addr": 0x400}
    return {**rest, "dst_be": 1, "dst_wdata": 0xA5, **fields}


def par(**fields: int) -> Step:
    """Returns a step that reads a word of parameters until granted."""
    return {"mode": TAKEN, "par_req": 1, "par_space": Space.FB, "par_addr": 0x40, **fields}


def flag(**fields: int) -> Step:
    """Returns a step that reads unit flags until granted."""
    return {"mode": TAKEN, "flag_req": 1, "flag_mask": 1, **fields}


def clear(**fields: int) -> Step:
    """Returns a step that clears unit flags until granted."""
    return flag(flag_clear=1, **{"flag_mask": FLAGS_SET, **fields})


def done(**fields: int) -> Step:
    """Returns a step that offers the done of the descriptor that plays until it is taken."""
    return {"mode": TAKEN, "done_valid": 1, "done_tag": PLAY_TAG, **fields}


def wait(clocks: int, **fields: int) -> Step:
    """Returns a step in which nothing is offered."""
    return {"hold": clocks - 1, **fields}


def unset(name: str, step: Step | None = None, **fields: int) -> Step:
    """Returns ``step`` with one undriven signal."""
    return {**(step or {}), **fields, "x": X_NUMBERS[name]}


def moved(step: Step, **fields: int) -> tuple[Step, ...]:
    """Returns ``step`` stalled, and then with another payload."""
    return ({**step, "mode": STALLED}, {**step, **fields})


def fallen(step: Step) -> tuple[Step, ...]:
    """Returns ``step`` stalled, and then withdrawn."""
    return ({**step, "mode": STALLED}, wait(4))


def last(steps: tuple[Step, ...]) -> Step:
    """Returns the final step: nothing is offered, and busy is unchanged."""
    return {name: steps[-1][name] for name in GONE if name in steps[-1]}


def wired(*steps: Step, **knobs: int) -> Script:
    """Returns a script of the pins that never retires."""
    return Script((*steps, last(steps)), knobs=knobs)


def inner(*steps: Step) -> Script:
    """Returns a script of the checkers inside; steps last a clock."""
    busy = steps[-1].get("busy", 0)
    return Script((*({**step, "mode": 0} for step in steps), wait(2, busy=busy)), direct=True)


def flags(*steps: Step, unit_flag: int = CHECK_ONLY, **knobs: int) -> Script:
    """Returns a script of the pins of an op that waits for flags."""
    return Script((*steps, last(steps)), knobs=knobs, unit_flag=unit_flag)


def many(step: Step, count: int) -> Step:
    """Returns a step in each of ``count`` clocks."""
    return {**step, "hold": count - 1}


def in_reset(**fields: int) -> Script:
    """Returns a script of one step in reset."""
    return Script((fields,), in_reset=True)


def after_done(*steps: Step) -> Script:
    """Returns a script of steps after the done."""
    return Script((*steps, wait(40)), late=True)


OUTSTANDING = 16
"""Bursts in flight in each direction, of the builds of this module."""

STALL = 160
"""Of 256: frequent enough for steps that need a clock with a stall."""

AR_TAKEN, AW_TAKEN = ar(arready=1), aw(awready=1)
"""Steps of the checkers inside: bursts that are taken at once."""

R = {"rvalid": 1, "rlast": 1, "rdata": 0x3C}
B = {"bvalid": 1}
W_TAKEN = w(wready=1)

MOVES = (
    *(ar(arlen=3), ar(araddr=GM + 4096 - 32)),
    *(aw(), w(), aw(awlen=1), w(wlast=0), w()),
    *(w(wlast=0), w(wstrb=0), aw(awaddr=GM + 64, awlen=1)),
    *(src(), src(src_addr=0), dst(), dst(dst_be=0), dst(dst_addr=SIZES[Space.UB0] - 32)),
)
"""Legal steps of the pins that every slot has."""

CLEAN = (
    Script((*MOVES, wait(60)), finish=True),
    Script(
        (
            *MOVES,
            *(par(), par(par_addr=SIZES[Space.FB] - 64)),
            *(flag(), flag(flag_addr=15, flag_mask=1 << 31)),
            wait(60),
            clear(),
        ),
        finish=True,
        unit_flag=CHECK_AND_CLEAR,
    ),
    Script((wait(1),), finish=True, extra=3),
    # As many bursts in flight, and bursts as long, as the limits allow.
    inner(many(AR_TAKEN, OUTSTANDING)),
    inner(many(AW_TAKEN, OUTSTANDING)),
    inner(ar(arlen=127, arready=1), aw(awaddr=GM + 4096, awlen=127, awready=1)),
    inner(
        *(ar(arlen=1, arready=0), ar(arlen=1, arready=1), R | {"rlast": 0, "rready": 0}),
        *(R | {"rlast": 0}, R, wait(2), aw(awready=0), AW_TAKEN, {**W_TAKEN, "wready": 0}, W_TAKEN),
        *(B | {"bready": 0}, B, src(src_gnt=1, desc_valid=1), {"busy": 1, "src_rvalid": 1}),
        *(par(par_gnt=1, busy=1), {"par_rvalid": 1, "busy": 1}, flag(flag_gnt=1, busy=1)),
        *({"flag_rvalid": 1, "busy": 1}, done(done_tag=0, busy=1)),
        *(done(done_tag=0, busy=1, done_ready=1), {"desc_valid": 1, "desc_ready": 0}),
        *({"desc_valid": 1}, done(done_tag=0, done_ready=1, busy=1)),
        *({"reset": 1}, {"reset": 1}),
    ),
)
"""Scripts that break no rule."""

PROOFS: dict[str, tuple[Script, ...]] = {
    # --- reads of GM ---
    "AR-HELD": (wired(*fallen(ar()), stall_ar=STALL),),
    "AR-STABLE": (wired(*moved(ar(), araddr=GM + 64), stall_ar=STALL),),
    "AR-BURST": (wired(ar(arburst=0)), wired(ar(arburst=2))),
    "AR-SIZE": (wired(ar(arsize=2)), wired(ar(arsize=6))),
    "AR-ALIGN": (wired(ar(araddr=GM + 1)), wired(ar(araddr=GM + 16, arlen=1))),
    "AR-4K": (wired(ar(araddr=GM + 4096 - 32, arlen=1)), wired(ar(arlen=128))),
    "AR-ID": (wired(ar(), ar(arid=1)),),
    "AR-LIMIT": (
        wired(ar(mode=0, hold=20), axi_read_latency=60),
        inner(many(AR_TAKEN, OUTSTANDING + 1)),
    ),
    "AR-OVER-WRITE": (
        wired(aw(), w(), ar(), axi_write_latency=60),
        wired(aw(mode=STALLED), ar(**{**aw(), "mode": 0}), aw(), stall_aw=STALL),
    ),
    "AR-RESET": (in_reset(arvalid=1),),
    "R-HELD": (inner(AR_TAKEN, R | {"rready": 0}, wait(1)),),
    "R-STABLE": (
        inner(AR_TAKEN, R | {"rready": 0}, R | {"rresp": 2}),
        inner(AR_TAKEN, R | {"rready": 0}, R | {"rdata": 7}),
    ),
    "R-UNASKED": (inner(R), inner(AR_TAKEN, R, R)),
    "R-LAST": (inner(ar(arlen=1, arready=1), R, wait(1)), inner(AR_TAKEN, R | {"rlast": 0})),
    "R-ID": (inner(AR_TAKEN, R | {"rid": 3}),),
    "R-RESP": (inner(AR_TAKEN, R | {"rresp": 1}),),
    "R-RESET": (inner({"reset": 1}, {"reset": 1}, R | {"reset": 1}),),
    # --- writes of GM ---
    "AW-HELD": (wired(*fallen(aw()), stall_aw=STALL),),
    "AW-STABLE": (wired(*moved(aw(), awlen=1), stall_aw=STALL),),
    "AW-BURST": (wired(aw(awburst=0)),),
    "AW-SIZE": (wired(aw(awsize=4)),),
    "AW-ALIGN": (wired(aw(awaddr=GM + 16)),),
    "AW-4K": (wired(aw(awaddr=GM + 4096 - 64, awlen=2)),),
    "AW-ID": (wired(aw(), aw(awid=8)),),
    "AW-LIMIT": (wired(aw(mode=0, hold=20)), inner(many(AW_TAKEN, OUTSTANDING + 1))),
    "AW-RESET": (in_reset(awvalid=1),),
    "W-HELD": (wired(aw(), *fallen(w()), stall_w=STALL),),
    "W-STABLE": (
        wired(aw(), *moved(w(), wdata=1), stall_w=STALL),
        wired(aw(), *moved(w(), wstrb=0), stall_w=STALL),
    ),
    "W-LAST-EARLY": (wired(aw(awlen=3), w()), wired(w(), aw(awlen=3))),
    "W-LAST-LATE": (
        wired(aw(), w(wlast=0)),
        wired(w(wlast=0), w(), aw()),
        wired(w(wlast=0, mode=0, hold=255)),
    ),
    "W-RESET": (in_reset(wvalid=1),),
    "B-HELD": (inner(AW_TAKEN, W_TAKEN, B | {"bready": 0}, wait(1)),),
    "B-STABLE": (inner(AW_TAKEN, W_TAKEN, B | {"bready": 0}, B | {"bresp": 2}),),
    "B-UNASKED": (inner(B), inner(AW_TAKEN, W_TAKEN, B, B)),
    "B-EARLY": (inner(aw(awlen=1, awready=1), {**W_TAKEN, "wlast": 0}, B), inner(AW_TAKEN, B)),
    "B-ID": (inner(AW_TAKEN, W_TAKEN, B | {"bid": 9}),),
    "B-RESP": (inner(AW_TAKEN, W_TAKEN, B | {"bresp": 1}),),
    "B-RESET": (inner({"reset": 1}, {"reset": 1}, B | {"reset": 1}),),
    # --- descriptors and dones ---
    "DESC-HELD": (inner({"desc_valid": 1, "desc_ready": 0}, wait(1)),),
    "DESC-STABLE": (
        inner(
            {"desc_valid": 1, "desc_ready": 0},
            {"desc_valid": 1, "desc_ready": 0, "desc_tag": 7},
            {"desc_valid": 1, "desc_tag": 7},
            {"busy": 1},
        ),
    ),
    "DESC-MIXED": (Script((wait(1),), finish=True, pins="mixed"),),
    "DONE-HELD": (wired(*fallen(done()), stall_done=STALL),),
    "DONE-STABLE": (wired(*moved(done(), done_status=6), wait(8, **GONE), stall_done=STALL),),
    "DONE-RESET": (in_reset(done_valid=1),),
    "DONE-UNKNOWN-TAG": (
        wired(done(done_tag=PLAY_TAG + 8), wait(8, **GONE)),
        after_done(done(done_tag=PLAY_TAG + 8, **GONE)),
    ),
    "DONE-TWICE": (
        wired(done(), wait(4, **GONE), done(**GONE), wait(8, **GONE)),
        after_done(done(**GONE)),
        Script((wait(10, desc_ready=1), done(), done(), wait(8)), extra=1),
    ),
    "DONE-ORDER": (Script((wait(10, desc_ready=1), done(done_tag=NEXT_TAG), wait(8)), extra=1),),
    "DONE-STATUS": (wired(done(done_status=7), wait(8, **GONE)),),
    "DONE-RULE": (wired(done(done_rule=3), wait(8, **GONE)),),
    "DONE-ADDR": (
        wired(done(done_addr=4), wait(8, **GONE)),
        wired(done(done_status=1, done_rule=2, done_addr=1 << 39), wait(8, **GONE)),
    ),
    "DONE-EARLY-WRITE": (
        Script((aw(), w()), finish=True, knobs={"axi_write_latency": 60}),
        Script((aw(),), finish=True),
        Script((w(),), finish=True),
        # The descriptor that waits keeps a write after the done from being idle traffic.
        Script(
            ({**dst(), **done(), "mode": STALLED}, dst(), wait(8, busy=0)),
            extra=1,
            knobs={"stall_dst_gnt": STALL},
        ),
    ),
    "DONE-EARLY-READ": (
        Script((ar(),), finish=True, knobs={"axi_read_latency": 60}),
        Script((src(),), finish=True, knobs={"local_read_latency": 60}),
    ),
    "DONE-EARLY-PAR": (Script((par(),), finish=True, knobs={"local_read_latency": 60}),),
    "DONE-EARLY-FLAG": (
        Script((flag(),), finish=True, unit_flag=CHECK_ONLY, knobs={"local_read_latency": 60}),
    ),
    "RULE-TRAFFIC": (
        wired(src(), wait(20), done(done_status=1, done_rule=5), wait(8, **GONE)),
        wired(ar(), wait(20), done(done_status=1), wait(8, **GONE)),
    ),
    "BUSY-LOW": (wired(wait(4), wait(4, busy=0)),),
    "BUSY-HIGH": (after_done(wait(4), wait(1, busy=1)),),
    "IDLE-TRAFFIC": tuple(
        after_done(wait(4), step) for step in (src(), dst(), par(), flag(), ar())
    ),
    # --- local ports ---
    "SRC-HELD": (wired(*fallen(src()), stall_src_gnt=STALL),),
    "SRC-STABLE": (wired(*moved(src(), src_addr=0), stall_src_gnt=STALL),),
    "SRC-ALIGN": (wired(src(src_addr=16)),),
    "SRC-SPACE": (wired(src(src_space=0)),),
    "SRC-OUTSIDE": (
        wired(src(src_addr=SIZES[Space.UB0])),
        *(wired(src(src_space=Space.L0, src_addr=at)) for at in L0_HOLES),
    ),
    "SRC-UNASKED": (inner({"src_rvalid": 1}),),
    "SRC-RESET": (in_reset(src_req=1),),
    "DST-HELD": (wired(*fallen(dst()), stall_dst_gnt=STALL),),
    "DST-STABLE": (
        wired(*moved(dst(), dst_addr=0), stall_dst_gnt=STALL),
        wired(*moved(dst(), dst_be=0), stall_dst_gnt=STALL),
        wired(*moved(dst(), dst_wdata=0), stall_dst_gnt=STALL),
    ),
    "DST-ALIGN": (wired(dst(dst_addr=16)),),
    "DST-SPACE": (wired(dst(dst_space=0)),),
    "DST-OUTSIDE": (
        wired(dst(dst_addr=SIZES[Space.UB0])),
        *(wired(dst(dst_space=Space.L0, dst_addr=at)) for at in L0_HOLES),
    ),
    "DST-RESET": (in_reset(dst_req=1),),
    # --- parameters and unit flags ---
    "PAR-HELD": (wired(*fallen(par()), stall_src_gnt=STALL),),
    "PAR-STABLE": (wired(*moved(par(), par_addr=0), stall_src_gnt=STALL),),
    "PAR-ALIGN": (wired(par(par_addr=32)),),
    "PAR-SPACE": (wired(par(par_space=5)), wired(par(par_space=7))),
    "PAR-OUTSIDE": (wired(par(par_addr=SIZES[Space.FB])),),
    "PAR-UNASKED": (inner({"par_rvalid": 1}),),
    "PAR-RESET": (in_reset(par_req=1),),
    "FLAG-HELD": (flags(*fallen(flag()), stall_src_gnt=STALL),),
    "FLAG-STABLE": (flags(*moved(flag(), flag_mask=6), stall_src_gnt=STALL),),
    "FLAG-MASK": (flags(flag(flag_mask=0)),),
    "FLAG-READ": (wired(flag()),),
    "FLAG-CLEAR": (wired(clear()), flags(clear())),
    "FLAG-AT-DONE": (flags({**clear(), **done()}, wait(8, **GONE), unit_flag=CHECK_AND_CLEAR),),
    "FLAG-NOT-SET": (flags(clear(flag_mask=FLAGS_CLEARED), unit_flag=CHECK_AND_CLEAR),),
    "FLAG-UNASKED": (inner({"flag_rvalid": 1}),),
    "FLAG-RESET": (in_reset(flag_req=1),),
    # --- X and Z ---
    "X-AR": (
        wired(unset("arvalid")),
        in_reset(**unset("arvalid")),
        *(wired(unset(n, ar())) for n in ("arid", "araddr", "arlen", "arsize", "arburst")),
    ),
    "X-R": (wired(unset("rready")),),
    "X-AW": (
        wired(unset("awvalid")),
        in_reset(**unset("awvalid")),
        *(wired(unset(n, aw())) for n in ("awid", "awaddr", "awlen", "awsize", "awburst")),
    ),
    "X-W": (
        wired(unset("wvalid")),
        in_reset(**unset("wvalid")),
        *(wired(aw(), unset(n, w())) for n in ("wlast", "wstrb", "wdata")),
    ),
    "X-B": (wired(unset("bready")),),
    "X-DESC": (wired(unset("desc_ready")),),
    "X-DONE": (
        wired(unset("done_valid")),
        in_reset(**unset("done_valid")),
        *(
            wired(unset(n, done()), wait(8, **GONE))
            for n in ("done_tag", "done_status", "done_rule", "done_addr")
        ),
    ),
    "X-BUSY": (wired(unset("busy")),),
    "X-SRC": (
        wired(unset("src_req")),
        in_reset(**unset("src_req")),
        *(wired(unset(n, src())) for n in ("src_space", "src_addr")),
    ),
    "X-DST": (
        wired(unset("dst_req")),
        in_reset(**unset("dst_req")),
        *(wired(unset(n, dst())) for n in ("dst_space", "dst_addr", "dst_be", "dst_wdata")),
    ),
    "X-PAR": (
        wired(unset("par_req")),
        in_reset(**unset("par_req")),
        *(wired(unset(n, par())) for n in ("par_space", "par_addr")),
    ),
    "X-FLAG": (
        wired(unset("flag_req")),
        in_reset(**unset("flag_req")),
        *(flags(unset(n, flag())) for n in ("flag_clear", "flag_addr", "flag_mask")),
    ),
    "X-MEMORY": (
        inner(unset("arready", ar())),
        inner(unset("rvalid")),
        *(inner(AR_TAKEN, unset(n, R)) for n in ("rid", "rresp", "rlast")),
        inner(unset("awready", aw())),
        inner(unset("wready", w())),
        inner(unset("bvalid")),
        *(inner(AW_TAKEN, W_TAKEN, unset(n, B)) for n in ("bid", "bresp")),
        inner(unset("desc_valid")),
        Script((wait(1),), finish=True, pins="unset"),
        *(
            inner({"desc_valid": 1}, unset(name, step, busy=1), wait(1, busy=1))
            for name, step in (
                ("done_ready", wait(1)),
                ("src_gnt", src()),
                ("src_rvalid", wait(1)),
                ("dst_gnt", dst()),
                ("par_gnt", par()),
                ("par_rvalid", wait(1)),
                ("flag_gnt", flag()),
                ("flag_rvalid", wait(1)),
            )
        ),
    ),
}
"""Scripts for each rule: each brings messages of that rule and of no other."""


def _beside(*steps: Step, **knobs: int) -> Script:
    """Returns a script with a done after ``steps``, while another descriptor is in flight."""
    return Script((wait(10, desc_ready=1), *steps, done(), wait(80)), extra=1, knobs=knobs)


def _owed(access: int, space: Space, address: int) -> list[int]:
    words = [0] * len(ACCESSES)
    words[access] = 1 << 63 | space << 56 | address
    return words


OWED: Mapping[str, tuple[Script, list[int]]] = {
    "ar": (_beside(ar(), ar(araddr=GM + 64), axi_read_latency=60), _owed(0, Space.GM, GM)),
    "ar, the first is answered": (
        _beside(ar(), wait(40), ar(araddr=GM + 64), axi_read_latency=20),
        _owed(0, Space.GM, GM + 64),
    ),
    "aw": (_beside(aw(), w(), axi_write_latency=60), _owed(1, Space.GM, GM)),
    "src": (
        _beside(src(), src(src_addr=0x440), local_read_latency=60),
        _owed(2, Space.UB0, 0x400),
    ),
    "src, the first is answered": (
        _beside(src(), wait(40), src(src_addr=0x440), local_read_latency=20),
        _owed(2, Space.UB0, 0x440),
    ),
    "par": (_beside(par(), local_read_latency=60), _owed(4, Space.FB, 0x40)),
    "nothing": (_beside(*MOVES, par(), wait(60)), [0] * len(ACCESSES)),
}
"""Scripts that are not violation by themselves, and ``owed`` of their done record."""
