# SPDX-License-Identifier: Apache-2.0
"""Coverage as files: JSON, and the code coverage of Verilator."""
