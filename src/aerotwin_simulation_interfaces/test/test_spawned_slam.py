# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A vehicle that is spawned cannot have a SLAM, and the refusal says who can."""

import pytest

pytestmark = pytest.mark.ros


def test_a_slam_of_a_spawned_vehicle_is_refused_with_the_way_out():
    from simulation_interfaces.msg import Resource
    from simulation_interfaces.srv import SpawnEntity

    from aerotwin_simulation_interfaces.ros.answers import RequestRefused
    from aerotwin_simulation_interfaces.ros.fleet_services import FleetServices

    request = SpawnEntity.Request(
        name="guest", entity_resource=Resource(resource_string="{slam: kiss_icp}")
    )
    services = FleetServices(None, None)  # a text that is wrong is refused before they are asked
    with pytest.raises(RequestRefused) as refused:
        services.spawn_entity(request, SpawnEntity.Response())
    assert refused.value.code == SpawnEntity.Response.RESOURCE_PARSE_ERROR
    assert "a spawned vehicle has none; name it in a fleet file, with joins_at_s" in str(
        refused.value
    )
