# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The model that maps are measured against, as its file gives it."""

import numpy as np
import pytest

from aerotwin_comparison.twin.sides import load_model
from aerotwin_map_evaluation import MapProtocol
from aerotwin_voxel_cloud import MapInput


@pytest.mark.parametrize("edge_m", [0.25, None])
def test_the_edge_of_its_voxels_is_what_the_file_says(monkeypatch, edge_m):
    """Cells so far apart that nobody could see their edge."""
    centres = np.arange(12.0)[:, None] * [1.7, 2.3, 0.0]
    provided = MapInput(spec="m.binvox", kind="binvox", content=centres, edge_m=edge_m)
    monkeypatch.setattr("aerotwin_comparison.twin.sides.load_map", lambda spec, **_: provided)
    assert load_model("m.binvox", MapProtocol()).reference.edge_m == edge_m
