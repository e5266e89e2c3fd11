# SPDX-License-Identifier: Apache-2.0
"""What orders the steps of a program, and what nothing orders: flags, barriers, hazards."""
