# SPDX-License-Identifier: Apache-2.0
"""PTO-DV: a co-verification testbench for the data-movement engines of the PTO ISA."""

import os

# Nothing here is linear algebra, and the threads that numpy's library makes for it only spin.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
