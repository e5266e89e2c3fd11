# SPDX-License-Identifier: Apache-2.0
"""pyuvm agents: one per slot, with sequencer, driver and monitor."""
