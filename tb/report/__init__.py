# SPDX-License-Identifier: Apache-2.0
"""Pages about a regression run, from its database; without a simulator."""
