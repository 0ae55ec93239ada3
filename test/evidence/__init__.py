# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What proves the project: benchmarks, verification campaigns, fuzzing, studies over seeds.

Not installed, and imported by no package of src/: `make bench`, `make verify` and `make fuzz`, or
`PYTHONPATH=test python -m evidence VERB --help`.
"""

__all__: list[str] = []
