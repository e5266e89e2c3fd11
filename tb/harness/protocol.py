# SPDX-License-Identifier: Apache-2.0
"""The rules that the checkers in tb/hdl hold a slot to, by name: ``python -m tb.harness.protocol``.

The names begin the messages of the checkers, ``"mte2: AR-4K: the burst crosses 4 KiB (..."``, and
:func:`rule_of` goes back. ``docs/protocol.md`` is generated from here. Sources: docs/contract.md,
and the AMBA AXI4 specification for what the contract takes from it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tb.isa.ops import SLOTS
from tb.record.failure import Failure

PAGE = Path("docs/protocol.md")
"""Where the generated page stands, from the top of the project."""

Who = Literal["engine", "memory"]


@dataclass(frozen=True)
class Rule:
    """A rule of the protocol.

    Attributes:
        name: Begins its messages.
        text: What it demands, one sentence.
        who: Whose fault a violation is: the engine's, or that of the other side: memories and
            drivers of descriptors.
        needs_x: Only a four-state simulator can see it broken.
    """

    name: str
    text: str
    who: Who = "engine"
    needs_x: bool = False


@dataclass(frozen=True)
class Channel:
    """Rules of one channel or port, in the order of the page."""

    title: str
    rules: tuple[Rule, ...]


def _memory(name: str, text: str) -> Rule:
    return Rule(name, text, "memory")


def _unknown(name: str, text: str, who: Who = "engine") -> Rule:
    return Rule(name, text, who, needs_x=True)


def _addresses(channel: str, direction: str) -> tuple[Rule, ...]:
    valid, ready, addr = (f"{channel}{pin}" for pin in ("VALID", "READY", "ADDR"))
    return (
        Rule(f"{channel}-HELD", f"{valid} stays up until {ready}."),
        Rule(
            f"{channel}-STABLE",
            f"{channel}ID, {addr}, {channel}LEN, {channel}SIZE and {channel}BURST stay as they are "
            f"until {ready}.",
        ),
        Rule(f"{channel}-BURST", f"{channel}BURST is INCR."),
        Rule(f"{channel}-SIZE", f"{channel}SIZE is that of the bus: beats have full width."),
        Rule(f"{channel}-ALIGN", f"{addr} is aligned to the bus word."),
        Rule(f"{channel}-4K", "No burst crosses a 4 KiB boundary."),
        Rule(f"{channel}-ID", f"All bursts between two resets have the same {channel}ID."),
        Rule(
            f"{channel}-LIMIT",
            f"No more {direction} bursts are outstanding than `NumOutstanding`, or than the "
            "manifest promises.",
        ),
        Rule(f"{channel}-RESET", f"{valid} is low in reset."),
    )


def _response(channel: str, ident: str, payload: str) -> tuple[Rule, ...]:
    return (
        _memory(f"{channel}-HELD", f"{channel}VALID stays up until {channel}READY."),
        _memory(f"{channel}-STABLE", f"{payload} stay as they are until {channel}READY."),
        _memory(f"{channel}-ID", f"{channel}ID is that of the burst, {ident}."),
        _memory(
            f"{channel}-RESP", f"{channel}RESP is not EXOKAY: there are no exclusive accesses."
        ),
        _memory(
            f"{channel}-RESET", f"{channel}VALID is low in reset, from its second clock edge on."
        ),
    )


def _request(port: str, payload: str) -> tuple[Rule, ...]:
    name = port.upper()
    return (
        Rule(f"{name}-HELD", f"`{port}_req_o` stays up until `{port}_gnt_i`."),
        Rule(f"{name}-STABLE", f"{payload} stay as they are until `{port}_gnt_i`."),
        Rule(f"{name}-RESET", f"`{port}_req_o` is low in reset."),
    )


def _local(port: str, kind: str) -> tuple[Rule, ...]:
    name = port.upper()
    space = "FB" if port == "par" else "an on-chip memory"
    return (
        Rule(f"{name}-ALIGN", f"`{port}_addr_o` is aligned to the word of the port."),
        Rule(f"{name}-SPACE", f"`{port}_space_o` is {space}."),
        Rule(f"{name}-OUTSIDE", f"No {kind} goes past the end of its memory."),
    )


CHANNELS = (
    Channel(
        "AXI read address",
        (
            *_addresses("AR", "read"),
            Rule(
                "AR-OVER-WRITE",
                "A read burst has no beat in common with a write burst of the same slot that is "
                "offered or whose B has not come.",
            ),
            _unknown("X-AR", "ARVALID, and what comes with it, is 0 or 1; in reset, too."),
        ),
    ),
    Channel(
        "AXI read data",
        (
            _memory("R-UNASKED", "Read data come for a burst that was taken."),
            _memory("R-LAST", "RLAST comes with the last beat of a burst and with no other."),
            *_response("R", "ARID", "RID, RDATA, RRESP and RLAST"),
            _unknown("X-R", "RREADY is 0 or 1."),
        ),
    ),
    Channel(
        "AXI write address",
        (
            *_addresses("AW", "write"),
            _unknown("X-AW", "AWVALID, and what comes with it, is 0 or 1; in reset, too."),
        ),
    ),
    Channel(
        "AXI write data",
        (
            Rule("W-HELD", "WVALID stays up until WREADY."),
            Rule("W-STABLE", "WDATA, WSTRB and WLAST stay as they are until WREADY."),
            Rule("W-LAST-EARLY", "WLAST does not come before the last beat of a burst."),
            Rule(
                "W-LAST-LATE",
                "WLAST comes with the last beat of a burst at the latest.",
            ),
            Rule("W-RESET", "WVALID is low in reset."),
            _unknown(
                "X-W",
                "WVALID, and with it WLAST, WSTRB and each enabled byte of WDATA, is 0 or 1; "
                "WVALID in reset, too.",
            ),
        ),
    ),
    Channel(
        "AXI write response",
        (
            _memory("B-UNASKED", "A response comes for a burst that was taken."),
            _memory("B-EARLY", "A response comes after the last beat of its burst."),
            *_response("B", "AWID", "BID and BRESP"),
            _unknown("X-B", "BREADY is 0 or 1."),
        ),
    ),
    Channel(
        "Descriptors",
        (
            _memory("DESC-HELD", "`desc_valid_i` stays up until `desc_ready_o`."),
            _memory(
                "DESC-STABLE", "`desc_i` and `desc_tag_i` stay as they are until `desc_ready_o`."
            ),
            _memory("DESC-MIXED", "A slot's descriptors come by the ring or by pins, not by both."),
            _unknown("X-DESC", "`desc_ready_o` is 0 or 1."),
        ),
    ),
    Channel(
        "Done records and busy",
        (
            Rule("DONE-HELD", "`done_valid_o` stays up until `done_ready_i`."),
            Rule("DONE-STABLE", "A record stays as it is until `done_ready_i`."),
            Rule("DONE-RESET", "`done_valid_o` is low in reset."),
            Rule(
                "DONE-ORDER",
                "Dones come in the order of the descriptors: the tag is that of the oldest "
                "accepted one, and not that of a younger one.",
            ),
            Rule(
                "DONE-TWICE",
                "A descriptor is answered once: the tag is not that of one of the last 16 that "
                "were answered, unless an accepted one has it again.",
            ),
            Rule(
                "DONE-UNKNOWN-TAG",
                "Only what was accepted is answered: the tag is that of an accepted descriptor, or "
                "else of one answered a moment ago (DONE-TWICE).",
            ),
            Rule("DONE-STATUS", "`done_status_o` is 0 to 6."),
            Rule("DONE-RULE", "`done_rule_o` is 0 unless the status is 1."),
            Rule("DONE-ADDR", "`done_addr_o` is 0 when the status is 0 or 1."),
            Rule(
                "DONE-EARLY-WRITE",
                "The done of a descriptor that is alone comes after its last B response and its "
                "last granted local write.",
            ),
            Rule(
                "DONE-EARLY-READ",
                "When the done of a descriptor that is alone comes, no data of GM or of `src` are "
                "owed.",
            ),
            Rule(
                "DONE-EARLY-PAR",
                "When the done of a descriptor that is alone comes, no data of `par` are owed.",
            ),
            Rule(
                "DONE-EARLY-FLAG",
                "When the done of a descriptor that is alone comes, no answer of `flag` is owed.",
            ),
            Rule(
                "RULE-TRAFFIC",
                "A descriptor that ends with status 1, no other having been there meanwhile, has "
                "moved neither AXI nor `src` nor `dst`.",
            ),
            Rule("BUSY-LOW", "`busy_o` is high while a descriptor is accepted and not answered."),
            Rule("BUSY-HIGH", "`busy_o` is low without a descriptor, from the second clock on."),
            Rule(
                "IDLE-TRAFFIC",
                "Without a descriptor no address, data or request is offered on any bus.",
            ),
            _unknown(
                "X-DONE",
                "`done_valid_o`, and with it tag, status, rule and address, is 0 or 1; "
                "`done_valid_o` in reset, too.",
            ),
            _unknown("X-BUSY", "`busy_o` is 0 or 1."),
        ),
    ),
    Channel(
        "Local read",
        (
            *_request("src", "`src_space_o` and `src_addr_o`"),
            *_local("src", "read"),
            _memory("SRC-UNASKED", "`src_rvalid_i` comes for a grant of an earlier clock."),
            _unknown("X-SRC", "`src_req_o`, and with it space and address, is 0 or 1."),
        ),
    ),
    Channel(
        "Local write",
        (
            *_request("dst", "`dst_space_o`, `dst_addr_o`, `dst_be_o` and `dst_wdata_o`"),
            *_local("dst", "write"),
            _unknown(
                "X-DST",
                "`dst_req_o`, and with it space, address, enables and each enabled byte, is 0 or "
                "1.",
            ),
        ),
    ),
    Channel(
        "Parameters",
        (
            *_request("par", "`par_space_o` and `par_addr_o`"),
            *_local("par", "read"),
            _memory("PAR-UNASKED", "`par_rvalid_i` comes for a grant of an earlier clock."),
            _unknown("X-PAR", "`par_req_o`, and with it space and address, is 0 or 1."),
        ),
    ),
    Channel(
        "Unit flags",
        (
            *_request("flag", "`flag_clear_o`, `flag_addr_o` and `flag_mask_o`"),
            Rule("FLAG-MASK", "`flag_mask_o` is not 0."),
            Rule("FLAG-READ", "Flags are read only for a descriptor whose op waits for flags."),
            Rule(
                "FLAG-CLEAR",
                "Flags are cleared only for the oldest descriptor, one of an op check_and_clear.",
            ),
            Rule("FLAG-AT-DONE", "No clear is asked for while a done is offered."),
            Rule("FLAG-NOT-SET", "A flag that is cleared was set."),
            _memory("FLAG-UNASKED", "`flag_rvalid_i` comes for a read of an earlier clock."),
            _unknown("X-FLAG", "`flag_req_o`, and with it clear, word and mask, is 0 or 1."),
        ),
    ),
    Channel(
        "The other side",
        (
            _unknown(
                "X-MEMORY",
                "What memories and drivers give is 0 or 1: readies and grants while they are asked "
                "for, valids, IDs, responses and RLAST.",
                "memory",
            ),
        ),
    ),
)

RULES: dict[str, Rule] = {rule.name: rule for channel in CHANNELS for rule in channel.rules}
"""Every rule by its name."""

_MESSAGE = re.compile(r"(?:^|\b\w+: )([A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+): ")


_CYCLE = re.compile(r"\bcycle (\d+)")
_SLOT = re.compile(rf"({'|'.join(SLOTS)}): ")


def protocol_failure(message: str, report: str) -> Failure:
    """Returns a checker's message as a failure.

    Args:
        message: Such as ``mte2: AR-4K: the burst crosses 4 KiB ... at 295 ns, cycle 29``.
        report: The message as the record has it.
    """
    rule, slot, cycle = rule_of(message), _SLOT.match(message), _CYCLE.search(message)
    clock = int(cycle[1]) if cycle else 0
    return Failure(
        kind="protocol",
        slot=slot[1] if slot else "",
        field=rule.name if rule else message.partition(" (")[0],
        rule=rule.name if rule else "",
        begin_clock=clock,
        end_clock=clock,
        text=report,
    )


def rule_of(message: str) -> Rule | None:
    """Returns the rule whose name begins a checker's ``message``, behind its slot, or None."""
    found = _MESSAGE.match(message)
    return RULES.get(found[1]) if found else None


_INTRODUCTION = """
What the checkers in `tb/hdl` watch in every run, on every slot: the port contract
([contract.md](contract.md)) and AXI4 as far as the contract takes it, which is INCR bursts of full
width, one ID for each direction and no exclusive accesses. Each rule has a name, and the name
begins its messages:

```
mte2: AR-4K: the burst crosses 4 KiB (ARADDR, ARLEN) (0xffffe2ece0, 0x3a) at 295 ns, cycle 29
```

That is the slot, the rule, what was seen, the values of what stands in brackets, and the time of
the clock edge. Each message counts every time; of each the first eight of a slot are printed.
A violation often drags others behind it: the first message is the one to read.

*Memory* in the second column marks rules for the other side of the port: memories, and drivers of
descriptors by pins. A message of one of them is no fault of the engine. Rules with *X* need four
states: Icarus sees them broken, Verilator cannot. A payload is looked at when it is first offered;
what changes after that is a matter of the rule STABLE.

`tests/hdl/proofs.py` has a violation of each rule, and a test shows that each brings that rule's
messages and no other's.
"""

_OUTSIDE = """
## What no checker can tell

* Whether valid waits for ready, or `rready` and `bready` for an address channel: an engine that
  does so hangs when the memory waits, too, and the watchdog ends the run. So does a descriptor
  that is never answered.
* Whether an address is the op's, whether a done comes early while other descriptors are in flight,
  whether status and rule are right: the scoreboard compares all of them with the model.
* That two descriptors are queued: it costs bubbles, and breaks nothing.
* Addresses past 2^40 cannot be said in 40 bits, and a burst that stays in its 4 KiB does not wrap.
* With TagWidth 4 or less the last 16 tags are all that there are: a tag that no descriptor has is
  then reported as DONE-TWICE.
"""


def page_text() -> str:
    """Returns the page: every rule with its name."""
    lines = [
        "<!-- Generated by `python -m tb.harness.protocol` from its table. Do not edit. -->",
        "# Protocol rules",
        *_INTRODUCTION.splitlines(),
    ]
    for channel in CHANNELS:
        lines += ["", f"## {channel.title}", "", "| rule | | |", "|---|---|---|"]
        for rule in channel.rules:
            marks = [
                word for word, on in (("memory", rule.who == "memory"), ("X", rule.needs_x)) if on
            ]
            lines.append(f"| `{rule.name}` | {', '.join(marks)} | {rule.text} |")
    lines += _OUTSIDE.splitlines()
    return "\n".join([*lines, ""])


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page_text())
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
