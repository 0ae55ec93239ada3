# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import load_parameters, parameter_table_markdown
from aerotwin_stereo_odometry import StereoOdometryParameters

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.ros
def test_the_readme_holds_the_table_of_every_odometry_parameter():
    from aerotwin_stereo_odometry.ros.node_parameters import StereoOdometryNodeParameters

    table = parameter_table_markdown(StereoOdometryNodeParameters)
    assert table in README.read_text(encoding="utf-8")


def test_a_patch_without_a_centre_pixel_is_refused():
    with pytest.raises(ParameterError, match="odd"):
        load_parameters(StereoOdometryParameters, {"patch_px": 12}, where="test")
