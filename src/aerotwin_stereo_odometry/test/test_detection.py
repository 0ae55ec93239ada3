# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np

from aerotwin_stereo_odometry.detection import detect_corners

OPTIONS = {"cell_px": 32, "border_px": 10, "min_gradient_energy": 5.0}


def squares():
    image = np.full((200, 300), 60.0, dtype=np.float32)
    image[50:90, 70:130] = 180.0
    image[120:170, 180:260] = 140.0
    return image


def test_corners_of_squares_are_found_and_nothing_else():
    truth = [(70, 50), (129, 50), (70, 89), (129, 89), (180, 120), (259, 120), (180, 169)]
    found = detect_corners(squares(), np.empty((0, 2)), **OPTIONS)
    distance = np.linalg.norm(found[:, None] - np.array([*truth, (259, 169)])[None], axis=2)
    assert len(found) >= 6
    assert distance.min(axis=1).max() < 5.0  # half the structure tensor's window


def test_an_edge_and_a_flat_area_hold_no_corner():
    edge = np.full((200, 300), 60.0, dtype=np.float32)
    edge[:, 150:] = 200.0
    assert len(detect_corners(edge, np.empty((0, 2)), **OPTIONS)) == 0


def test_one_corner_per_cell_and_none_beside_an_occupied_place():
    rng = np.random.default_rng(0)
    noise = (128 + 40 * rng.standard_normal((200, 300))).astype(np.float32)
    free = detect_corners(noise, np.empty((0, 2)), **OPTIONS)
    cells = {tuple(c) for c in ((free - 10) // 32).astype(int)}
    assert len(cells) == len(free) > 30
    again = detect_corners(noise, free, **OPTIONS)
    if len(again):
        away = np.abs(again[:, None] - free[None]).max(axis=2).min(axis=1)
        assert away.min() > int(0.6 * 32)


def test_the_threshold_is_the_mean_squared_gradient_of_the_weakest_direction():
    y, x = np.mgrid[0:200, 0:300].astype(np.float32)
    # slopes 2 along x and 3 along y in turn: a saddle of known gradient energy, 2^2 and 3^2
    ramp = (2.0 * np.abs((x % 40) - 20) + 3.0 * np.abs((y % 40) - 20)).astype(np.float32)
    low = detect_corners(ramp, np.empty((0, 2)), cell_px=32, border_px=10, min_gradient_energy=2.0)
    high = detect_corners(ramp, np.empty((0, 2)), cell_px=32, border_px=10, min_gradient_energy=5.0)
    assert len(low) > 0
    assert len(high) == 0
