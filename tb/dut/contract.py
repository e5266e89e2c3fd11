# SPDX-License-Identifier: Apache-2.0
"""The port contract as tables: parameters and ports of an engine.

The check of a DUT (ports.py), the wrapper of a new one (scaffold.py) and the tables of
docs/contract.md are made from these rows. ``python -m tb.dut.contract`` renews the page.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tb.isa.fields import DESC_BITS
from tb.isa.ops import SLOTS
from tb.isa.spaces import GM_ADDR_BITS

PAGE = Path("docs/contract.md")
"""Page with the tables, from the top of the project."""

Direction = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an engine.

    Attributes:
        name: Its name.
        default: What the reference engines have, bits or a count.
        doc: What it is.
        passed: The harness sets it, so an engine must have it; the others always have their
            default, and an engine may do without them.
        slots: Slots whose engines have it.
    """

    name: str
    default: int
    doc: str
    passed: bool = True
    slots: tuple[str, ...] = SLOTS


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an engine.

    Attributes:
        name: Its name.
        direction: Seen from the engine.
        width: Bits, as a number, a parameter or a parameter divided by a number. ``SrcDataWidth``
            is ``LocalDataWidth`` in slots without that parameter.
        doc: What it carries.
        slots: Slots whose engines have it.
    """

    name: str
    direction: Direction
    width: str
    doc: str
    slots: tuple[str, ...] = SLOTS

    def width_in(self, slot: str) -> str:
        """Returns the expression of the width for an engine of ``slot``."""
        if self.width == "SrcDataWidth" and slot != "fix":
            return "LocalDataWidth"
        return self.width

    def bits(self, slot: str, values: Mapping[str, int]) -> int:
        """Returns the width in bits at these values of the parameters."""
        name, _, divisor = self.width_in(slot).partition("/")
        whole = int(name) if name.isdecimal() else values[name]
        return whole // int(divisor or 1)


PARAMETERS: tuple[Parameter, ...] = (
    Parameter("GmAddrWidth", GM_ADDR_BITS, "bits of a GM byte address", passed=False),
    Parameter("GmDataWidth", 256, "bits of the AXI data bus: 128, 256 or 512"),
    Parameter("LocalAddrWidth", 20, "bits of a local byte address", passed=False),
    Parameter("LocalDataWidth", 256, "bits of a word of the local ports: 128, 256 or 512"),
    Parameter(
        "SrcDataWidth",
        512,
        "bits of a word of `src` and `par`, whatever `LocalDataWidth` is",
        slots=("fix",),
    ),
    Parameter("DescWidth", DESC_BITS, "bits of a descriptor", passed=False),
    Parameter("TagWidth", 8, "bits of a tag: 1 to 16"),
    Parameter("NumOutstanding", 16, "most AXI bursts in flight in each direction: 1 to 64"),
    Parameter("AxiIdWidth", 4, "bits of the AXI IDs; one ID per direction is used", passed=False),
)
"""Parameters in the order of a module's header."""


def _par_flag(name: str, direction: Direction, width: str, doc: str) -> Port:
    return Port(name, direction, width, doc, ("fix",))


PORTS: tuple[Port, ...] = (
    Port("clk_i", "input", "1", "clock"),
    Port("rst_ni", "input", "1", "asynchronous reset, active low"),
    Port("desc_valid_i", "input", "1", "descriptor offered"),
    Port("desc_ready_o", "output", "1", "descriptor taken"),
    Port("desc_i", "input", "DescWidth", "descriptor"),
    Port("desc_tag_i", "input", "TagWidth", "its tag"),
    Port("done_valid_o", "output", "1", "an op is done"),
    Port("done_ready_i", "input", "1", "report taken"),
    Port("done_tag_o", "output", "TagWidth", "its tag"),
    Port("done_status_o", "output", "3", "status code"),
    Port("done_rule_o", "output", "8", "violated rule or 0"),
    Port("done_addr_o", "output", "GmAddrWidth", "address of the first bad access or 0"),
    Port("busy_o", "output", "1", "an op was taken and is not done"),
    Port("src_req_o", "output", "1", "local read, stable until granted"),
    Port("src_gnt_i", "input", "1", "request taken"),
    Port("src_space_o", "output", "3", "memory"),
    Port("src_addr_o", "output", "LocalAddrWidth", "byte address, word aligned"),
    Port("src_rvalid_i", "input", "1", "reply, in order"),
    Port("src_rdata_i", "input", "SrcDataWidth", "word"),
    Port("src_err_i", "input", "1", "the read failed, with the reply"),
    Port("dst_req_o", "output", "1", "local write, stable until granted"),
    Port("dst_gnt_i", "input", "1", "write done"),
    Port("dst_space_o", "output", "3", "memory"),
    Port("dst_addr_o", "output", "LocalAddrWidth", "byte address, word aligned"),
    Port("dst_be_o", "output", "LocalDataWidth/8", "byte enables"),
    Port("dst_wdata_o", "output", "LocalDataWidth", "word"),
    Port("dst_err_i", "input", "1", "the write failed, with the grant"),
    _par_flag("par_req_o", "output", "1", "parameter read, stable until granted"),
    _par_flag("par_gnt_i", "input", "1", "request taken"),
    _par_flag("par_space_o", "output", "3", "memory, FB"),
    _par_flag("par_addr_o", "output", "LocalAddrWidth", "byte address, word aligned"),
    _par_flag("par_rvalid_i", "input", "1", "reply, in order"),
    _par_flag("par_rdata_i", "input", "SrcDataWidth", "word"),
    _par_flag("par_err_i", "input", "1", "the read failed, with the reply"),
    _par_flag("flag_req_o", "output", "1", "unit flags: request, stable until granted"),
    _par_flag("flag_gnt_i", "input", "1", "request taken"),
    _par_flag("flag_clear_o", "output", "1", "0 read a word of flags, 1 clear flags"),
    _par_flag("flag_addr_o", "output", "4", "word: flags of blocks 32*addr to 32*addr + 31"),
    _par_flag("flag_mask_o", "output", "32", "flags waited for, or cleared; not 0"),
    _par_flag("flag_rvalid_i", "input", "1", "reply to a read, in order"),
    _par_flag("flag_rdata_i", "input", "32", "flags of the word"),
    Port("m_axi_arid", "output", "AxiIdWidth", "the same for every read"),
    Port("m_axi_araddr", "output", "GmAddrWidth", "burst address, bus word aligned"),
    Port("m_axi_arlen", "output", "8", "beats less 1"),
    Port("m_axi_arsize", "output", "3", "bus width"),
    Port("m_axi_arburst", "output", "2", "INCR"),
    Port("m_axi_arvalid", "output", "1", "burst offered"),
    Port("m_axi_arready", "input", "1", "burst taken"),
    Port("m_axi_rid", "input", "AxiIdWidth", "that of the burst"),
    Port("m_axi_rdata", "input", "GmDataWidth", "beat"),
    Port("m_axi_rresp", "input", "2", "response"),
    Port("m_axi_rlast", "input", "1", "last beat of the burst"),
    Port("m_axi_rvalid", "input", "1", "beat offered"),
    Port("m_axi_rready", "output", "1", "beat taken"),
    Port("m_axi_awid", "output", "AxiIdWidth", "the same for every write"),
    Port("m_axi_awaddr", "output", "GmAddrWidth", "burst address, bus word aligned"),
    Port("m_axi_awlen", "output", "8", "beats less 1"),
    Port("m_axi_awsize", "output", "3", "bus width"),
    Port("m_axi_awburst", "output", "2", "INCR"),
    Port("m_axi_awvalid", "output", "1", "burst offered"),
    Port("m_axi_awready", "input", "1", "burst taken"),
    Port("m_axi_wdata", "output", "GmDataWidth", "beat"),
    Port("m_axi_wstrb", "output", "GmDataWidth/8", "byte strobes"),
    Port("m_axi_wlast", "output", "1", "last beat of the burst"),
    Port("m_axi_wvalid", "output", "1", "beat offered"),
    Port("m_axi_wready", "input", "1", "beat taken"),
    Port("m_axi_bid", "input", "AxiIdWidth", "that of the burst"),
    Port("m_axi_bresp", "input", "2", "response"),
    Port("m_axi_bvalid", "input", "1", "response offered"),
    Port("m_axi_bready", "output", "1", "response taken"),
)
"""Ports in the order of a module's header."""


def parameters_of(slot: str) -> tuple[Parameter, ...]:
    """Returns the parameters of an engine of ``slot``."""
    return tuple(parameter for parameter in PARAMETERS if slot in parameter.slots)


def ports_of(slot: str) -> tuple[Port, ...]:
    """Returns the ports of an engine of ``slot``."""
    return tuple(port for port in PORTS if slot in port.slots)


def _parameter_rows() -> list[str]:
    rows = ["| parameter | default | set by the harness | meaning |", "|---|---|---|---|"]
    for item in PARAMETERS:
        passed = "yes" if item.passed else "no: always the default"
        if item.slots != SLOTS:
            passed += f", slot {', '.join(item.slots)} only"
        rows.append(f"| `{item.name}` | {item.default} | {passed} | {item.doc} |")
    return rows


def _port_rows() -> list[str]:
    rows = ["| port | direction | bits | slots | carries |", "|---|---|---|---|---|"]
    for item in PORTS:
        slots = "all" if item.slots == SLOTS else ", ".join(item.slots)
        rows.append(f"| `{item.name}` | {item.direction} | {item.width} | {slots} | {item.doc} |")
    return rows


def renewed(text: str) -> str:
    """Returns the text of the page with its tables generated again, between their marks.

    Raises:
        ValueError: a mark is missing.
    """
    for name, rows in (("parameters", _parameter_rows()), ("ports", _port_rows())):
        begin = (
            f"<!-- Table of {name}: generated by `python -m tb.dut.contract`. Do not edit. -->\n"
        )
        end = f"<!-- End of the table of {name}. -->\n"
        before, mark, rest = text.partition(begin)
        _, end_mark, after = rest.partition(end)
        if not mark or not end_mark:
            raise ValueError(f"{PAGE} has no marks for the table of {name}")
        table = "\n".join(["", *rows, "", ""])
        text = before + begin + table + end + after
    return text


def main() -> int:
    """Writes the page."""
    PAGE.write_text(renewed(PAGE.read_text()))
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
