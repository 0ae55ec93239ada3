# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import pytest

COARSE_WORLD = """
name: coarse
generator: cliff
parameters: {seed: 1, spacing_m: 1.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0, yaw_deg: 90.0}
attribution: Made in a test
licence: Apache-2.0
"""


@pytest.fixture(scope="session")
def coarse_world(tmp_path_factory):
    """A cliff made in a moment: the start is at its foot, looking north."""
    path = tmp_path_factory.mktemp("world") / "cliff.yaml"
    path.write_text(COARSE_WORLD)
    return path
