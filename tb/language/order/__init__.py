# SPDX-License-Identifier: Apache-2.0
"""Order of the steps of a program: flags, barriers, hazards."""
