# SPDX-License-Identifier: Apache-2.0
"""Manifests: what the reference engines say of themselves, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.dut import load_manifest, reference_manifests
from tb.errors import PtoError
from tb.isa.ops import OPS, SLOTS

GOOD = {
    "module": '"mine"',
    "slot": '"mte2"',
    "ops": '["mte_gm_ub"]',
    "d_rules": '["DMA-L05", "DMA-L09"]',
    "sources": '["*.v"]',
}


def write(folder: Path, **changes: str) -> Path:
    """Writes a manifest beside a source; an empty value leaves the key out."""
    (folder / "mine.v").write_text("module mine; endmodule\n")
    path = folder / "manifest.toml"
    keys = {**GOOD, **changes}
    path.write_text("".join(f"{key} = {value}\n" for key, value in keys.items() if value))
    return path


def test_reference_engines_report_all_rules_of_their_ops() -> None:
    manifests = reference_manifests()
    slots = [manifest.slot for manifest in manifests]
    assert slots == sorted(set(slots), key=SLOTS.index)
    for manifest in manifests:
        names = {rule for op in manifest.ops for rule in OPS[op].rule_names}
        assert set(manifest.d_rules) == names


def test_a_good_manifest(tmp_path: Path) -> None:
    manifest = load_manifest(write(tmp_path))
    assert manifest.d_rules == ("DMA-L05", "DMA-L09")
    assert manifest.sources == (str((tmp_path / "mine.v").resolve()),)


@pytest.mark.parametrize(
    ("changes", "messages"),
    [
        ({"d_rules": "[5]"}, ["d_rules.0", "5 is no name of a rule", '"DMA-L05"']),
        ({"d_rules": '["DMA-L05", 12]'}, ["d_rules.1", "12 is no name of a rule"]),
        ({"d_rules": '["5"]'}, ["D rule '5'", "slot mte2", "DMA-L05, DMA-L06"]),
        ({"d_rules": '["DMA-L11"]'}, ["D rule 'DMA-L11'", "slot mte2"]),
        ({"d_rules": '["DMA-L99"]'}, ["D rule 'DMA-L99'"]),
        ({"d_rules": ""}, ["d_rules", "Field required"]),
        ({"ops": '["mte_ub_gm"]'}, ["op 'mte_ub_gm' is not one of slot mte2", "mte_gm_ub"]),
        ({"slot": '"mte4"'}, ["slot is 'mte4'", "mte1, mte2, mte3, fix"]),
        ({"sources": '["no*.v"]'}, ["'no*.v' matches no file"]),
        ({"module": '"not a name"'}, ["manifest key module"]),
        ({"gm_data_widths": "[64]"}, ["gm_data_widths"]),
        ({"extra": "1"}, ["manifest key extra"]),
        ({"slot": "mte2"}, ["is not TOML"]),
    ],
)
def test_what_is_refused(tmp_path: Path, changes: dict[str, str], messages: list[str]) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(PtoError) as refused:
        load_manifest(path)
    for text in (*messages, str(path)):
        assert text in str(refused.value)
