# SPDX-License-Identifier: Apache-2.0
"""pytest suites that build and run the simulators."""
