# SPDX-License-Identifier: Apache-2.0
"""Results that reference code of others gave, as ops with the bytes that they must leave."""
