# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Point clouds: files, voxel down-sampling, and rigid alignment with failure detection.

Points are (n, 3) arrays in metres in a frame that the name states (`points_map`). An alignment
returns a `Registration` with `T_target_source`, x_target = T_target_source @ x_source. After a
failure `converged` is False, and `reason` says why.
"""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_core.voxels import voxel_downsample
    from aerotwin_registration.clouds import Cloud, read_cloud, write_cloud
    from aerotwin_registration.coarse import CoarseProtocol, CoarseRegistration, coarse_align
    from aerotwin_registration.geo_reference import (
        GnssAlignment,
        GnssProtocol,
        T_reference_estimate_from_origins,
        align_to_gnss,
    )
    from aerotwin_registration.icp import (
        ICP_PRESETS,
        AlignmentTarget,
        IcpProtocol,
        Registration,
        align,
    )
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
