# SPDX-License-Identifier: Apache-2.0
"""DUT manifests: which module stands in a slot, what it is built from and what it can do.

Our own engines are described the same way as a user's block: a ``manifest.toml`` beside the
sources. The bench sends a slot only what its manifest lists.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from tb.errors import PtoError
from tb.isa.ops import OPS, SLOTS

DataWidth = Literal[128, 256, 512]

ROOT = Path(__file__).resolve().parent.parent
"""Top of the project."""

REFERENCE_MANIFESTS: tuple[Path, ...] = (
    ROOT / "rtl_stubs/pto_mte1/manifest.toml",
    ROOT / "rtl_stubs/pto_mte2/manifest.toml",
    ROOT / "rtl_stubs/pto_mte3/manifest.toml",
    ROOT / "rtl_stubs/pto_fix/manifest.toml",
)
"""Manifests of the reference engines, one per slot."""


def _no_number(value: object) -> object:
    """Says what to write instead of a rule's number, which several families may have."""
    if isinstance(value, int):
        raise PydanticCustomError(
            "rule_number",
            '{number} is no name of a rule: names are like "DMA-L05"',
            {"number": value},
        )
    return value


RuleName = Annotated[str, BeforeValidator(_no_number)]


class Manifest(BaseModel):
    """One engine for one slot.

    Attributes:
        module: Verilog module name.
        slot: Slot it serves.
        ops: Ops it takes; the bench never sends another.
        d_rules: Names of the D rules it reports; illegal traffic keeps to these.
        gm_data_widths, local_data_widths: Data widths it supports, in bits.
        sources: Verilog files, absolute once loaded.
        include_dirs: Include folders, absolute once loaded.
        path: The manifest file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    module: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_$]*$")]
    slot: str
    ops: tuple[str, ...]
    d_rules: tuple[RuleName, ...]
    gm_data_widths: tuple[DataWidth, ...] = (128, 256, 512)
    local_data_widths: tuple[DataWidth, ...] = (128, 256, 512)
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    path: str = ""

    def check_widths(self, gm_width: int, local_width: int) -> None:
        """Raises PtoError when the engine does not have these data widths."""
        for name, width, widths in (
            ("GM_WIDTH", gm_width, self.gm_data_widths),
            ("LOCAL_WIDTH", local_width, self.local_data_widths),
        ):
            if width not in widths:
                raise PtoError(
                    f"{self.module} has no {name} of {width} bits",
                    where=self.path,
                    legal=", ".join(map(str, widths)),
                    remedy=f"choose {name} from these, or add the width to the manifest",
                )


def load_manifest(path: Path) -> Manifest:
    """Reads a manifest; source patterns are relative to its folder.

    Raises:
        PtoError: the file is missing, no TOML, breaks the schema, or names files, ops, rules or a
            slot that do not exist.
    """
    try:
        data = tomllib.loads(path.read_text())
    except OSError as error:
        raise PtoError(
            f"cannot read the manifest: {error.strerror}", where=str(path), remedy="check the path"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise PtoError(f"the manifest is not TOML: {error}", where=str(path)) from None
    try:
        manifest = Manifest.model_validate({**data, "path": str(path)})
    except ValidationError as error:
        first = error.errors()[0]
        raise PtoError(
            f"manifest key {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=str(path),
            remedy="docs/contract.md lists the keys of a manifest",
        ) from None
    if manifest.slot not in SLOTS:
        raise PtoError(f"slot is {manifest.slot!r}", where=str(path), legal=", ".join(SLOTS))
    for name in manifest.ops:
        if name not in OPS or OPS[name].slot != manifest.slot:
            served = [op.name for op in OPS.values() if op.slot == manifest.slot]
            raise PtoError(
                f"op {name!r} is not one of slot {manifest.slot}",
                where=str(path),
                legal=", ".join(served) or "none yet",
            )
    rules = {rule for op in OPS.values() if op.slot == manifest.slot for rule in op.rule_names}
    for name in manifest.d_rules:
        if name not in rules:
            raise PtoError(
                f"D rule {name!r} is not one of the ops of slot {manifest.slot}",
                where=str(path),
                legal=", ".join(sorted(rules)) or "none yet",
            )
    folder = path.resolve().parent
    sources: list[str] = []
    for pattern in manifest.sources:
        found = sorted(folder.glob(pattern)) if "*" in pattern else [folder / pattern]
        found = [file.resolve() for file in found if file.is_file()]
        if not found:
            raise PtoError(
                f"source {pattern!r} matches no file", where=str(path), remedy=f"look in {folder}"
            )
        sources += [str(file) for file in found]
    includes = tuple(str((folder / name).resolve()) for name in manifest.include_dirs)
    return manifest.model_copy(
        update={"sources": tuple(dict.fromkeys(sources)), "include_dirs": includes}
    )


def reference_manifests() -> tuple[Manifest, ...]:
    """Returns the manifests of the reference engines."""
    return tuple(load_manifest(path) for path in REFERENCE_MANIFESTS)
