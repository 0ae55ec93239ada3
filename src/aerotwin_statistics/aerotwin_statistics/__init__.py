# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Statistics for correlated samples, and for few runs of several methods.

Neighbouring points of a map and neighbouring poses of a trajectory have similar errors, so n of
them are not n independent samples. Blocks of space or time are resampled instead
(`block_bootstrap`); that two samples agree is shown by an interval within a margin (`tost`), not by
failing to find a difference. Between methods the run is the unit (`compare_paired`,
`compare_unpaired`, `holm`). All random draws are seeded.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_statistics.blocks import (
        BlockSize,
        blocks_in_space,
        blocks_in_time,
        choose_block_size,
    )
    from aerotwin_statistics.bootstrap import (
        STATISTICS,
        Interval,
        Replicates,
        block_bootstrap,
        bootstrap_difference,
        bootstrap_interval,
    )
    from aerotwin_statistics.equivalence import Equivalence, tost
    from aerotwin_statistics.proportion import proportion_interval
    from aerotwin_statistics.significance import (
        Comparison,
        Quartiles,
        compare_paired,
        compare_unpaired,
        holm,
        quartiles,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
