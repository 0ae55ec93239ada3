# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Processors, disk, shared memory and DDS settings."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from aerotwin_core.network import HIGHEST_DOMAIN, LAN, LOOPBACK, NETWORK
from aerotwin_doctor.check import Check, fail, ok, warn

MIB, GIB = 1 << 20, 1 << 30
LITTLE_DISK, TOO_LITTLE_DISK = 5 * GIB, GIB // 4
"""A flight of a minute with cameras leaves 1.5 GB."""
SEGMENT = 32 * MIB
"""aerotwin_core/network/*.xml: shared memory of each node."""
N_NODES = 6
STALE_SHARED = 256 * MIB
DDS_BASE_PORT, DDS_PORTS_PER_DOMAIN = 7400, 250
"""RTPS 2.5, section 9.6.1.1: PB and DG."""
HIGHEST_SAFE_DOMAIN = 101
"""Above it the ports of DDS reach into the ephemeral ports of Linux (32768 and up)."""


def processor_check(allowed: set[int] | None = None) -> Check:
    """Return the number of processors that this process may use."""
    cpus = os.sched_getaffinity(0) if allowed is None else allowed
    n_all = os.cpu_count() or 1
    text = f"{len(cpus)} of {n_all} processors may be used ({_listed(cpus)})"
    if len(cpus) == 1:
        return warn(
            "machine.processors",
            text,
            "loop, autopilot, cameras and SLAM share one: give the process more (taskset, docker "
            "--cpuset-cpus)",
        )
    return ok("machine.processors", text)


def _listed(cpus: set[int]) -> str:
    first, *rest = sorted(cpus)
    return f"{first}…{rest[-1]}" if len(rest) > 3 else ", ".join(map(str, [first, *rest]))


def disk_check(folder: Path, free: int | None = None) -> Check:
    """Return whether a folder has space for a flight's bag."""
    n_free = shutil.disk_usage(folder).free if free is None else free
    text = f"{n_free / GIB:.1f} GiB free where runs go ({folder})"
    if n_free < TOO_LITTLE_DISK:
        return fail("machine.disk", text, "free space, or name another place with runs_dir:=")
    if n_free < LITTLE_DISK:
        return warn("machine.disk", text, "record:=inertial leaves the images out")
    return ok("machine.disk", text)


def shared_memory_check(folder: Path = Path("/dev/shm"), free: int | None = None) -> Check:
    """Return whether DDS has enough shared memory, and leftovers of killed processes there."""
    name = "dds.shared_memory"
    if not folder.is_dir():
        return warn(name, f"{folder} is not there", "DDS falls back to UDP: slower images")
    n_free = shutil.disk_usage(folder).free if free is None else free
    left = sum(path.stat().st_size for path in folder.glob("fastdds_*") if path.is_file())
    text = f"{n_free / MIB:.0f} MiB free in {folder}, {left / MIB:.0f} MiB in use by Fast DDS"
    if n_free < N_NODES * SEGMENT:
        return fail(
            name,
            f"{text}; {N_NODES} nodes need {N_NODES * SEGMENT // MIB} MiB",
            "fastdds shm clean; in a container: docker run --shm-size=1g or --ipc=host",
        )
    if left > STALE_SHARED:
        return warn(name, text, "nothing running? fastdds shm clean removes what killed nodes left")
    return ok(name, text)


def dds_settings_check(environment: Mapping[str, str] = os.environ) -> Check:
    """Return whether the environment variables of DDS have the intended values."""
    name = "dds.settings"
    profiles = environment.get("FASTDDS_DEFAULT_PROFILES_FILE")
    if profiles and not Path(profiles).is_file():
        return fail(name, f"FASTDDS_DEFAULT_PROFILES_FILE: no file {profiles}", "unset or fix it")
    if environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper() == "OFF":
        return fail(
            name,
            "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF: nodes on one machine do not find each other",
            "set it to LOCALHOST",
        )
    if "ROS_LOCALHOST_ONLY" in environment:
        return warn(
            name,
            "ROS_LOCALHOST_ONLY is deprecated",
            "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST replaces it",
        )
    network = environment.get(NETWORK, LOOPBACK)
    if network not in (LOOPBACK, LAN):
        return fail(name, f"{NETWORK}={network}", f"set it to {LOOPBACK} or {LAN}, or unset it")
    if network == LAN:
        return warn(
            name,
            f"{NETWORK}={LAN}: any machine on the network can hear and command the nodes",
            f"unset it; network:={LAN} opens a single launch",
        )
    rmw = environment.get("RMW_IMPLEMENTATION", "the default")
    text = f"nodes are heard on this machine only (network:={LAN} opens a launch to the network)"
    return ok(name, f"RMW {rmw}; {text}")


def domain_check(mavlink_ports: set[int], environment: Mapping[str, str] = os.environ) -> Check:
    """Return whether the UDP ports of a ROS domain do not overlap those of MAVLink."""
    name = "dds.domain"
    text = environment.get("ROS_DOMAIN_ID", "0") or "0"
    way_out = "export ROS_DOMAIN_ID=0 (or 1 to 25)"
    if not text.isdecimal() or int(text) > HIGHEST_DOMAIN:
        return fail(name, f"ROS_DOMAIN_ID={text} is no number of 0 to {HIGHEST_DOMAIN}", way_out)
    domain = int(text)
    first = DDS_BASE_PORT + DDS_PORTS_PER_DOMAIN * domain
    taken = sorted(port for port in mavlink_ports if 0 <= port - first < DDS_PORTS_PER_DOMAIN)
    if taken:
        return fail(
            name,
            f"ROS_DOMAIN_ID={domain} gives DDS the UDP ports from {first}, among them MAVLink's "
            f"{', '.join(map(str, taken))}",
            way_out,
        )
    if domain > HIGHEST_SAFE_DOMAIN:
        said = f"ROS_DOMAIN_ID={domain}: its ports are those that Linux lends to others"
        return warn(name, said, way_out)
    return ok(name, f"ROS_DOMAIN_ID={domain} uses UDP ports from {first}, clear of MAVLink")
