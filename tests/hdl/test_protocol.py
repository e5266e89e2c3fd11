# SPDX-License-Identifier: Apache-2.0
"""The protocol rules: their table, its page, and a violation of each in simulation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tb.common.paths import HDL, MEMORY, ROOT
from tb.harness.protocol import PAGE, RULES, page_text, rule_of
from tests.hdl.mini import ENGINES, Session, bench_build, run
from tests.hdl.proofs import CONTROL, FIELDS, PROOFS, X_NUMBERS
from tests.hdl.simulators import SIMULATORS

MODULE = "tests.hdl.protocol_bench"
NAME = r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+"
TEXT = re.compile(rf'"({NAME}: [^"]*)"')

INSIDE = "mte1"
TIMED = re.compile(r"\w+: .* \(0x[0-9a-f]+, 0x[0-9a-f]+\) at \d+ ns, cycle \d+")


def texts() -> set[str]:
    """Returns the texts of all messages in tb/hdl."""
    files = [path for path in HDL.rglob("*") if path.suffix in (".v", ".vh", ".c", ".h")]
    return {text for path in files for text in TEXT.findall(path.read_text())}


@pytest.fixture(scope="module", params=SIMULATORS)
def session(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp(request.param)
    return run(bench_build("script", request.param), ["proofs", "owed"], folder, module=MODULE)


Seen = dict[str, list[tuple[str, list[str]]]]
"""Of each rule the slot and the messages of each script that violates it."""


@pytest.fixture
def seen(session: Session) -> Seen:
    assert session.failures["proofs"] is None, session.failures["proofs"]
    assert session.exit_code == 0
    found: Seen = json.loads((session.folder / "result.json").read_text())
    return found


@pytest.fixture
def lines(seen: Seen) -> list[str]:
    """The messages of all scripts."""
    return [line for played in seen.values() for _, messages in played for line in messages]


@pytest.mark.sim
def test_a_legal_script_brings_no_message(seen: Seen) -> None:
    assert seen["CLEAN"]
    assert not any(messages for _, messages in seen["CLEAN"]), seen["CLEAN"]


@pytest.mark.sim
def test_each_violation_reports_its_rule_and_no_other(seen: Seen) -> None:
    wrong = {}
    for name, played in seen.items():
        for number, (slot, messages) in enumerate(played):
            rules = {rule.name if (rule := rule_of(line)) else line for line in messages}
            if name != "CLEAN" and rules != {name}:
                wrong[name, number, slot] = messages
    assert not wrong


@pytest.mark.sim
def test_a_done_record_has_what_the_slot_owes(session: Session) -> None:
    assert session.failures["owed"] is None, session.failures["owed"]


@pytest.mark.sim
def test_a_message_names_the_slot_that_violates_its_rule(seen: Seen) -> None:
    for name, played in seen.items():
        for slot, messages in played:
            # The checkers inside the engine have the name of slot mte1.
            assert {line.split(":")[0] for line in messages} <= {slot, INSIDE}, (name, messages)
    of_slots = {slot for played in seen.values() for slot, messages in played if messages}
    assert of_slots == set(ENGINES["script"])


@pytest.mark.sim
def test_a_message_has_values_time_and_cycle(lines: list[str]) -> None:
    assert lines
    assert all(TIMED.fullmatch(line) for line in lines)


@pytest.mark.sim
def test_every_text_is_reported(session: Session, lines: list[str]) -> None:
    reported = {line.split(": ", 1)[1].rpartition(" (0x")[0] for line in lines}
    unseen = texts() - reported
    if session.folder.name.startswith("verilator"):
        unseen = {text for text in unseen if not text.startswith("X-")}
    assert not unseen


@pytest.mark.sim
def test_the_log_has_the_messages_too(session: Session, lines: list[str]) -> None:
    assert "pto: mte2: AR-HELD: ARVALID fell before ARREADY" in session.log
    assert session.mailbox.progress().errors >= len(lines) > 100


def test_every_rule_has_a_proof_and_a_message() -> None:
    assert set(PROOFS) == set(RULES)
    assert {text.split(":")[0] for text in texts()} == set(RULES)
    for name, scripts in PROOFS.items():
        # Actions of the engine are observed at its pins.
        assert all(script.direct for script in scripts) <= (RULES[name].who == "memory"), name


def test_every_error_of_the_harness_has_a_rule() -> None:
    for path in HDL.glob("*.v*"):
        for text in re.findall(r'`PTO_ERROR\(\w+, "([^"]*)"', path.read_text()):
            # Rules of the harness concern errors inside its modules.
            assert rule_of(text) or text.startswith("harness: "), (path.name, text)
    for path in MEMORY.iterdir():
        calls = re.findall(r"\bpto_error\([^;]*;", path.read_text())
        for text in (text for call in calls for text in re.findall(r'"([^"]*)"', call)):
            assert rule_of(text), (path.name, text)


def test_page_is_not_stale() -> None:
    assert (ROOT / PAGE).read_text() == page_text(), "run python -m tb.harness.protocol"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("mte2: AR-4K: the burst crosses 4 KiB (ARADDR, ARLEN) (0x0, 0x3a) at 295 ns", "AR-4K"),
        ("X-AR: X or Z on ARID", "X-AR"),
        ("harness: DONE-TWICE: tag", "DONE-TWICE"),
        ("mte2: NO-SUCH-RULE: text", None),
        ("mte2: descriptors", None),
        ("", None),
    ],
)
def test_a_message_leads_to_its_rule(message: str, name: str | None) -> None:
    assert rule_of(message) is (RULES[name] if name else None)


def test_the_stub_has_the_same_fields() -> None:
    text = (Path(__file__).parent / "verilog/script_dma.v").read_text()
    unpacked = re.search(r"assign \{([^}]*)\} = vector;", text)
    assert unpacked
    assert re.findall(r"v_(\w+)", unpacked[1]) == list(FIELDS)
    numbers = {name.lower(): int(value) for name, value in re.findall(r"X_(\w+) = (\d+)", text)}
    assert numbers == X_NUMBERS
    assert set(FIELDS) == set(X_NUMBERS) | set(CONTROL)
