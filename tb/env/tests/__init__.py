# SPDX-License-Identifier: Apache-2.0
"""The pyuvm tests that tb/run/testlist.toml names."""
