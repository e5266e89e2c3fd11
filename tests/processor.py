# SPDX-License-Identifier: Apache-2.0
"""A bound on processor time, which holds on a busy machine too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def processor_seconds(limit: float) -> Iterator[None]:
    """Fails where this thread takes more seconds of processor time for the block."""
    begin = time.thread_time()
    yield
    assert time.thread_time() - begin < limit
