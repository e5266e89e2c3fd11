# SPDX-License-Identifier: Apache-2.0
"""Copies of the C memory: one library has one set of memories, so each test gets its own.

A test unmaps its GM: a hundred mappings of 2^40 bytes each fill an address space.
"""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb.harness.mailbox_reader import MAILBOX_ENV
from tb.harness.memory import load_library
from tb.run.build import compile_library
from tests.hdl.backends import Backends


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("library") / "pto_mem.so"
    compile_library(target, vpi=False)
    return target


@pytest.fixture
def backends(compiled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Backends]:
    monkeypatch.delenv(MAILBOX_ENV, raising=False)
    copy = tmp_path / "pto_mem.so"
    shutil.copy(compiled, copy)
    backends = Backends(load_library(copy))
    yield backends
    library = backends.library
    libc = ctypes.CDLL(None, use_errno=True)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    assert libc.munmap(library.pto_mem_base(0), library.pto_mem_size(0)) == 0
