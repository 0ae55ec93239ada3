# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Who is steered, and which orders there are for it."""

import pytest

from aerotwin_view import open_page
from aerotwin_view.panels.steering_panel import SteeringPanel


@pytest.fixture
def panel():
    page, _ = open_page("test", port=18_720)
    yield SteeringPanel(page)
    page.stop()


def test_a_vehicle_without_a_namespace_has_a_name_to_choose(panel):
    assert panel.vehicle == ""
    panel.set_vehicles(["", "uav1"])
    assert panel._vehicle.options == ("robot", "uav1")
    assert panel.vehicle == ""
    panel._vehicle.value = "uav1"
    assert panel.vehicle == "uav1"
    panel.set_vehicles([""])
    assert panel.vehicle == ""


def test_a_robot_that_does_not_fly_has_no_orders_of_a_flight(panel):
    panel.set_flight(False)
    hidden = [control for control in panel._of_flight if not control.visible]
    assert len(hidden) == 5  # two rows, places, up and down
    panel.set_flight(True)
    assert all(control.visible for control in panel._of_flight)
