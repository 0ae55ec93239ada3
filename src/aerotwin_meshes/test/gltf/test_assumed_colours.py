# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""White is the default of glTF: whether a file states it or not makes a difference."""

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("material", "is_assumed"),
    [
        (None, True),
        ({"pbrMetallicRoughness": {"metallicFactor": 0.0}}, True),
        ({"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 1]}}, False),
        ({"pbrMetallicRoughness": {"baseColorFactor": [0, 0, 0, 1]}, "emissiveFactor": [1, 1, 1]},
         False),
    ],
)  # fmt: skip
def test_white_is_assumed_only_where_no_colour_is_stated(gltf, shapes, material, is_assumed):
    file = gltf()
    file.quad(**({} if material is None else {"material": file.add("materials", **material)}))
    (part,) = shapes(file.scene())
    assert part.shape.texture.tolist() == [[[255, 255, 255]]]
    assert part.shape.is_colour_assumed == is_assumed


def test_vertex_colours_are_not_assumed(gltf, shapes):
    file = gltf()
    file.quad(colours=np.ones((4, 3)))
    assert not shapes(file.scene())[0].shape.is_colour_assumed
