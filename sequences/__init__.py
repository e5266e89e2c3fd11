# SPDX-License-Identifier: Apache-2.0
"""What to send: random, directed, corner and illegal blocks of ops."""
