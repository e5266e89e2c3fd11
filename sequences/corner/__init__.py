# SPDX-License-Identifier: Apache-2.0
"""Hand-written corner cases, which random stimulus reaches late or never."""
