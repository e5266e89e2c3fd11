# SPDX-License-Identifier: Apache-2.0
"""Corner cases chosen by hand, which random draws meet late or never."""
