# SPDX-License-Identifier: Apache-2.0
"""The results database: schema, what is written, what is merged."""
