# SPDX-License-Identifier: Apache-2.0
"""Fourth stage of a run: from the ended simulation to the record with its verdict."""

from __future__ import annotations

import signal
from pathlib import Path

from cocotb_tools.check_results import get_results

from tb.harness.hang_report import in_flight_failures
from tb.harness.mailbox import MailboxReader
from tb.harness.protocol import protocol_failure
from tb.record.record import RunRecord
from tb.run.exchange import SimResult
from tb.run.folder import MAILBOX, RESULT, RESULTS_XML
from tb.run.launch import Simulation
from tb.run.plan import RunPlan
from tb.run.verdict import verdict


def judge(plan: RunPlan, simulation: Simulation, record: RunRecord) -> None:
    """Fills the record of a simulation, from its result or from its lack of one."""
    folder = plan.folder
    if simulation.stalled or not (folder / RESULT).exists():
        _judge_without_result(record, simulation, folder)
        return
    result = SimResult.model_validate_json((folder / RESULT).read_text())
    judged = verdict(result, plan.settings, plan.served, fixed_length=plan.test.fixed_length)
    for name, value in result.counters().items():
        setattr(record, name, value)
    record.status = judged.status
    record.message = judged.message
    record.left_out = [*plan.left_out, *result.left_out, *judged.left_out]
    record.times.simulator = result.simulator_seconds
    record.times.python = sum(result.python_split.values())
    record.times.python_split = result.python_split
    if record.status == "pass" and _raised(folder):
        record.status = "error"
        record.message = f"the test raised an exception after its result; see {simulation.log}"
    if record.status == "pass" and simulation.exit_code:
        record.status = "crash"
        record.message = (
            f"the simulator ended with exit code {simulation.exit_code} after a good result; "
            f"see {simulation.log}"
        )


def _raised(folder: Path) -> bool:
    """Tells whether a phase of the test raised after the one that wrote the result."""
    results = folder / RESULTS_XML
    return results.exists() and get_results(results)[1] > 0


def _judge_without_result(record: RunRecord, simulation: Simulation, folder: Path) -> None:
    """Fills the record of a simulation that was ended or crashed, from its mailbox."""
    tail = "\n".join(simulation.log.read_text(errors="replace").splitlines()[-12:])
    if simulation.stalled:
        record.status = "hang"
        limits = record.settings
        how = "ended by wall time"
        record.message = (
            f"no end after the {limits.time_limit:g} s that the run may take: simulator ended"
            if limits.time_limit and simulation.seconds > limits.time_limit - 1
            else f"no progress for {limits.wall_limit:g} s of wall time: simulator ended"
        )
    else:
        record.status = "crash"
        code = simulation.exit_code
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        record.message = f"the simulator ended without a result ({how}); last lines:\n{tail}"
    note_progress(record, folder)
    for failure in in_flight_failures(folder / MAILBOX, record.status, how):
        record.note(failure)


def note_progress(record: RunRecord, folder: Path) -> None:
    """Fills the record of a run without a result from its mailbox."""
    if not (folder / MAILBOX).exists():
        return
    reader = MailboxReader.open(folder / MAILBOX)
    now = reader.progress()
    record.transactions = now.checked
    record.mismatches = now.mismatches
    record.protocol_errors = now.errors
    record.clocks = now.cycles
    for text in reader.error_messages():
        record.note(protocol_failure(text, f"protocol: {text}"))
