# SPDX-License-Identifier: Apache-2.0
"""The blocks of a program: rounds, links, registers, rules."""

from __future__ import annotations

import numpy as np
import pytest

from scoreboards.model.dma import ReferenceModel
from sequences import replay
from sequences.op_filter import lost_parameters, without
from sequences.replay import MOST_OPS, Round, not_issued, schedule
from tb.harness.items import MAX_IN_FLIGHT
from tb.isa.block import OpBlock, from_ops
from tb.isa.burst.op import MteL1Fb, MteUbL1, MteUbUb
from tb.isa.descriptor import unpack
from tb.isa.dma.legacy import (
    CopyGmToUbuf,
    CopyUbufToGm,
    CopyUbufToUbuf,
    SetLoopSize,
    SetLoopStride,
    SetMovPadVal,
)
from tb.isa.dma.op import DmaOp, MteGmL1, MteGmUb, MteUbGm
from tb.isa.dtypes import Ptr
from tb.isa.fix.op import FbPtr, MteL0cGm, PreQuant
from tb.isa.l0.op import Shape, shaped
from tb.isa.mad import Mad
from tb.isa.op import replace
from tb.isa.ops import LEGACY_FORMS, OPS, SLOTS
from tb.isa.pipes import PIPES, Pipe
from tb.isa.rules import lowering_violation
from tb.isa.spaces import SIZES, Space
from tb.language.place import ProgramError
from tests.programs.hand_made import Made, MadeOrder
from tests.wording import pattern

GM, UB, L1 = Ptr("i8", "gm"), Ptr("i8", "ub"), Ptr("i8", "l1")
MTE3 = SLOTS.index("mte3")


def load(address: int = 0, ub: int = 0) -> MteGmUb:
    return MteGmUb(address, ub, 64, 1, 64, 64, src_type=GM, dst_type=UB)


def store(address: int = 0, ub: int = 0) -> MteUbGm:
    return MteUbGm(ub, address, 64, 1, 64, 64, src_type=UB, dst_type=GM)


def near(src: int = 0, dst: int = 0x1000) -> MteUbUb:
    return MteUbUb(src, dst, 1, 1, 0, 0, UB, UB)


MAD = Mad(0, 0, 0, 16, 16, 16, Ptr("f16", "l0a"), Ptr("f16", "l0b"), Ptr("f32", "l0c"))
L0A = shaped("mte_l1_l0a", 0, 0, Shape(16, 16), Ptr("f16", "l1"), Ptr("f16", "l0a"))


def rounds(made: Made, sequence: tuple[int, ...] | None = None, **options: str) -> list[Round]:
    order = MadeOrder(sequence or tuple(range(len(made.steps))), made.after)
    return schedule(made.trace, order, **options)  # type: ignore[arg-type]


def one(made: Made, sequence: tuple[int, ...] | None = None, **options: str) -> Round:
    (found,) = rounds(made, sequence, **options)
    return found


# --- links -----------------------------------------------------------------------------------


def test_an_op_waits_for_the_links_of_the_order() -> None:
    made = Made()
    first = made.move("mte_gm_ub", load())
    made.move("mte_gm_ub", load(0x100, 0x100))
    second = made.move("mte_ub_ub", near(), first)
    made.move("mte_ub_gm", store(0x1000, 0x1000), second)
    found = one(made)
    assert found.steps == (0, 1, 2, 3)
    assert found.block.after.tolist() == [-1, -1, 0, -1], "no feeding between two ops of one slot"
    assert found.block.also_after == {3: (2,)}
    assert [str(found.block.places[at]) for at in (0, 3)] == ["hand.pto:1:3", "hand.pto:4:3"]


def test_the_last_op_of_a_slot_implies_those_before_it() -> None:
    made = Made()
    loads = [made.move("mte_gm_ub", load(0x100 * i, 0x100 * i)) for i in range(3)]
    copies = [made.move("mte_ub_ub", near(0x4000, 0x5000 + 0x100 * i)) for i in range(2)]
    made.move("mte_ub_gm", store(), *loads, *copies)
    block = one(made).block
    assert block.after[5] == 2
    assert block.also_after == {5: (4,)}


def test_gaps_and_delays_go_along() -> None:
    made = Made()
    made.move("mte_gm_ub", load(), gap=7)
    assert one(made).block.flag_delay is None
    op = MteL0cGm(0, 0, 16, 16, 16, 16, unit_flag=2)
    made.move("mte_l0c_gm", op, flag_delay=30)
    block = one(made).block
    assert block.gap.tolist() == [7, 0]
    assert block.flag_delay is not None
    assert block.flag_delay.tolist() == [-1, 30]


def test_a_tile_that_was_cleared_is_read_in_the_next_round() -> None:
    """Until a round ends, the harness holds the bytes of cleared blocks complemented."""
    made = Made()
    tile = MteL0cGm(0, 0, 16, 16, 16, 16)
    made.move("mte_l0c_gm", replace(tile, unit_flag=3))
    made.move("mte_l0c_gm", replace(tile, src=16384))
    made.move("mte_gm_ub", load())
    again = made.move("mte_l0c_gm", tile)
    made.move("mte_l0c_gm", tile)
    assert [found.steps for found in rounds(made)] == [(0, 1, 2), (again, again + 1)]


@pytest.mark.parametrize("extra", [1 << 24, 1 << 44, 1 << 62])
def test_a_nop_may_have_any_address(extra: int) -> None:
    """Its fields hold as much of it as they can, and the alignment."""
    made = Made()
    made.move("mte_gm_ub", replace(load(extra + 3, extra + 32), n_burst=0))
    made.move("mte_ub_ub", replace(near(extra, extra + 64), len_burst=0))
    made.move("mte_l1_l0a", replace(L0A, src=extra, dst=extra, m_step=0))
    made.move("mte_l0c_gm", MteL0cGm(extra, extra, 0, 16, 16, 16))
    block = one(made).block
    assert block.expected_rule is not None
    assert not block.expected_rule.any()
    local = unpack(block.pack()[0])
    assert isinstance(local, DmaOp)
    assert local.loc_addr == (1 << 24) - 32


def test_links_of_pipe_s_apply_to_later_steps() -> None:
    made = Made()
    made.move("mte_gm_ub", load())
    made.move("mte_gm_ub", load(0x100, 0x100))
    scalar = made.move("set_mov_pad_val", SetMovPadVal("i8", 1), 0)
    pad = made.move("set_mov_pad_val", SetMovPadVal("i8", 2))
    made.move("mte_ub_gm", store(0x1000), pad)
    found = one(made)
    assert scalar not in found.steps
    assert found.steps == (0, 1, 4)
    assert found.block.links(2) == (0,)


def test_links_of_an_unsent_step_apply_to_later_steps() -> None:
    """An order names a link once in a pipe: at its first step, sent or not."""
    made = Made()
    made.move("mte_gm_ub", load())
    refused = CopyUbufToUbuf(0, 0x100, 0, 1, 33, 64, 64)
    made.move("copy_ubuf_to_ubuf", refused, 0)
    made.move("mte_ub_ub", near())
    made.move("mte_ub_ub", near())
    block = one(made).block
    assert [block.links(at) for at in range(3)] == [(), (0,), ()]


def test_each_pipe_has_one_slot() -> None:
    for pipe in set(PIPES.values()):
        names = [LEGACY_FORMS.get(name, name) for name, of in PIPES.items() if of is pipe]
        assert len({OPS[name].slot for name in names if name in OPS}) <= 1


def queues_end(block: OpBlock) -> bool:
    """Runs the queues of the slots like the harness, with one op in flight in total."""
    left = {slot: np.flatnonzero(block.slot == slot).tolist() for slot in range(len(SLOTS))}
    done: set[int] = set()
    while any(left.values()):
        free = [q for q in left.values() if q and all(x in done for x in block.links(q[0]))]
        if not free:
            return False
        done.add(free[0].pop(0))
    return True


def test_pipes_that_share_a_slot_do_not_lock_each_other() -> None:
    """V and MTE3 have separate queues; the first op of each follows the other's in the text."""
    made = Made()
    made.move("mte_ub_gm", store(0x0, 0x0))  # MTE3: waits for step 3, on V
    made.move("mte_ub_gm", store(0x1000, 0x1000))
    made.move("mte_ub_ub", near(0x2000, 0x3000))
    made.move("mte_ub_ub", near(0x3000, 0x0), 2)
    made.move("mte_ub_ub", near(0x0, 0x4000), 1)  # V: waits for step 1, on MTE3
    made.after[0] = (3,)
    sequence = (2, 3, 0, 1, 4)
    found = one(made, sequence)
    assert set(found.block.slot.tolist()) == {MTE3}
    assert found.steps == sequence
    assert queues_end(found.block)
    swapped = replace(found.block, also_after={0: (1,)})
    assert not queues_end(swapped), "a wrong order is found"


@pytest.mark.parametrize("seed", range(20))
def test_every_ordered_program_ends(seed: int) -> None:
    """Random ops of all pipes with random links backwards in a random order."""
    rng = np.random.default_rng(seed)
    made = Made()
    kinds = [
        ("mte_gm_ub", load()), ("mte_ub_gm", store()), ("mte_ub_ub", near()),
        ("mte_ub_l1", MteUbL1(0, 0, 1, 1, 0, 0, UB, L1)), ("mad", MAD), ("mte_l1_l0a", L0A),
        ("mte_gm_l1", MteGmL1(0, 0, 32, 1, 32, 32)),
    ]  # fmt: skip
    for number in range(60):
        name, op = kinds[rng.integers(len(kinds))]
        after = rng.integers(number, size=rng.integers(3)).tolist() if number else []
        add = made.compute if name == "mad" else made.move
        add(name, op, *after)
    sent: list[int] = []
    for item in rounds(made):
        assert queues_end(item.block)
        earlier = {*sent, *item.host_steps}
        for index in item.host_steps:
            assert set(made.after.get(index, ())) <= earlier
        for at, index in enumerate(item.steps):
            for link in item.block.links(at):
                assert link < at
            before = closure(item.block, at)
            for link in made.after.get(index, ()):
                ok = link in earlier
                assert ok or implies(item, before, link), "every link is kept"
        sent += [*item.host_steps, *item.steps]
    assert sorted(sent) == list(range(60))
    for pipe in Pipe:
        mine = [index for index in sent if made.steps[index].pipe is pipe]
        assert mine == sorted(mine), "a pipe starts its ops in program order"


def closure(block: OpBlock, at: int) -> set[int]:
    found: set[int] = set()
    left = list(block.links(at))
    while left:
        link = left.pop()
        found.add(link)
        left += [other for other in block.links(link) if other not in found]
    return found


def implies(item: Round, before: set[int], link: int) -> bool:
    """Returns whether one of the ops ``before`` is the op of a link, or a later one of its slot."""
    place = item.steps.index(link)
    slots = item.block.slot
    return any(other >= place and slots[other] == slots[place] for other in before)


# --- rounds ----------------------------------------------------------------------------------


def test_host_ops_split_rounds_and_wait_only_for_their_links() -> None:
    made = Made()
    loads = [made.move("mte_gm_l1", MteGmL1(0, 0x1000 * i, 32, 1, 32, 32)) for i in range(2)]
    first = made.move("mte_l1_l0a", L0A, loads[0])
    product = made.compute("mad", MAD, first)
    back = made.move("mte_l0c_gm", MteL0cGm(0, 0, 16, 16, 16, 16), product)
    again = made.move("mte_l1_l0a", L0A, loads[1], product)
    made.compute("mad", MAD, again, back)
    found = rounds(made)
    assert [item.host_steps for item in found] == [(), (3,), (6,)]
    assert [item.steps for item in found] == [(0, 1, 2), (4, 5), ()]
    assert [step.name for step in found[1].compute] == ["mad"]
    assert len(found[2].block) == 0
    assert found[1].block.links(0) == (), "earlier ops have retired"


def test_no_round_exceeds_the_ring_of_a_slot() -> None:
    made = Made()
    for number in range(MOST_OPS + 3):
        made.move("mte_gm_ub", load(0x100 * number))
    last = made.move("mte_ub_gm", store(), MOST_OPS)
    found = rounds(made)
    assert [len(item.block) for item in found] == [MOST_OPS, 4]
    assert last in found[1].steps
    assert MOST_OPS <= MAX_IN_FLIGHT


def test_an_op_that_waits_for_itself_is_refused() -> None:
    made = Made()
    made.move("mte_gm_ub", load(), 1)
    made.move("mte_ub_gm", store(), 0)
    with pytest.raises(ProgramError, match=pattern(r"hand\.pto:1:3 error waits itself")):
        rounds(made)


@pytest.mark.long
def test_a_long_chain() -> None:
    made = Made()
    for number in range(3000):
        made.move("mte_gm_ub", load(), *([number - 1] if number else ()))
    assert sum(len(item.block) for item in rounds(made)) == 3000


# --- legacy ----------------------------------------------------------------------------------

COPY = CopyGmToUbuf(0, 0, 0, 1, 32, 0, 0, 0, 0, 32, 32)
BACK = CopyUbufToGm(0, 0x1000, 0, 1, 32, 0, 32, 32)


def program(made: Made, sequence: tuple[int, ...] | None = None) -> list[tuple[object, ...]]:
    return [ops for item in rounds(made, sequence) for ops in item.block.program()]


def test_a_copy_carries_the_registers_written_before_it() -> None:
    made = Made()
    size, stride = SetLoopSize("outtoub", 2, 1), SetLoopStride("outtoub", 1, 64, 64)
    made.move("set_loop_size_outtoub", size)
    made.move("set_loop1_stride_outtoub", stride)
    made.move("copy_gm_to_ubuf", COPY)
    made.move("mte_gm_ub", load(0x100, 0x400))
    made.move("set_mov_pad_val", SetMovPadVal("f16", 0x3C00))
    made.move("copy_gm_to_ubuf", COPY)
    sent = program(made)
    assert sent[0] == (size, stride, COPY)
    assert sent[1] == (load(0x100, 0x400),)
    assert sent[2] == (SetMovPadVal("f16", 0x3C00), COPY)
    block = one(made).block
    assert block.column("loop0_count").tolist() == [2, 1, 2]


def executed(programs: list[tuple[object, ...]]) -> dict[Space, np.ndarray]:
    rng = np.random.default_rng(1)
    sizes = {**SIZES, Space.GM: 1 << 16}
    memory = {space: rng.integers(256, size=size, dtype=np.uint8) for space, size in sizes.items()}
    model = ReferenceModel(memory)
    for ops in programs:
        for op in ops:
            model.execute(op)  # type: ignore[arg-type]
    return memory


def test_a_copy_sent_in_another_order_reads_the_same_registers() -> None:
    """The loads of two pipes change places; each must have its own loops and pad."""
    made = Made()
    made.move("set_loop_size_outtoub", SetLoopSize("outtoub", 2, 1))
    made.move("set_loop1_stride_outtoub", SetLoopStride("outtoub", 1, 64, 64))
    made.move("set_mov_pad_val", SetMovPadVal("i8", 0x11))
    padded = replace(COPY, data_select_bit=1, right_padding=16, len_burst=16, n_burst=1)
    made.move("copy_gm_to_ubuf", padded)
    made.move("set_loop_size_ubtoout", SetLoopSize("ubtoout", 3, 2))
    made.move("set_loop1_stride_ubtoout", SetLoopStride("ubtoout", 1, 96, 64))
    made.move("set_loop2_stride_ubtoout", SetLoopStride("ubtoout", 2, 512, 512))
    made.move("set_mov_pad_val", SetMovPadVal("i8", 0x22))
    made.move("set_loop_size_outtoub", SetLoopSize("outtoub", 1, 1))
    made.move("copy_ubuf_to_gm", replace(BACK, ub_src=0x800))
    made.move("copy_gm_to_ubuf", replace(padded, ub_dst=0x200))
    straight = program(made)
    turned = program(made, (0, 1, 2, 4, 5, 6, 7, 8, 9, 3, 10))
    assert [ops[-1] for ops in turned] != [ops[-1] for ops in straight]
    one, other = executed(straight), executed(turned)
    assert all((one[space] == other[space]).all() for space in Space)
    careless = [(*ops[:-1], ops[-1]) for ops in straight]
    careless = [careless[1], careless[0], careless[2]]
    wrong = executed(careless)
    assert any((one[space] != wrong[space]).any() for space in Space), "the registers matter"


def test_a_copy_that_is_not_issued_goes_with_the_next() -> None:
    made = Made()
    refused = CopyUbufToUbuf(0, 0x100, 0, 1, 33, 64, 64)
    assert lowering_violation(refused) is not None
    made.move("copy_ubuf_to_ubuf", refused)
    made.move("mte_gm_ub", load())
    made.move("copy_gm_to_ubuf", COPY)
    made.move("copy_ubuf_to_ubuf", refused)
    sent = program(made)
    assert sent == [(load(),), (refused, COPY)]


def test_ops_that_end_before_an_engine_are_reported() -> None:
    made = Made()
    made.move("copy_ubuf_to_ubuf", CopyUbufToUbuf(0, 0x100, 0, 1, 33, 64, 64))
    made.move("copy_ubuf_to_ubuf", CopyUbufToUbuf(0, 0x100, 0, 1, 32, 64, 64))
    made.move("set_mov_pad_val", SetMovPadVal("i8", 256))
    made.move("set_mov_pad_val", SetMovPadVal("i8", 255))
    again = [*made.trace.steps, *made.trace.steps]
    found = not_issued(replace(made.trace, steps=tuple(again)))
    assert [(one.place.line, one.op, one.rule) for one in found] == [
        (1, "pto.copy_ubuf_to_ubuf", "DMA-L11"),
        (3, "pto.set_mov_pad_val", "DMA-L05"),
    ]


# --- rules -----------------------------------------------------------------------------------


def test_an_illegal_op_is_refused_with_its_place_or_sent_with_its_rule() -> None:
    made = Made()
    made.move("mte_gm_ub", load())
    made.move("mte_gm_ub", load(0, 16))
    made.move("mte_gm_ub", replace(load(), l2_cache_ctl=1 << 70))
    with pytest.raises(ProgramError) as caught:
        rounds(made)
    places = [(found.place.line, found.op, found.rule) for found in caught.value.findings]
    assert places == [(2, "pto.mte_gm_ub", "DMA-L06"), (3, "pto.mte_gm_ub", "DMA-L05")]
    block = one(made, illegal="send").block
    assert block.expected_rule is not None
    assert block.expected_rule.tolist() == [0, 6, 5]
    assert sorted(block.descriptors) == [1, 2]
    assert block.pack().shape == (3, 16)


# --- blocks that lose ops --------------------------------------------------------------------


def linked() -> OpBlock:
    """Returns load, load, copy, store: the store waits for the copy, that for both loads."""
    made = Made()
    first = made.move("mte_gm_ub", load(0, 0))
    second = made.move("mte_gm_l1", MteGmL1(0, 0, 32, 1, 32, 32))
    third = made.move("mte_ub_ub", near(0, 0x1000), first, second)
    made.move("mte_ub_gm", store(0x1000, 0x1000), third, first)
    block = one(made).block
    block.after[:] = (-1, -1, 0, -1)
    return replace(block, also_after={2: (1,), 3: (2, 0)})


def test_a_part_of_a_block_keeps_its_links() -> None:
    block = linked()
    with pytest.raises(ValueError, match=pattern("wait op before 1")):
        block.take(1, 4)
    part = replace(block, also_after={3: (2,)}).take(1, 2)
    assert len(part) == 1
    after = block.after.copy()
    after[2] = -1
    part = replace(block, after=after, also_after={3: (2, 1)}).take(1, 4)
    assert part.also_after == {2: (1, 0)}
    assert [str(part.places[at]) for at in range(3)] == [f"hand.pto:{at + 2}:3" for at in range(3)]


def test_links_to_a_dropped_op_become_links_to_its_predecessors() -> None:
    left = without(linked(), np.array([True, True, False, True]), {})
    # The store from UB depends on the other load, not on the load into L1.
    assert left.links(2) == (0,)
    assert str(left.places[2]) == "hand.pto:4:3"
    left = without(linked(), np.array([True, False, True, True]), {})
    assert left.links(1) == (0,)
    assert left.links(2) == (1, 0)


def test_missing_parameters_are_found_through_any_link() -> None:
    fb = MteL1Fb(0, 0, 1, 1, 0, 0, Ptr("i64", "l1"), Ptr("i64", "fb"))
    quant = PreQuant("qf322f16_pre_vec", FbPtr("f32", 0))
    fix = MteL0cGm(0, 0, 16, 8, 16, 16, pre_quant=quant, dst_type=Ptr("f16", "gm"))
    block = from_ops([fb, load(), fix])
    block = replace(block, also_after={2: (1,), 1: (0,)})
    kept = np.array([False, True, True])
    assert lost_parameters(block, kept).tolist() == [False, False, True]
    assert not lost_parameters(replace(block, also_after={}), kept).any()


def test_the_limit_of_a_round_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "MOST_OPS", 1)
    made = Made()
    made.move("mte_ub_gm", store())
    made.move("mte_ub_ub", near(0x2000))
    assert [item.steps for item in rounds(made)] == [(0,), (1,)]
