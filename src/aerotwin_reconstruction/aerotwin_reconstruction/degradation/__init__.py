# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with reconstructions, by choice and by seed: bending, noise, holes, seasons.

A degradation takes the true surface to what a reconstruction might show of it. Its displacement
field is known exactly, with its inverse, so that a true mark and its image can be told from each
other: the true point p appears at p + field(p), and field.inverse undoes it.
"""

from aerotwin_reconstruction.degradation.cloud import DegradedCloud, degrade, field_of
from aerotwin_reconstruction.degradation.displacement import DisplacementField
from aerotwin_reconstruction.degradation.meshes import (
    DegradedMeshes,
    SampledSurface,
    degrade_meshes,
    sample_surface,
)
from aerotwin_reconstruction.degradation.parameters import (
    PRESETS,
    DegradationParameters,
    load_degradation,
)

__all__ = [
    "PRESETS",
    "DegradationParameters",
    "DegradedCloud",
    "DegradedMeshes",
    "DisplacementField",
    "SampledSurface",
    "degrade",
    "degrade_meshes",
    "field_of",
    "load_degradation",
    "sample_surface",
]
