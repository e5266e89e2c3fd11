# SPDX-License-Identifier: Apache-2.0
"""Corner cases, which random stimulus reaches late or never: limits are searched for."""
