# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Simulated defects of reconstructions, by parameters and seed: distortion, noise, holes, seasons.

A degradation maps the true surface to that of a reconstruction. Its displacement field and inverse
are known exactly: the true point p appears at p + field(p), and field.inverse undoes it.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
