# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment: everything of ours that lives in the simulator process."""
