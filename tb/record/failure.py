# SPDX-License-Identifier: Apache-2.0
"""One failure of a run, in fields."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class PictureRow(BaseModel):
    """Bytes of one row of a memory picture, as hexadecimal digits of equal length."""

    model_config = ConfigDict(extra="forbid")

    address: int
    expected: str
    actual: str


class Picture(BaseModel):
    """Actual and expected bytes of a memory around the first wrong byte.

    Attributes:
        space: The memory, a name of :class:`tb.isa.spaces.Space` in small letters.
        rows: Rows of the op's destination in address order, or lines of 32 bytes where no op is
            known.
        left_out: The part of the destination that is not shown, as a sentence, or empty.
    """

    model_config = ConfigDict(extra="forbid")

    space: str
    rows: list[PictureRow] = Field(default_factory=list)
    left_out: str = ""


class Failure(BaseModel):
    """One failure of a run, for machines to group; ``text`` is the report for people.

    Attributes:
        kind: Kind: ``data``, ``guard``, ``stray``, ``page`` (bytes); ``tag``, ``status``,
            ``rule``, ``address``, ``early`` (reports of the done channel); ``flags``, ``access``,
            ``late burst``, ``stimulus``, ``protocol``, ``hang``; ``design`` for an error that the
            design itself reports, ``speed`` for a stream slower than its limit, ``leak`` for an
            engine that holds less or more at the end, ``check`` for a check of a test itself,
            ``crash`` for what was in flight when the simulator ended.
        slot, op: Slot and op or legacy form, or empty where none is known.
        field: The first thing that differs, such as ``row data``, ``left pad``, ``status OK not
            RULE``, with the knobs of another profile that explain it (``behind the row, knob
            tail``); of a protocol error its rule.
        rule: Number of the D rule that the op breaks, or the name of the protocol rule.
        space: Memory of the first wrong byte.
        address: Its address.
        address_class: Where that is, in few words that many failures share.
        transaction: Number of the op in the run, from 0.
        cause: Transaction of a failed op that should have written bytes which this op reads.
        begin_clock, end_clock: When the op was accepted and when it retired, 0 if not known.
        text: The report.
        picture: The bytes, of failures that are about bytes.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    slot: str = ""
    op: str = ""
    field: str = ""
    rule: str = ""
    space: str = ""
    address: int | None = None
    address_class: str = ""
    transaction: int | None = None
    cause: int | None = None
    begin_clock: int = 0
    end_clock: int = 0
    text: str = ""
    picture: Picture | None = None
