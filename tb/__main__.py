# SPDX-License-Identifier: Apache-2.0
"""``python -m tb``: the command line of PTO-DV."""

from tb.cli.main import main

if __name__ == "__main__":
    main()
