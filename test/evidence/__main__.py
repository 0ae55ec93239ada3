# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""`python -m evidence VERB`: benchmarks and verification, as verbs like those of `aerotwin`."""

import sys
from importlib.metadata import EntryPoint

from aerotwin_core.cli import GROUP, main

VERBS = [EntryPoint(name, f"evidence.{name}_command", GROUP) for name in ("bench", "verify")]

if __name__ == "__main__":
    sys.exit(main(program="evidence", verbs=VERBS))
