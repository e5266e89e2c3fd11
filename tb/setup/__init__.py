# SPDX-License-Identifier: Apache-2.0
"""Tools of the project: install, find, diagnose, and the static checks."""
