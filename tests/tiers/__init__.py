# SPDX-License-Identifier: Apache-2.0
"""Three tiers of tests: what a change reaches, a share of everything, everything."""
