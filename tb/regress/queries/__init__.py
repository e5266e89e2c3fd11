# SPDX-License-Identifier: Apache-2.0
"""What is read of the results database, as values, text and JUnit."""
