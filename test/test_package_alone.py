# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""One package and what it needs, built into folders of their own, work without the rest."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.services import answer_of

ROOT = Path(__file__).resolve().parents[1]
NEEDED = {
    "aerotwin_core",
    "aerotwin_registration",
    "aerotwin_report",
    "aerotwin_meshes",
    "aerotwin_tiles",
    "aerotwin_generated_worlds",
    "aerotwin_rendering",
    "aerotwin_worlds",
    "aerotwin_voxel_cloud",
    "aerotwin_map_evaluation",
}
PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass

pytestmark = [pytest.mark.slow, pytest.mark.ros]


def environment_without_workspace() -> dict[str, str]:
    """Return the environment less everything that leads into this workspace."""
    environment = dict(os.environ)
    for name in ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "PYTHONPATH", "PATH"):
        entries = environment.pop(name, "").split(os.pathsep)
        outside = [
            entry
            for entry in filter(None, entries)
            if not any(
                Path(entry).is_relative_to(ROOT / name) for name in ("src", "build", "install")
            )
        ]
        if outside:
            environment[name] = os.pathsep.join(outside)
    return environment


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """Build as a user would, without links: what a package does not install is not there."""
    folder = tmp_path_factory.mktemp("alone")
    command = ["colcon", "--log-base", str(folder / "log"), "build"]
    command += ["--base-paths", str(ROOT / "src"), "--packages-up-to", "aerotwin_map_evaluation"]
    command += ["--build-base", str(folder / "build"), "--install-base", str(folder / "install")]
    environment = environment_without_workspace()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def sourced(workspace: Path, command: str) -> list[str]:
    return ["bash", "--norc", "-c", f". '{workspace}/install/local_setup.bash' && exec {command}"]


def test_only_what_the_map_evaluation_needs_is_built(workspace):
    assert {path.name for path in workspace.glob("install/aerotwin_*")} == NEEDED


def test_the_command_explains_itself(workspace):
    done = subprocess.run(
        sourced(workspace, "aerotwin evaluate map --help"),
        env=environment_without_workspace(),
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: aerotwin evaluate map")


def test_the_node_runs_and_stops_on_interrupt(workspace):
    rclpy = pytest.importorskip("rclpy")
    from rcl_interfaces.srv import GetParameters
    from rclpy.executors import SingleThreadedExecutor

    name = "map_evaluation_alone"
    node = "install/aerotwin_map_evaluation/lib/aerotwin_map_evaluation/map_evaluation"
    process = subprocess.Popen(
        sourced(workspace, f"'{workspace / node}' --ros-args -r __node:={name}"),
        env=environment_without_workspace(),
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    context = rclpy.Context()
    context.init()
    probe = rclpy.create_node("probe", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(probe)
    try:
        client = probe.create_client(GetParameters, f"/{name}/get_parameters")

        def spin():
            assert process.poll() is None, process.stdout.read()
            executor.spin_once(timeout_sec=0.1)

        answer_of(client, GetParameters.Request(), spin)  # not while being made
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, output
        assert "Traceback" not in output
    finally:
        process.kill()
        executor.shutdown()
        probe.destroy_node()
        context.try_shutdown()
