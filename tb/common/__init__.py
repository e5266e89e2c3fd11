# SPDX-License-Identifier: Apache-2.0
"""What every room may use: errors, paths, files, processes."""
