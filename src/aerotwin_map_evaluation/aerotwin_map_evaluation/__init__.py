# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""How good a SLAM map is, against the true surface and against voxels of it.

The protocol of Beam et al. (2024) aligns the map to voxel centres by ICP and measures what lies
within a cut. Voxels hide errors and add their own, so the floor of a perfect map, the distance to
the true surface and what the alignment removed stand beside it. Points are in map (ENU, metres).
"""

from aerotwin_map_evaluation.evaluation import MapEvaluation, evaluate_map
from aerotwin_map_evaluation.protocol import MapProtocol
from aerotwin_map_evaluation.sections import section
from aerotwin_map_evaluation.surface import SurfaceReference

__all__ = ["MapEvaluation", "MapProtocol", "SurfaceReference", "evaluate_map", "section"]
