# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters
from aerotwin_stereo_odometry import StereoOdometryParameters


def test_a_patch_without_a_centre_pixel_is_refused():
    with pytest.raises(ParameterError, match="odd"):
        load_parameters(StereoOdometryParameters, {"patch_px": 12}, where="test")
