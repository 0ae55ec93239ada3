# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Base of all packages: frames, geodesy, time, parameters, cameras, bags, messages.

World frames are East-North-Up (`map`), bodies Forward-Left-Up (`base_link`), cameras
`*_optical` look along z (REP-103, REP-105). Quaternions are scalar-last (xyzw), units SI,
stamps integer nanoseconds. Nothing here imports ROS except the `ros` folder.

A package's part of a report is a `section.Section`; its figures come from `plots` (style,
colours, `render_svg`) and from the charts that most sections need, in `charts`: `Series`, `chart`,
`draw_histograms`, `draw_cumulative`, `draw_boxes`, `draw_coloured_points`, and `default_limits`,
`height_of_map`, `sampled`, `thinned`, `say` for custom drawings.

The working folder has no influence: what numba and Fast DDS would read from it (the folder of
compiled kernels, which are pickles; the network) is set in the environment, unless it is set there.
"""

import os
from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_core.camera import (
        BrownCamera,
        CameraModel,
        FisheyeCamera,
        PinholeCamera,
        StereoRig,
    )
    from aerotwin_core.errors import ParameterError, UserError
    from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
    from aerotwin_core.trajectory import Trajectory
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)

os.environ.setdefault("NUMBA_CACHE_DIR", "")
os.environ.setdefault("SKIP_DEFAULT_XML_FILE", "1")
