# SPDX-License-Identifier: Apache-2.0
"""Streams of ops of one shape, whose rates are measured and limited."""
