# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A flight with everything on is heard on this machine only, and by whoever listens there."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLIGHT = ROOT / "launch" / "sitl_flight.launch.yaml"
INSTANCE = 93
LIMIT_S = 240.0
LOOPBACK = "127.0.0.1"
KINDS = ("tcp", "udp", "tcp6", "udp6")
EVERYTHING = {
    "mission": "none", "speed": 1.0, "lidar": "spinning_16", "voxel_cloud_m": 1.0,
    "slam": "stereo_odometry", "record": "none",
}  # fmt: skip
WORLD = """
name: coarse
generator: cliff
parameters: {seed: 1, spacing_m: 1.0, texel_m: 0.5}
origin: {latitude_deg: 47.4, longitude_deg: 8.5, altitude_m: 400.0}
start: {x_m: -25.0, y_m: -10.0}
attribution: Made in a test
licence: Apache-2.0
"""
SDP_GROUP = "239.255.0.1"
"""Where DDS participants announce themselves (RTPS 2.5, 9.6.2.4)."""


def processes_of(leader: int) -> list[int]:
    """Return a session's processes, however deep."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                if os.getsid(int(folder.name)) == leader or is_below(int(folder.name), leader):
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        text = Path(f"/proc/{pid}/stat").read_text()
        pid = int(text.rpartition(")")[2].split()[1])
        if pid == ancestor:
            return True
    return False


def open_sockets(pid: int) -> set[str]:
    """Return the inodes of a process's sockets."""
    found = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if match := re.fullmatch(r"socket:\[(\d+)\]", target):
            found.add(match[1])
    return found


def local_addresses(pids: list[int]) -> set[str]:
    """Return the addresses to which the processes' internet sockets are bound."""
    inodes = {inode for pid in pids for inode in open_sockets(pid)}
    found = set()
    for kind in KINDS:
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found.add(address(fields[1].partition(":")[0]))
    return found


def address(text: str) -> str:
    """Return an address of /proc/net, which is hexadecimal in words of the machine's order."""
    tokens = [int(text[k : k + 8], 16) for k in range(0, len(text), 8)]
    family = socket.AF_INET if len(tokens) == 1 else socket.AF_INET6
    return socket.inet_ntop(family, struct.pack(f"={len(tokens)}I", *tokens))


def groups() -> set[str]:
    """Return the IPv4 multicast groups of this machine's cards."""
    tokens = re.findall(r"^\t+([0-9A-F]{8}) ", Path("/proc/net/igmp").read_text(), re.M)
    return {address(token) for token in tokens}


@pytest.fixture
def flight(tmp_path) -> Iterator[int]:
    """The process id of a launched flight with everything on."""
    world = tmp_path / "coarse.yaml"
    world.write_text(WORLD)
    everything = {**EVERYTHING, "world": world}
    tokens = [f"{name}:={value}" for name, value in everything.items()]
    environment = {k: v for k, v in os.environ.items() if k != "ROS_AUTOMATIC_DISCOVERY_RANGE"}
    launched = subprocess.Popen(
        [sys.executable, "-m", "aerotwin_core.cli", "launch", str(FLIGHT), *tokens,
         f"instance:={INSTANCE}", f"runs_dir:={tmp_path}"],
        start_new_session=True, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield launched.pid
    finally:
        os.killpg(launched.pid, signal.SIGINT)
        launched.wait(60.0)


@pytest.mark.ros
@pytest.mark.slow
def test_a_flight_with_everything_on_opens_the_loopback_only_and_is_heard_there(flight):
    import rclpy
    from sensor_msgs.msg import Imu, PointCloud2

    heard: dict[str, int] = {}
    before = groups()
    rclpy.init()  # as an outside node: with what the shell says
    node = rclpy.create_node("outside")

    def hear(name: str, kind: type) -> None:
        node.create_subscription(
            kind, name, lambda _: heard.update({name: heard.get(name, 0) + 1}), 10
        )

    hear("imu/data_raw", Imu)
    hear("lidar/points", PointCloud2)
    try:
        end = time.monotonic() + LIMIT_S
        while len(heard) < 2:
            assert time.monotonic() < end, f"heard only {heard}"
            rclpy.spin_once(node, timeout_sec=0.1)
        pids = processes_of(flight)
        assert len(pids) >= 4  # runner, simulator, autopilot, odometry, voxel cloud
        assert local_addresses(pids) == {LOOPBACK}
        while SDP_GROUP in groups() - before:  # other tests join it for a while, a flight for all
            assert time.monotonic() < end, f"{SDP_GROUP} was joined"
            time.sleep(0.1)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
