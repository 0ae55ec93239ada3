# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What proves the project: benchmarks, verification campaigns, fuzzing, studies over seeds.

Not installed, and no package of src/ imports it. `make bench`, `make verify` and `make fuzz` run it.
"""

__all__: list[str] = []
