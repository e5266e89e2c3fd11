# SPDX-License-Identifier: Apache-2.0
"""The worked examples of the ISA documents as blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sequences.blocks import block_of, lower_program, split_program
from sequences.examples.catalog import RULE_EXAMPLES, Example
from tb.isa.block import OpBlock
from tb.isa.dma.legacy import DmaRegisters
from tb.isa.ops import OPS, OPS_BY_CODE
from tb.isa.text import AnyOp


def program_blocks(ops: Iterable[AnyOp]) -> list[OpBlock]:
    """Returns one block per copy of a program that starts with reset registers.

    Every op is a separate batch, so ops of the program may depend on one another.
    """
    registers = DmaRegisters()
    blocks = []
    for program in split_program(ops):
        lowered, registers = lower_program(program, registers)
        blocks.append(block_of([lowered]))
    return blocks


def op_names(example: Example) -> set[str]:
    """Returns the v0.6 names of the ops an example needs, whatever its form."""
    blocks = (block for form in example_blocks(example).values() for block in form)
    return {OPS_BY_CODE[code].name for block in blocks for code in block.opcode.tolist()}


def example_blocks(example: Example) -> dict[str, list[OpBlock]]:
    """Returns the blocks of each form of ``example`` (docs/spec/examples.md), in program order."""
    return {form: program_blocks(ops) for form, ops in example.forms.items()}


def rule_blocks(ops: Collection[str] = tuple(OPS)) -> list[OpBlock]:
    """Returns one block per rule example of the v0.6 ``ops`` that holds under the profile.

    These are docs/spec/examples.md, section 7, and docs/spec/examples_v2.md, section 8.
    """
    return list(named_rule_blocks(ops).values())


def named_rule_blocks(ops: Collection[str] = tuple(OPS)) -> dict[str, OpBlock]:
    """Returns the same by the names of the examples."""
    blocks = {}
    for example in filter(lambda each: each.applies, RULE_EXAMPLES):
        lowered, _ = lower_program(example.program, DmaRegisters(), example.rule)
        if lowered.descriptor.spec.name in ops:
            blocks[example.name] = block_of([lowered])
    return blocks
