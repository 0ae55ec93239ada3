# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Quality of a SLAM map, against the true surface and against voxels of it.

The protocol of Beam et al. (2024) aligns the map to voxel centres by ICP and measures what lies
within a cut. Voxels hide errors and add their own, so the floor of a perfect map, the distance to
the true surface and what the alignment removed are reported too. Points are in map (ENU, metres).
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_map_evaluation.entropy import MapEntropy, map_entropy
    from aerotwin_map_evaluation.evaluation import evaluate_map
    from aerotwin_map_evaluation.no_reference import MapStatistics, evaluate_without_reference
    from aerotwin_map_evaluation.protocol import PRESETS, MapProtocol, load_map_protocol
    from aerotwin_map_evaluation.reference import MapReference
    from aerotwin_map_evaluation.result import MapEvaluation
    from aerotwin_map_evaluation.sections import section, statistics_section
    from aerotwin_map_evaluation.statistics import CloudScores
    from aerotwin_map_evaluation.surface import SurfaceReference
    from aerotwin_map_evaluation.wasserstein import VoxelDistances, voxel_distances
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
