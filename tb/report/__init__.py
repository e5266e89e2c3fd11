# SPDX-License-Identifier: Apache-2.0
"""Pages about a regression, from its database; knows no simulator."""
