# SPDX-License-Identifier: Apache-2.0
"""Workers: processes of this machine, clusters."""
