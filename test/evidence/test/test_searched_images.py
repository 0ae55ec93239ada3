# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, searched for without an expectation, and how they are counted."""

import dataclasses

import numpy as np
import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_datasets.kitti_sequence import read_sequence
from aerotwin_dense_localization.localization import ImageLocalization, Status
from evidence.verification.real_images import FOLDER
from evidence.verification.searched_images import (
    CASES,
    MapCase,
    Searched,
    figures,
    search_images,
    search_kitti_images,
)

CASE = MapCase(name="any", every=2, least_placed=0.9)
N_PAIRS = 7
NEAR_M = 0.2
"""The given poses of the first frames do not fit the pictures; over all the median is 5 cm."""


def test_real_images_are_found_without_an_expectation_or_not_at_all(shared_data):
    whole = read_sequence(shared_data(str(FOLDER)))
    first = dataclasses.replace(
        whole,
        left=whole.left[:N_PAIRS],
        right=whole.right[:N_PAIRS],
        stamps_ns=whole.stamps_ns[:N_PAIRS],
    )
    (case,) = (case for case in CASES if case.name == "far map of every 2nd pair, reach 3 m")
    searched = search_images(first, case, [0])
    row = figures(searched, case)
    assert row["n"] == 3 == row["n_placed"] + len(row["lost"])
    assert row["n_placed"] >= 1 and row["worst_m"] < NEAR_M, row
    assert all(one.frame % 2 == 1 for one in searched)


def searched_at(error_m, sigma_m=0.1):
    """Return an image that was found so far off, None: not found."""
    is_lost = error_m is None
    found = ImageLocalization(
        status=Status.LOST if is_lost else Status.RELOCALIZED,
        T_map_cam=None if is_lost else make_transform(np.eye(3), [5.0 + error_m, 0.0, 0.0]),
        covariance=None if is_lost else np.diag([sigma_m**2] * 6),
        correlation=0.9, overlap=1.0, reason="too dark" if is_lost else "",
    )  # fmt: skip
    return Searched(frame=3, T_map_cam=make_transform(np.eye(3), [5.0, 0.0, 0.0]), found=found)


@pytest.mark.parametrize(
    ("errors_m", "met"),
    [
        ([0.05] * 10, True),
        ([0.05] * 9 + [None], True),
        ([0.05] * 8 + [None] * 2, False),  # too many are lost
        ([0.05] * 9 + [0.51], False),  # one is wrong and believed
        ([None] * 10, False),
    ],
)
def test_a_wrong_place_that_is_believed_misses_the_bar(errors_m, met):
    row = figures([searched_at(error) for error in errors_m], CASE)
    assert row["met"] is met
    assert row["n_wrong"] == errors_m.count(0.51)
    assert row["lost"] == [{"frame": 3, "reason": "too dark"}] * errors_m.count(None)


def test_errors_are_compared_with_the_covariance_that_was_said():
    row = figures([searched_at(0.2), searched_at(0.1), searched_at(None)], CASE)
    assert row["nees"] == pytest.approx(np.mean([4.0, 1.0]) / 3.0)  # one of three axes is off
    assert row["worst_m"] == pytest.approx(0.2)


def test_images_are_not_searched_for_without_poses(shared_data, tmp_path):
    folder = shared_data(str(FOLDER))
    for file in folder.iterdir():
        if file.name != "poses.txt":
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(UserError, match=r"poses\.txt: is missing"):
        search_kitti_images(tmp_path, [0], is_quiet=True)
