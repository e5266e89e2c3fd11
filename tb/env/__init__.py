# SPDX-License-Identifier: Apache-2.0
"""The pyuvm environment: all Python code that runs in the simulator process."""
