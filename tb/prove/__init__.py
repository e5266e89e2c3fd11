# SPDX-License-Identifier: Apache-2.0
"""``make prove-arith``: the write-back arithmetic against a C reference, over all inputs."""
