# SPDX-License-Identifier: Apache-2.0
"""One run: plan, build, simulate, judge, record, show."""
