# SPDX-License-Identifier: Apache-2.0
"""What is right: the numpy reference model, the golden memories and the comparers."""
