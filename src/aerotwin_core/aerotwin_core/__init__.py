# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What every package stands on: frames, geodesy, time, parameters, cameras, bags, messages.

World frames are East-North-Up (`map`), bodies Forward-Left-Up (`base_link`), cameras
`*_optical` look along z (REP-103, REP-105). Quaternions are scalar-last (xyzw), units SI,
stamps integer nanoseconds. Nothing here imports ROS except the `ros` folder.

What a package says in a report is a `section.Section`; its pictures come from `plots` (style,
colours, `render_svg`) and from the charts that most sections need, in `charts`: `Series`, `chart`,
`draw_histograms`, `draw_cumulative`, `draw_boxes`, `draw_coloured_points`, and `default_limits`,
`height_of_map`, `sampled`, `thinned`, `say` for those who draw themselves.

The working folder decides nothing: what numba and Fast DDS would read from it (the folder of
compiled kernels, which are pickles; the network) is set in the environment, where it is not yet.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any

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

os.environ.setdefault("NUMBA_CACHE_DIR", "")
os.environ.setdefault("SKIP_DEFAULT_XML_FILE", "1")

__all__ = [
    "BrownCamera",
    "CameraModel",
    "FisheyeCamera",
    "GeodeticPoint",
    "LocalTangentPlane",
    "ParameterError",
    "PinholeCamera",
    "StereoRig",
    "Trajectory",
    "UserError",
]

_HOMES = {
    "BrownCamera": "camera",
    "CameraModel": "camera",
    "FisheyeCamera": "camera",
    "GeodeticPoint": "geodesy",
    "LocalTangentPlane": "geodesy",
    "ParameterError": "errors",
    "PinholeCamera": "camera",
    "StereoRig": "camera",
    "Trajectory": "trajectory",
    "UserError": "errors",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use: a command's help must not wait for SciPy."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"aerotwin_core.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'aerotwin_core' has no attribute '{name}'")
