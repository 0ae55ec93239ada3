# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Fly the embedded autopilot without ROS, record a rosbag2, read it back and plot the flight."""

import argparse
import shutil
from contextlib import closing
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from aerotwin_core.bag import BagReader
from aerotwin_core.parameters import replaced
from aerotwin_simulator import BagSink, Simulation, SimulatorParameters
from aerotwin_worlds import load_world

MISSION = """
takeoff_altitude_m: 4.0
speed_m_s: 3.0
waypoints:
  - {position_m: [-25.0, -2.0, 5.0], yaw_deg: 90.0}
  - {position_m: [-10.0, -2.0, 7.0], yaw_deg: 0.0}
  - {position_m: [-10.0, -10.0, 5.0], yaw_deg: -90.0}
  - {position_m: [-25.0, -10.0, 4.0], yaw_deg: 180.0}
"""


def fly(folder: Path) -> Path:
    """Fly the mission in gusty wind; return the bag."""
    (folder / "mission.yaml").write_text(MISSION)
    values = {"seed": 7, "camera.is_rendered": False, "wind.turbulence_m_s": 7.7}
    mission = {"mission.file": str(folder / "mission.yaml")}
    parameters = replaced(SimulatorParameters(), values | mission)
    world = load_world("cliff", parameters={"spacing_m": 1.0, "texel_m": 0.5})
    # The loop steps dynamics, sensors and autopilot by direct calls, as fast as the computer can;
    # a bag is one sink of its messages. The same seed gives the same bytes.
    with (
        closing(BagSink(folder / "bag")) as bag,
        closing(Simulation(parameters, world, folder, [bag])) as simulation,
    ):
        simulation.start()  # the autopilot is a process of its own, as PX4 is
        while simulation.outcome is None:
            simulation.advance()  # 4 ms
        print(f"{simulation.outcome} after {simulation.stamp_ns * 1e-9:.1f} s")
    return folder / "bag"


def main(folder: Path) -> None:
    """Fly, then read the bag as any rosbag2 is read, and draw truth, estimate and IMU."""
    folder = folder / "fly_and_read_bag"
    shutil.rmtree(folder, ignore_errors=True)  # a writer never writes over a bag
    folder.mkdir(parents=True)
    reader = BagReader(fly(folder))
    print({topic: reader.counts[topic] for topic in ("/imu/data_raw", "/truth/odom")})
    truth, estimate = reader.trajectory("/truth/odom"), reader.trajectory("/autopilot/odom")
    rows = [
        (stamp_ns * 1e-9, message.linear_acceleration.z)
        for _, stamp_ns, message in reader.messages(["/imu/data_raw"])
    ]

    figure, (path, force) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    path.plot(*truth.p_ref_body[:, :2].T, label="truth")
    path.plot(*estimate.p_ref_body[:, :2].T, "--", label="the autopilot's estimate")
    path.set(xlabel="east [m]", ylabel="north [m]", aspect="equal")
    path.legend()
    force.plot(*np.array(rows).T, linewidth=0.3)
    force.set(xlabel="time [s]", ylabel="accelerometer, upwards [m/s²]", ylim=(0.0, 25.0))
    force.set_title("at rest, in vibration and gusts, and the touch-down")
    figure.savefig(folder.parent / "fly_and_read_bag.png", dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/examples"))
    main(parser.parse_args().output)
