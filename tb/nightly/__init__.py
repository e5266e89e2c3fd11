# SPDX-License-Identifier: Apache-2.0
"""The commands about regressions: run one, look at earlier ones, publish pages and exports."""
