# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Images of a real drive, searched for without an expectation, and how they are counted."""

import dataclasses

import numpy as np
import pytest

from aerotwin_campaign import load_campaign
from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_datasets.kitti_sequence import read_sequence
from aerotwin_dense_localization.localization import ImageLocalization, Status
from evidence.verification.searched_images import CASES, Searched, search_images
from evidence.verify_command import CAMPAIGNS

FOLDER = "image_sequences/kitti_seq_1"
N_PAIRS = 7
NEAR_M = 0.2
"""The given poses of the first frames do not fit the pictures; over all the median is 5 cm."""


def test_real_images_are_found_without_an_expectation_or_not_at_all(shared_data):
    whole = read_sequence(shared_data(FOLDER))
    first = dataclasses.replace(
        whole,
        left=whole.left[:N_PAIRS],
        right=whole.right[:N_PAIRS],
        stamps_ns=whole.stamps_ns[:N_PAIRS],
    )
    (case,) = (case for case in CASES if case.name == "far_2nd")
    searched = search_images(first, case, 0)
    errors_m = [np.linalg.norm(one.error_m) for one in searched if one.found.is_localized]
    assert len(searched) == 3 and len(errors_m) >= 1
    assert max(errors_m) < NEAR_M
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


def test_errors_are_compared_with_the_covariance_that_was_said():
    assert searched_at(0.2).nees == pytest.approx(4.0 / 3.0)  # one of three axes is off
    assert np.isnan(searched_at(None).nees)


def test_every_map_is_in_the_campaign():
    campaign = load_campaign(CAMPAIGNS / "kitti_searched.yaml")
    assert campaign.axes["map"].values == tuple(case.name for case in CASES)


def test_images_are_not_searched_for_without_poses(shared_data, tmp_path):
    folder = shared_data(FOLDER)
    for file in folder.iterdir():
        if file.name != "poses.txt":
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(UserError, match=r"poses\.txt: is missing"):
        search_images(read_sequence(tmp_path), CASES[0], 0)
