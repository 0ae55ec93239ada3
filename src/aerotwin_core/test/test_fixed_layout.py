# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from aerotwin_core import messages
from aerotwin_core.fixed_layout import FixedLayout


def _imu(stamp_ns, v):
    return messages.imu_message(
        stamp_ns, "imu_link", v[:3], v[3:], specific_force_std=0.1, angular_velocity_std=0.2
    )


def _odometry(stamp_ns, v):
    return messages.odometry_message(
        stamp_ns, "map", "base_link_truth", v[:3], v[3:7], v[7:10], v[10:13]
    )


@pytest.mark.parametrize(("build", "n"), [(_imu, 6), (_odometry, 13)])
def test_the_bytes_are_those_of_the_complete_serialisation(build, n):
    layout = FixedLayout(build, n)
    rng = np.random.default_rng(3)
    for stamp_ns in (0, 4_000_000, 12_345_678_901):
        values = rng.normal(size=n).tolist()
        assert layout.pack(stamp_ns, values) == messages.serialize(build(stamp_ns, values))


def test_every_header_of_a_message_has_the_stamp():
    def build(stamp_ns, v):
        edges = [("map", "odom", v[:3]), ("odom", "base_link", v[3:])]
        level = (0.0, 0.0, 0.0, 1.0)
        return messages.transform_message(
            [messages.transform_stamped(stamp_ns, *frames, p, level) for *frames, p in edges]
        )

    layout = FixedLayout(build, 6)
    values = [0.1, -2.0, 3.5, 4.0, 5.0, 6.0]
    assert layout.pack(5_000_000_007, values) == messages.serialize(build(5_000_000_007, values))


def test_a_number_that_is_changed_on_the_way_is_refused():
    def build(stamp_ns, values):
        return messages.fluid_pressure_message(stamp_ns, "base_link", 2.0 * values[0], 1.0)

    with pytest.raises(ValueError, match="value 0 must stand once"):
        FixedLayout(build, 1)


def test_a_message_that_changes_elsewhere_is_refused():
    def build(stamp_ns, values):
        std = 1.0 if values[0] > 0.6 else 2.0
        return messages.fluid_pressure_message(stamp_ns, "base_link", values[0], std)

    with pytest.raises(ValueError, match="changes elsewhere"):
        FixedLayout(build, 1)
