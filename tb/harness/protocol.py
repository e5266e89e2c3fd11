# SPDX-License-Identifier: Apache-2.0
"""The named rules that the checkers in tb/hdl check: ``python -m tb.harness.protocol``.

The names begin the messages of the checkers, ``"mte2: AR-4K: the burst crosses 4 KiB (..."``, and
:func:`rule_of` goes back. ``docs/protocol.md`` is generated from here. Sources: docs/contract.md,
and the AMBA AXI4 specification.
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
"""Path of the generated page, from the top of the project."""

Who = Literal["engine", "memory"]


@dataclass(frozen=True)
class Rule:
    """A rule of the protocol.

    Attributes:
        name: Begins its messages.
        text: Its requirement, one sentence.
        who: The side that causes a violation: the engine, or memories and drivers of descriptors.
        needs_x: Only a four-state simulator finds a violation.
    """

    name: str
    text: str
    who: Who = "engine"
    needs_x: bool = False

    @property
    def unknown_output(self) -> bool:
        """A violation is an X or Z at an output of the engine."""
        return self.needs_x and self.who == "engine"


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
        Rule(f"{channel}-HELD", f"{valid} stays high until {ready}."),
        Rule(
            f"{channel}-STABLE",
            f"{channel}ID, {addr}, {channel}LEN, {channel}SIZE and {channel}BURST stay as they are "
            f"until {ready}.",
        ),
        Rule(f"{channel}-BURST", f"{channel}BURST is INCR."),
        Rule(f"{channel}-SIZE", f"{channel}SIZE is the bus width: beats have full width."),
        Rule(f"{channel}-ALIGN", f"{addr} is aligned to the bus word."),
        Rule(f"{channel}-4K", "No burst crosses a 4 KiB boundary."),
        Rule(f"{channel}-ID", f"All bursts between two resets have the same {channel}ID."),
        Rule(
            f"{channel}-LIMIT",
            f"At most `NumOutstanding` {direction} bursts, and at most as many as the manifest "
            "claims, are outstanding.",
        ),
        Rule(f"{channel}-RESET", f"{valid} is low in reset."),
    )


def _response(channel: str, ident: str, payload: str) -> tuple[Rule, ...]:
    return (
        _memory(f"{channel}-HELD", f"{channel}VALID stays high until {channel}READY."),
        _memory(f"{channel}-STABLE", f"{payload} are stable until {channel}READY."),
        _memory(f"{channel}-ID", f"{channel}ID equals the {ident} of the burst."),
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
        Rule(f"{name}-HELD", f"`{port}_req_o` stays high until `{port}_gnt_i`."),
        Rule(f"{name}-STABLE", f"{payload} are stable until `{port}_gnt_i`."),
        Rule(f"{name}-RESET", f"`{port}_req_o` is low in reset."),
    )


def _local(port: str, kind: str) -> tuple[Rule, ...]:
    name = port.upper()
    space = "FB" if port == "par" else "an on-chip memory"
    return (
        Rule(f"{name}-ALIGN", f"`{port}_addr_o` is aligned to the word of the port."),
        Rule(f"{name}-SPACE", f"`{port}_space_o` is {space}."),
        Rule(f"{name}-OUTSIDE", f"No {kind} exceeds the end of its memory."),
    )


CHANNELS = (
    Channel(
        "AXI read address",
        (
            *_addresses("AR", "read"),
            Rule(
                "AR-OVER-WRITE",
                "A read burst shares no beat with a write burst of the same slot that is offered "
                "or has no B yet.",
            ),
            _unknown("X-AR", "ARVALID, and the payload with it, is 0 or 1; ARVALID in reset, too."),
        ),
    ),
    Channel(
        "AXI read data",
        (
            _memory("R-UNASKED", "Read data belong to an accepted burst."),
            _memory("R-LAST", "RLAST is high with the last beat of a burst only."),
            *_response("R", "ARID", "RID, RDATA, RRESP and RLAST"),
            _unknown("X-R", "RREADY is 0 or 1."),
        ),
    ),
    Channel(
        "AXI write address",
        (
            *_addresses("AW", "write"),
            _unknown("X-AW", "AWVALID, and the payload with it, is 0 or 1; AWVALID in reset, too."),
        ),
    ),
    Channel(
        "AXI write data",
        (
            Rule("W-HELD", "WVALID stays high until WREADY."),
            Rule("W-STABLE", "WDATA, WSTRB and WLAST are stable until WREADY."),
            Rule("W-LAST-EARLY", "WLAST is low before the last beat of a burst."),
            Rule(
                "W-LAST-LATE",
                "WLAST is high with the last beat of a burst.",
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
            _memory("B-UNASKED", "A response belongs to an accepted burst."),
            _memory("B-EARLY", "A response follows the last beat of its burst."),
            *_response("B", "AWID", "BID and BRESP"),
            _unknown("X-B", "BREADY is 0 or 1."),
        ),
    ),
    Channel(
        "Descriptors",
        (
            _memory("DESC-HELD", "`desc_valid_i` stays high until `desc_ready_o`."),
            _memory("DESC-STABLE", "`desc_i` and `desc_tag_i` are stable until `desc_ready_o`."),
            _memory(
                "DESC-MIXED",
                "The descriptors of a slot are offered by the ring or by pins, not by both.",
            ),
            _unknown("X-DESC", "`desc_ready_o` is 0 or 1."),
        ),
    ),
    Channel(
        "Done records and busy",
        (
            Rule("DONE-HELD", "`done_valid_o` stays high until `done_ready_i`."),
            Rule("DONE-STABLE", "A record is stable until `done_ready_i`."),
            Rule("DONE-RESET", "`done_valid_o` is low in reset."),
            Rule(
                "DONE-ORDER",
                "Dones are in the order of the descriptors: the tag is that of the oldest accepted "
                "one, not of a younger one.",
            ),
            Rule(
                "DONE-TWICE",
                "A descriptor has one done: the tag is none of the last 16 done tags, unless an "
                "accepted descriptor has it again.",
            ),
            Rule(
                "DONE-UNKNOWN-TAG",
                "Only accepted descriptors have dones: the tag is that of an accepted descriptor, "
                "or one of the last done tags (DONE-TWICE).",
            ),
            Rule("DONE-STATUS", "`done_status_o` is 0 to 6."),
            Rule("DONE-RULE", "`done_rule_o` is 0 unless the status is 1."),
            Rule("DONE-ADDR", "`done_addr_o` is 0 when the status is 0 or 1."),
            Rule(
                "DONE-EARLY-WRITE",
                "The done of a descriptor that is alone follows its last B response and its last "
                "granted local write.",
            ),
            Rule(
                "DONE-EARLY-READ",
                "At the done of a descriptor that is alone, no data of GM or `src` are pending.",
            ),
            Rule(
                "DONE-EARLY-PAR",
                "At the done of a descriptor that is alone, no data of `par` are pending.",
            ),
            Rule(
                "DONE-EARLY-FLAG",
                "At the done of a descriptor that is alone, no answer of `flag` is pending.",
            ),
            Rule(
                "RULE-TRAFFIC",
                "A descriptor that is alone and ends with status 1 causes no access on AXI, `src` "
                "or `dst`.",
            ),
            Rule("BUSY-LOW", "`busy_o` is high while a descriptor is accepted and not done."),
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
            _memory("SRC-UNASKED", "`src_rvalid_i` belongs to a grant of an earlier clock."),
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
            _memory("PAR-UNASKED", "`par_rvalid_i` belongs to a grant of an earlier clock."),
            _unknown("X-PAR", "`par_req_o`, and with it space and address, is 0 or 1."),
        ),
    ),
    Channel(
        "Unit flags",
        (
            *_request("flag", "`flag_clear_o`, `flag_addr_o` and `flag_mask_o`"),
            Rule("FLAG-MASK", "`flag_mask_o` is not 0."),
            Rule("FLAG-READ", "Flags are read only for an op that waits for flags."),
            Rule(
                "FLAG-CLEAR",
                "Flags are cleared only for the oldest descriptor, and only with check_and_clear.",
            ),
            Rule("FLAG-AT-DONE", "No clear is requested while a done is offered."),
            Rule("FLAG-NOT-SET", "Only set flags are cleared."),
            _memory("FLAG-UNASKED", "`flag_rvalid_i` belongs to a read of an earlier clock."),
            _unknown("X-FLAG", "`flag_req_o`, and with it clear, word and mask, is 0 or 1."),
        ),
    ),
    Channel(
        "Memories and drivers",
        (
            _unknown(
                "X-MEMORY",
                "Outputs of memories and drivers are 0 or 1: readies and grants while requested, "
                "valids, IDs, responses and RLAST.",
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
    """Returns the rule whose name begins a checker's ``message``, after its slot, or None."""
    found = _MESSAGE.match(message)
    return RULES.get(found[1]) if found else None


_INTRODUCTION = """
The checkers in `tb/hdl` check these rules in every run, on every slot: the port contract
([contract.md](contract.md)) and the AXI4 subset of the contract, INCR bursts of full width with one
ID for each direction and no exclusive accesses. A message begins with slot and rule, followed by
the violation, the values of the signals in brackets, and the time of the clock edge:

```
mte2: AR-4K: the burst crosses 4 KiB (ARADDR, ARLEN) (0xffffe2ece0, 0x3a) at 295 ns, cycle 29
```

All messages are counted; the first eight of each kind on a slot are printed. A violation often
causes others, so read the first message.

*Memory* in the second column marks rules for memories and for drivers of descriptors by pins: the
engine does not cause their violations. Rules with *X* need a four-state simulator such as Icarus. A
payload is checked when it is first offered; the rule STABLE covers later changes.

`tests/hdl/proofs.py` has a violation of each rule, and a test shows that it causes messages of this
rule only.
"""

_OUTSIDE = """
## Not checked by checkers

* Whether valid waits for ready, or `rready` and `bready` for an address channel: such an engine
  hangs when the memory waits, too, and the watchdog ends the run. Each channel of the harness does
  so at times (knob `ready_after_valid`), and the hang report names it. The same holds for a
  descriptor without a done.
* Whether an address belongs to the op, whether a done is early while other descriptors are in
  flight, whether status and rule are right: the scoreboard compares them with the model.
* Whether two descriptors are queued: it costs bubbles only.
* Addresses beyond 2^40: 40 bits cannot express them, and a burst within 4 KiB does not wrap.
* With TagWidth 4 or less the last 16 tags are all tags: an unknown tag is reported as DONE-TWICE.
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
