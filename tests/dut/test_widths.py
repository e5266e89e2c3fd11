# SPDX-License-Identifier: Apache-2.0
"""Widths of a run: given, default, or what the manifests share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tb.cli.options import machine
from tb.common.errors import PtoError
from tb.dut.manifest import Capabilities, Manifest
from tb.dut.scaffold import new_dut
from tb.dut.widths import DEFAULT, Widths, run_widths, without_default
from tb.record.record import RunRecord
from tests.command import pto_dv
from tests.wording import says


def engine(
    name: str,
    gm: Sequence[int] = (128, 256, 512),
    local: Sequence[int] = (128, 256, 512),
    tag: Sequence[int] = (1, 16),
) -> Manifest:
    widths = {"gm_data_widths": gm, "local_data_widths": local, "tag_widths": tag}
    can = Capabilities.model_validate({"ops": ["mte_gm_ub"], **widths})
    return Manifest(module=name, slot="mte2", capabilities=can, path=f"{name}.toml")


@pytest.mark.parametrize(
    ("claims", "width"),
    [
        ([(128,)], 128),
        ([(128, 512)], 512),
        ([(512, 128)], 512),
        ([(256, 512)], 256),
        ([(128, 256)], 256),
        ([(128, 256, 512), (128, 512)], 512),
        ([(128, 256), (128, 512)], 128),
        ([(128, 256), (256, 512)], 256),
    ],
)
def test_widths_are_the_default_or_the_widest_that_all_have(
    claims: list[tuple[int, ...]], width: int
) -> None:
    assert run_widths([engine("a", gm=one) for one in claims]) == Widths(gm=width)
    assert run_widths([engine("a", local=one) for one in claims]) == Widths(local=width)


def test_widths_that_are_given_are_taken() -> None:
    narrow = engine("a", (128, 512), (128, 512), (1, 4))
    assert run_widths([]) == run_widths([engine("a")]) == DEFAULT == Widths(256, 256, 8)
    assert run_widths([narrow]) == Widths(512, 512, 4)
    assert run_widths([narrow], gm=128) == Widths(128, 512, 4)
    assert run_widths([narrow], local=256, tag=2) == Widths(512, 256, 2), "for the run to refuse"
    assert run_widths([narrow], narrowest=True) == Widths(128, 128, 1)


def test_engines_without_a_shared_width_are_named() -> None:
    wide, narrow = engine("wide", gm=(256, 512)), engine("narrow", gm=(128,))
    with pytest.raises(PtoError) as caught:
        run_widths([engine("any"), narrow, wide])
    wanted = "narrow and wide no GM_WIDTH narrow.toml wide.toml 128 bits 256 512 bits run add"
    assert says(str(caught.value), wanted)
    assert "any" not in str(caught.value)
    assert run_widths([narrow, wide], gm=128).gm == 128
    with pytest.raises(PtoError, match="a and b and c have no LOCAL_WIDTH"):
        run_widths([engine("a", local=(128, 256)), engine("b", local=(256, 512)),
                    engine("c", local=(128, 512))])  # fmt: skip
    with pytest.raises(PtoError, match="a and b have no TAG_WIDTH"):
        run_widths([engine("a", tag=(1, 7)), engine("b", tag=(8, 8))])


def test_the_reason_for_another_width_is_one_sentence() -> None:
    found = [engine("wide", gm=(256, 512)), engine("narrow", gm=(128, 512), tag=(1, 4))]
    assert without_default(found, run_widths(found)) == [
        "narrow (mte2) claims GM_WIDTH 128, 512, not 256; this run has 512",
        "narrow (mte2) claims TAG_WIDTH 1 to 4, not 8; this run has 4",
    ]
    assert without_default([engine("a")], DEFAULT) == []


@pytest.mark.parametrize(
    ("given", "widths"), [("", (128, 256)), ("128", (128, 256)), ("512", (512, 256))]
)
def test_commands_take_the_widths_of_the_manifest(
    given: str, widths: tuple[int, int], tmp_path: Path
) -> None:
    path = new_dut("demo", "mte2", folder=tmp_path / "demo")
    path.write_text(path.read_text().replace("gm_data_widths = [256]", "gm_data_widths = [128]"))
    found = machine("icarus", given, "", "", "16", [str(path)], "hdl", "0", "0")
    assert (found["gm_width"], found["local_width"], found["tag_width"]) == (*widths, 8)


def test_a_manifest_that_cannot_be_read_is_in_the_record(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    done = pto_dv("run", "--dut", str(tmp_path / "none.toml"), "--json", str(target))
    assert done.returncode == 2
    record = RunRecord.model_validate_json(target.read_text())
    assert record.status == "error"
    assert "none.toml" in record.message
