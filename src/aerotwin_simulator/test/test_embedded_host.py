# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The embedded autopilots of a fleet share one process."""

import hashlib
from pathlib import Path
from typing import Any

import psutil
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import replaced
from aerotwin_px4_bridge.embedded_host import EmbeddedHost
from aerotwin_px4_bridge.lane_links import LaneLinks
from aerotwin_simulator import present_vehicles
from aerotwin_simulator.parameters import MAX_INSTANCE, FleetSettings, SimulatorParameters
from aerotwin_simulator.recording import BagSink
from aerotwin_simulator.simulation import Simulation

INSTANCE = 150
N_VEHICLES = 20
N_STEPS = 100
WALL_TIME = ("status", "diagnostics")
"""In the names of topics with the longest wait for an answer, which is wall time."""


def parameters(n: int) -> SimulatorParameters:
    """Return those of vehicles at rest that nobody commands."""
    return replaced(
        SimulatorParameters(),
        {
            "controller.kind": "embedded",
            "fleet.instance": INSTANCE,
            "fleet.instances": n,
            "mission.file": "none",
            "camera.is_rendered": False,
        },
    )


def recorded(
    folder: Path, world, n: int, n_steps: int = N_STEPS, **changes
) -> tuple[dict[str, str], str]:
    """Return the digest of each topic of a flight, and the phases of its vehicles."""
    folder.mkdir()
    bag = BagSink(folder / "bag", record="inertial")
    simulation = Simulation(replaced(parameters(n), changes), world, folder, [bag])
    try:
        simulation.start()
        assert len({v.backend.process.pid for v in simulation.vehicles}) == 1
        for _ in range(n_steps):
            simulation.advance()
        assert simulation.is_repeatable
        phase = simulation.phase
        process = psutil.Process(simulation.vehicles[0].backend.process.pid)
    finally:
        simulation.close()
        bag.close()
    assert not process.is_running()
    digests: dict[str, Any] = {}
    for name, stamp_ns, cdr in BagReader(folder / "bag").raw():
        if not any(part in name for part in WALL_TIME):
            digest = digests.setdefault(name, hashlib.sha256())
            digest.update(stamp_ns.to_bytes(8, "little") + bytes(cdr))
    return {name: digest.hexdigest() for name, digest in digests.items()}, phase


def test_two_runs_of_twenty_give_the_same_bytes(tmp_path, flat_world):
    (first, phase), (second, _) = (
        recorded(tmp_path / name, flat_world, N_VEHICLES) for name in ("first", "second")
    )
    assert len(first) > 10 * N_VEHICLES
    assert first == second
    assert phase == f"{N_VEHICLES} waiting until it can arm"


def test_what_is_done_together_is_what_each_does(tmp_path, flat_world, monkeypatch):
    """From the start through arming and climb: 10 s after which all are in the air."""
    (tmp_path / "up.yaml").write_text(
        "takeoff_altitude_m: 3.0\nwaypoints: [{position_m: [9.0, 0.0, 3.0]}]\n"
    )
    flight = {"mission.file": str(tmp_path / "up.yaml"), "wind.turbulence_m_s": 5.0}
    send, were_sent = LaneLinks.send, []

    def noted(*arguments: Any) -> bool:
        were_sent.append(send(*arguments))
        return were_sent[-1]

    monkeypatch.setattr(LaneLinks, "send", noted)
    together, phase = recorded(tmp_path / "together", flat_world, 3, 2500, **flight)
    assert "uav2 flying" in phase
    assert sum(were_sent) > 2400
    for k, (owner, name, alone) in enumerate(
        [
            (LaneLinks, "send", lambda *_: False),
            (LaneLinks, "receive", lambda *_: None),
            (present_vehicles, "computed_together", lambda stepped, *_: stepped),
        ]
    ):
        monkeypatch.setattr(owner, name, alone)
        each, _ = recorded(tmp_path / f"each{k}", flat_world, 3, 2500, **flight)
        assert together == each, name


@pytest.mark.parametrize(
    ("signal", "message"), [("kill", "closed the HIL link"), ("suspend", "stopped answering")]
)
def test_the_end_of_the_process_is_that_of_the_flight(tmp_path, flat_world, signal, message):
    own = replaced(parameters(3), {"autopilot.answer_s": 0.3})
    simulation = Simulation(own, flat_world, tmp_path, [])
    try:
        simulation.start()
        for _ in range(N_STEPS):
            simulation.advance()
        process = psutil.Process(simulation.vehicles[0].backend.process.pid)
        getattr(process, signal)()
        for _ in range(10):
            if simulation.outcome is None:
                simulation.advance()
        if signal == "suspend":
            process.resume()
    finally:
        simulation.close()
    assert not simulation.is_success
    assert message in simulation.outcome


def test_the_last_to_start_starts_the_process_and_the_last_to_stop_ends_it(tmp_path):
    host = EmbeddedHost(tmp_path, ["/bin/sh", "-c", "exec sleep 60"], None)
    host.add(0, tmp_path / "0.yaml").stop()  # never started
    first, second = (host.add(i, tmp_path / f"{i}.yaml") for i in (1, 2))
    first.start()
    assert first.pid is None
    second.start()
    process = psutil.Process(first.pid)
    first.stop()
    later = host.add(1, tmp_path / "1.yaml")  # as at a reset: while others still run
    second.check()
    assert process.is_running()
    second.stop()
    assert not process.is_running()
    later.start()
    assert later.pid not in (None, process.pid)
    later.stop()


def test_more_vehicles_than_ports_are_refused():
    most = FleetSettings(instances=MAX_INSTANCE + 1)
    assert SimulatorParameters(fleet=most).fleet.instances == MAX_INSTANCE + 1
    too_many = FleetSettings(instance=1, instances=MAX_INSTANCE + 1)
    with pytest.raises(ParameterError, match=f"above {MAX_INSTANCE}"):
        SimulatorParameters(fleet=too_many)
    assert SimulatorParameters(fleet=too_many, dynamics="point_mass").fleet == too_many
