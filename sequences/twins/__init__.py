# SPDX-License-Identifier: Apache-2.0
"""One copy written in two legal forms that must leave one image."""
