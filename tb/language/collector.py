# SPDX-License-Identifier: Apache-2.0
"""Suspends Python's cyclic garbage collector while objects are created that stay alive."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_off() -> Iterator[None]:
    """Switches the collector off, and on again if it was on; decorates functions as well.

    A third to a half of the time of reading and walking a long program goes into collections that
    find nothing.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
