# SPDX-License-Identifier: Apache-2.0
"""Tools that the project needs: install, find, diagnose, and the static checks."""
