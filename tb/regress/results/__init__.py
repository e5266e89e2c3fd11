# SPDX-License-Identifier: Apache-2.0
"""The results database: schema, writing, merging."""
