# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where the page is unless it is asked for elsewhere."""

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8090
FIRST_PORT, LAST_PORT = 1024, 65535
"""Below are those that need rights."""
NO_WORLD = "none"
RUNS = "runs"
TIME_PASSES = "view: the simulation runs"
"""What a live view prints when it hears simulated time for the first time."""
