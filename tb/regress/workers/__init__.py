# SPDX-License-Identifier: Apache-2.0
"""Who does the jobs: processes of this machine, clusters."""
