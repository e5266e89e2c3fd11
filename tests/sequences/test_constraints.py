# SPDX-License-Identifier: Apache-2.0
"""Impossible constraints are errors with the value and the legal range."""

from __future__ import annotations

from typing import Any

import pytest

from sequences.constraints import ConstraintError, GmWindow, OpConstraints, SizeClass
from sequences.draw.copies import CopyGenerator
from sequences.draw.traffic import TrafficGenerator
from sequences.illegal.generator import IllegalGenerator
from tb.common.errors import PtoError


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"bus_bytes": 8}, "bus_bytes is 8"),
        ({"block_ops": 0}, "block_ops is 0"),
        ({"block_ops": True}, "block_ops is True"),
        ({"max_bytes": 0}, "max_bytes is 0"),
        ({"max_ub_bytes": 262145}, "max_ub_bytes is 262145"),
        ({"max_bytes": 4096, "max_gm_bytes": 4095}, "max_gm_bytes is 4095"),
        ({"max_loops": 4}, "max_loops is 4"),
        ({"pad": 1.5}, "pad is 1.5"),
        ({"legacy": -0.1}, "legacy is -0.1"),
        ({"loops": (0.0, 0.0, 0.0, 1.0), "max_loops": 2}, "loops is"),
        ({"loops": (1.0, -1.0, 0.0, 0.0)}, "loops is"),
        ({"sizes": ()}, "sizes has no class"),
        ({"sizes": (SizeClass(5, 4, 1.0),)}, "SizeClass"),
        ({"sizes": (SizeClass(100, 200, 1.0),), "max_bytes": 50}, "above max_bytes 50"),
        ({"windows": ()}, "windows is empty"),
        ({"ub_range": GmWindow(16, 8192)}, "ub_range is 0x10"),
        ({"l1_range": GmWindow(0, 1 << 20)}, "l1_range is 0x0"),
        ({"ub_range": GmWindow(0, 2048)}, "ub_range is 0x0"),
        ({"ub_range": GmWindow(0, 8192)}, "lower max_ub_bytes"),
        ({"l1_range": GmWindow(64, 8192)}, "lower max_l1_bytes"),
        ({"max_l1_bytes": 100}, "max_l1_bytes is 100"),
        ({"mixed": 1.1}, "mixed is 1.1"),
        ({"l0c_range": GmWindow(64, 65536)}, "l0c_range is 0x40"),
        ({"l0c_range": GmWindow(0, 4096)}, "l0c_range is 0x0"),
        ({"fb_range": GmWindow(0, 4224)}, "fb_range is 0x0"),
        ({"fb_range": GmWindow(64, 1024)}, "fb_range is 0x40"),
        ({"bt_range": GmWindow(0, 256)}, "bt_range is 0x0"),
        ({"tile_rows": 8193}, "tile_rows is 8193"),
        ({"tile_columns": 0}, "tile_columns is 0"),
        ({"max_flag_delay": -1}, "max_flag_delay is -1"),
        ({"atomic": 1.5}, "atomic is 1.5"),
        ({"saturate": -0.5}, "saturate is -0.5"),
        ({"windows": (GmWindow(0, 4096),)}, "window 0x0"),
        ({"windows": (GmWindow((1 << 40) - 4096, 4 << 20),)}, "window 0xfffffff000"),
        ({"windows": (GmWindow(0, 4 << 20), GmWindow(1 << 20, 4 << 20))}, "overlap"),
    ],
)
def test_impossible_constraints(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as caught:
        OpConstraints(**values)
    assert isinstance(caught.value, PtoError)
    assert "OpConstraints" in str(caught.value)


@pytest.mark.parametrize(("ops", "message"), [((), "no op"), (("mte_l0c_gm",), "'mte_l0c_gm'")])
def test_unknown_ops(ops: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConstraintError, match=message) as caught:
        CopyGenerator(1, ops)
    assert "copy_ubuf_to_gm" in str(caught.value)


@pytest.mark.parametrize("make", [CopyGenerator, TrafficGenerator, IllegalGenerator])
def test_unknown_ops_of_other_generators(make: type[CopyGenerator]) -> None:
    for ops in ((), ("mte_l0c_bt",)):
        with pytest.raises(ConstraintError, match="mte_l0c_bt" if ops else "no op"):
            make(1, ops)
    if make is CopyGenerator:
        with pytest.raises(ConstraintError, match="mte_l0c_gm"):
            make(1, ("mte_l0c_gm",))
