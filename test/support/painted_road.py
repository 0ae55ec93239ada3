# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A survey with marks on a road, and a reconstruction of it, both drawn: nothing is flown."""

import json
from pathlib import Path

import cv2
import numpy as np

from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_meshes import TexturedMesh
from aerotwin_reconstruction.reconstruction import write_world
from aerotwin_scenarios.teach_repeat import survey_marks
from aerotwin_teach_repeat.teaching import RouteFile, save_route
from aerotwin_worlds import World

HALF_M, TEXEL_M = 12.0, 0.05
SHIFT_M = np.array([0.30, -0.20])
"""Of the whole reconstruction."""
SUB_TEXEL_M = 0.02
"""Marks are found within less than half a texel."""


def draw_survey(folder: Path) -> tuple[Path, Path]:
    """Make a survey with three marks on a road, and a reconstruction that shows them shifted."""
    rng = np.random.default_rng(3)
    n = round(2 * HALF_M / TEXEL_M)
    noise = cv2.GaussianBlur(rng.normal(0, 40, (n, n)), (0, 0), 2.0)
    grey = np.repeat((110.0 + noise).clip(0, 255).astype(np.uint8)[..., None], 3, axis=2)
    h = HALF_M
    mesh = TexturedMesh(
        vertices_map=np.array([[-h, -h, 0], [h, -h, 0], [h, h, 0], [-h, h, 0]]),
        triangles=np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        uv=np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32),
        texture=grey,
    )
    origin = GeodeticPoint(latitude_deg=47.4, longitude_deg=8.5, altitude_m=400.0)
    world = World(
        name="road", meshes=(mesh,), attribution="", licence="", origin=origin,
        start_p_map=np.zeros(3), start_yaw=0.0,
    )  # fmt: skip
    survey, built = folder / "survey", folder / "reconstruction"
    survey.mkdir()
    built.mkdir()
    route = RouteFile(
        name="road", waypoints_m=((-10.0, 0.0), (0.0, 1.0), (10.0, 0.0)),
        markers_s_m=(4.0, 10.0, 16.0),
    )  # fmt: skip
    save_route(folder / "road.yaml", route)
    marked, record = survey_marks.paint_route(world, str(folder / "road.yaml"), "road", 0.6, survey)
    (survey / "survey.json").write_text(json.dumps(record))
    (shown,) = marked.meshes
    shown.vertices_map[:, :2] += SHIFT_M
    write_world(built, shown, origin, (0.0, 0.0), "road")
    return survey, built
