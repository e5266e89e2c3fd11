# SPDX-License-Identifier: Apache-2.0
"""Fourth stage of a run: from the ended simulation to the record with its verdict.

:func:`verdict` is the one place that decides on PASS. A run passes only if transactions were sent
and bytes were checked. Bytes of each op of ``OPS`` must have been checked, or the record names the
op in ``left_out`` with the reason. See docs/failures.md, "Empty runs".
"""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cocotb_tools.check_results import get_results

from tb.common.errors import PtoError
from tb.common.text import counted
from tb.harness.hang_report import in_flight_failures
from tb.harness.mailbox_reader import MailboxReader, Snapshot
from tb.harness.protocol import protocol_failure
from tb.record.record import CoverageSummary, OpCount, RunRecord, RunStatus
from tb.record.settings import RunSettings
from tb.run.exchange import SimResult
from tb.run.folder import COVERAGE, MAILBOX, RESULT, RESULTS_XML
from tb.run.launch import Simulation
from tb.run.messages import last_words
from tb.run.plan import RunPlan


def judge(plan: RunPlan, simulation: Simulation, record: RunRecord) -> None:
    """Fills the record of a simulation from its result, or from its mailbox if it has none."""
    folder = plan.folder
    if simulation.stalled or not (folder / RESULT).exists():
        _judge_without_result(record, simulation, folder)
    else:
        _judge_result(plan, simulation, record)
    _judge_messages(simulation, record)


def _judge_result(plan: RunPlan, simulation: Simulation, record: RunRecord) -> None:
    """Fills the record of a simulation that has written a result."""
    folder = plan.folder
    result = SimResult.model_validate_json((folder / RESULT).read_text())
    judged = verdict(result, plan.settings, plan.served, fixed_length=plan.test.fixed_length)
    _copy(result, record)
    record.status = judged.status
    record.message = judged.message
    record.left_out = [*plan.left_out, *result.left_out, *judged.left_out]
    if record.status == "pass" and _raised(folder):
        record.status = "error"
        record.message = f"the test raised an exception after its result; see {simulation.log}"
    if record.status == "pass" and simulation.exit_code:
        record.status = "crash"
        record.message = (
            f"the simulator ended with exit code {simulation.exit_code} after a good result; "
            f"see {simulation.log}"
        )


def _copy(result: SimResult, record: RunRecord) -> None:
    """Copies the figures of a result."""
    for name, value in result.counters().items():
        setattr(record, name, value)
    record.times.simulator = result.simulator_seconds
    record.times.python = sum(result.python_split.values())
    record.times.python_split = result.python_split
    record.times.course = result.course


def _judge_messages(simulation: Simulation, record: RunRecord) -> None:
    """Notes the messages of the design; an error that is not expected fails the run.

    The end of a simulation by the design is the reason of a run without a result.
    """
    record.messages = simulation.messages
    failed = [one for one in record.messages if one.fails]
    record.design_errors = sum(one.count for one in failed)
    for one in failed:
        record.note(one.failure())
    if failed and record.status != "hang":
        record.status = "fail"
        ended = next((one for one in failed if one.severity not in ("error", "warning")), None)
        what = f"the design ended the simulation: {ended.what}, {ended.place}" if ended else ""
        reported = f"{counted(record.design_errors, 'error')} reported by the design"
        others = record.message if record.mismatches or record.protocol_errors else ""
        record.message = "; ".join(filter(None, (what or reported, others)))


def _raised(folder: Path) -> bool:
    """Returns whether a phase of the test raised after the one that wrote the result."""
    results = folder / RESULTS_XML
    return results.exists() and get_results(results)[1] > 0


def _judge_without_result(record: RunRecord, simulation: Simulation, folder: Path) -> None:
    """Fills the record of a simulation that was ended or crashed, from its mailbox.

    One that was ended by request has a result with all its figures, too.
    """
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
        words = last_words(simulation.log.read_text(errors="replace"))
        record.message = f"the simulator ended without a result ({how}); last lines:\n{words}"
    snapshot = note_progress(record, folder)
    for failure in in_flight_failures(snapshot, record.status, how) if snapshot else ():
        record.note(failure)


def note_progress(record: RunRecord, folder: Path) -> Snapshot | None:
    """Fills the record of a run that was ended, from its result if it has one, or its mailbox.

    Returns:
        The mailbox's state, None without a mailbox.
    """
    if not (folder / MAILBOX).exists():
        return None
    snapshot = MailboxReader.open(folder / MAILBOX).snapshot()
    if (folder / RESULT).exists():
        _copy(SimResult.model_validate_json((folder / RESULT).read_text()), record)
        return snapshot
    now = snapshot.progress
    record.transactions = now.checked
    record.mismatches = now.mismatches
    record.protocol_errors = now.errors
    record.clocks = now.cycles
    if (folder / COVERAGE).exists():
        from tb.coverage.export.exchange import from_json

        kept = from_json(json.loads((folder / COVERAGE).read_text()))
        record.coverage = CoverageSummary(
            percent=kept.percent,
            covered=kept.covered,
            bins=kept.total,
            groups={name: counts.percent for name, counts in kept.groups.items()},
            file=str(folder / COVERAGE),
        )
    for text in snapshot.messages:
        record.note(protocol_failure(text, f"protocol: {text}"))
    return snapshot


@dataclass(frozen=True)
class Verdict:
    """How a run ended, why, and of which ops of ``OPS`` no byte was checked."""

    status: RunStatus
    message: str = ""
    left_out: tuple[str, ...] = ()


def verdict(
    result: SimResult, settings: RunSettings, served: tuple[str, ...], *, fixed_length: bool = False
) -> Verdict:
    """Returns the verdict on a result.

    Args:
        result: The counts of the simulation.
        settings: The settings of the run, with ``ops`` as the user gave it.
        served: Ops and legacy forms that the engines of the build take.
        fixed_length: The test ignores N.
    """
    if result.ended is not None:
        return Verdict(result.ended, result.message)
    if result.mismatches or result.protocol_errors:
        agreed = result.agreed == result.mismatches and not result.protocol_errors
        why = "DUT and model agree, and a check of what they left fails"
        if not agreed:
            why = "the DUT differs from the model"
            slow = sum(one.missed for one in result.speed)
            if slow and slow == result.mismatches and not result.protocol_errors:
                why = "the DUT is slower than the limits of its manifest"
            leaks = sum(bool(one.unlike) for one in result.capacity)
            if leaks and leaks == result.mismatches and not result.protocol_errors:
                why = "the DUT holds more or less at the end than at the start"
        elif any(not one.same for one in result.schedules):
            why = "the schedules of a program leave different bytes"
        return Verdict("fail", why)
    if not result.complete:
        return Verdict("error", "the test ended before its time; see the log")
    missing = {
        op: _reason(op, result, settings, served, fixed_length=fixed_length)
        for op in settings.ops
        if not _count(result.ops, op).bytes
    }
    unexplained = [op for op, reason in missing.items() if not reason]
    left_out = tuple(f"{op}: {reason or 'no reason is known'}" for op, reason in missing.items())
    what = ""
    if not result.transactions:
        # The replay of products of the host alone sends nothing, which is its caveat.
        if not (settings.programs and result.caveat):
            what = "nothing was sent: 0 transactions"
    elif settings.programs:
        # The user chose these ops one by one: refused ops and NOPs of a program are not accident.
        if not result.bytes_checked:
            left_out += ("bytes: each op of the programs is a NOP, was refused or met an error",)
    elif not result.bytes_checked:
        what = f"no byte was checked: {result.transactions} transactions moved none"
    elif settings.ops and len(missing) == len(settings.ops):
        what = "no byte of any op of OPS was checked"
    elif unexplained:
        what = f"no byte of {', '.join(unexplained)} was checked"
    if not what:
        return Verdict("pass", "", left_out)
    return Verdict("error", str(_empty(what, result, settings, served, missing)), left_out)


def _empty(
    what: str,
    result: SimResult,
    settings: RunSettings,
    served: tuple[str, ...],
    missing: Mapping[str, str],
) -> PtoError:
    """Returns the message of a run that is not a PASS because it is empty."""
    where = f"TEST={settings.test}"
    if settings.ops:
        where += f" OPS={','.join(settings.ops)}"
    if reasons := "; ".join(f"{op}: {reason}" for op, reason in missing.items() if reason):
        where += f" ({reasons})"
    moved = [op for op, count in result.ops.items() if count.bytes]
    legal = [op for op in result.sends or served if op in served] or moved
    remedy = "name an op in OPS that this test sends, raise N, or run another test"
    if settings.programs:
        remedy = "replay a program with data movements"
    return PtoError(what, where=where, legal=f"OPS of {', '.join(legal)}", remedy=remedy)


def _reason(
    op: str,
    result: SimResult,
    settings: RunSettings,
    served: tuple[str, ...],
    *,
    fixed_length: bool,
) -> str:
    """Returns why no byte of an op of ``OPS`` was checked, or nothing if no reason is known."""
    sent = _count(result.ops, op).sent
    how = f"sent {sent} times, no byte of it was checked" if sent else "not sent"
    if op not in served:
        return "not sent, no engine of this build takes it"
    if result.sends and op not in result.sends:
        return f"not sent, the test sends only {', '.join(result.sends)}"
    if op in result.dropped:
        return f"{how}, {result.dropped[op]}"
    if fixed_length:
        return ""
    if settings.constraints and result.constrained:
        return f"{how}, the constraints in {Path(settings.constraints).name} leave none"
    from sequences.draw.traffic import FEW  # with the generators, which few runs need here

    count, ops = settings.transactions, len(settings.ops)
    if count < ops:
        return f"{how}, N={count} is fewer than the {ops} ops of OPS"
    if count < FEW * ops:
        return f"{how}, N={count} is too few to reach it at random"
    return ""


def _count(ops: Mapping[str, OpCount], op: str) -> OpCount:
    return ops.get(op) or OpCount()
