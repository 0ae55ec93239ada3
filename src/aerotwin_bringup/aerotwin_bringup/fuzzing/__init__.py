# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files that are damaged on purpose: no reader may crash, hang, blow up or pass them silently.

`run_fuzz` makes seeded files of every format the evaluators read, damages each in one of a dozen
ways and reads it in a child process with a limit of memory and time.
"""

from aerotwin_bringup.fuzzing.campaign import run_fuzz
from aerotwin_bringup.fuzzing.formats import FORMATS

__all__ = ["FORMATS", "run_fuzz"]
