# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Objects change by their own methods: none sets attributes of another from outside."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
MODULES = sorted(SOURCE.glob("*/aerotwin_*/**/*.py"))
SETTERS = {
    name for path in MODULES for name in re.findall(r"@(\w+)\.setter", path.read_text("utf-8"))
}
MESSAGES = re.compile(
    r"(message|answer|reply|response|result|status|marker|edge|item|info|"
    r"pose|position|quaternion|twist|linear|angular)\b"
)
"""Names of ROS messages, which are made to be filled."""
COMPILED = {"njit", "part"}
OWN_PART = re.compile(r"self\.\w+$")
# Module -> what it sets, and why.
OF_LIBRARIES = {
    "aerotwin_core/kernel_cache.py": {"config.CACHE_LOCATOR_CLASSES"},  # numba
    "aerotwin_core/plot_figure.py": {"formatter.func", "formatter.seq"},  # Matplotlib
    "aerotwin_core/plots.py": {"os.path.exists"},  # Matplotlib looks for TeX
    "aerotwin_core/stop_request.py": {"sys.unraisablehook"},
    "aerotwin_doctor/link_watch.py": {"codec.seq"},  # pymavlink
    "aerotwin_launch/launch_command.py": {"parser.parse_args", "parser.usage"},  # argparse
    "aerotwin_run_evaluation/evaluate_bag_command.py": {"parser.parse_args"},  # argparse
    "aerotwin_simulator/controllers/python_class.py": {
        "state.flags.writeable", "values.flags.writeable",  # NumPy
    },
    "aerotwin_simulator/extra_sensors.py": {"sensor.frame_id"},  # the user's own class
    "aerotwin_tiles/fetch/connections.py": {
        "connection.host", "connection.timeout", "manager.pool_classes_by_scheme",  # urllib3
    },
    "aerotwin_tiles/fetch/http_source.py": {"record.args", "record.msg"},  # logging
    "aerotwin_view/scene/camera_follower.py": {
        "client.camera.look_at", "client.camera.position",  # viser
    },
    "aerotwin_view/kept/offline_page.py": {"frame.position"},  # viser
    "aerotwin_view/scene/path_lines.py": {"part.visible"},  # viser
    "aerotwin_view/panels/places.py": {"button.disabled"},  # viser
    "aerotwin_view/panels/steering_panel.py": {"control.visible"},  # viser
    "aerotwin_view/scene/robot_labels.py": {"label.position"},  # viser
    "aerotwin_view/scene/robots_scene.py": {  # viser
        "shown.batched_positions", "shown.batched_wxyzs",
    },
    "aerotwin_view/scene/uncertainty_ellipsoids.py": {
        "drawn.visible", "shown.batched_positions", "shown.batched_scales",  # viser
        "shown.batched_wxyzs",
    },
    "aerotwin_view/scene/world_scene.py": {  # viser
        "camera.look_at", "camera.position", "camera.up",
    },
}  # fmt: skip
# Records of one algorithm that are worked on by functions beside them. The list only shrinks.
OPEN_RECORDS = {
    "aerotwin_autopilot/autopilot.py": {"estimator.now_s"},
    "aerotwin_autopilot/mavlink/commands.py": {"a.modes.mission.roi"},
    "aerotwin_autopilot/mavlink/log_protocol.py": {"transfer.offset"},
    "aerotwin_autopilot/mavlink/mission_protocol.py": {
        "modes.course.haven.rally", "upload.asked_at", "upload.n_retries",
    },
    "aerotwin_autopilot/mavlink/parameter_protocol.py": {"link.parameters_to_send"},
    "aerotwin_autopilot/mavlink/server.py": {
        "link.parser", "link.sequence", "self.autopilot.modes.is_urgent",
    },
    "aerotwin_autopilot/mavlink/streams.py": {"stream.due_us"},
    "aerotwin_autopilot/modes.py": {"self.course.orbit.request"},
    "aerotwin_dense_localization/alignment/alignment.py": {
        "state.T", "state.gain", "state.n_iterations", "state.offset", "state.sigma_dn",
        "state.sigma_m",
    },
    "aerotwin_meshes/mesh_files/obj.py": {
        "content.colours", "content.texture_vertices", "content.vertices",
    },
    "aerotwin_multirotor_body/inertial_step.py": {
        "body.constants", "body.inputs", "body.state_vector",
    },
    "aerotwin_simulator/vehicle.py": {"self.backend.motors.values"},
    "aerotwin_stereo_odometry/odometry.py": {"landmarks.is_tracked", "landmarks.n_missed"},
    "aerotwin_stereo_odometry/window.py": {
        "gone.left", "gone.right", "keyframe.T_cam_odom", "newest.covariance",
    },
}  # fmt: skip
RCLPY_INSIDE = {"aerotwin_core/ros/waiting_messages.py"}
"""Takes waiting messages; rclpy has no public way."""


def name_of(path: Path) -> str:
    return "/".join(path.relative_to(SOURCE).parts[1:])


def set_from_outside(tree: ast.AST) -> Iterator[str]:
    """Yield the attributes that functions set of objects that they have not made themselves.

    A property with a setter is a method of its owner; compiled functions have no objects, only
    records in arrays.
    """
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or COMPILED.intersection(
            name.id for d in function.decorator_list for name in ast.walk(d)
            if isinstance(name, ast.Name)
        ):  # fmt: skip
            continue
        made = {"self", "cls"}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                made |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                made.add(node.optional_vars.id)
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                owner = ast.unparse(node.value)
                if owner in made or OWN_PART.match(owner) or MESSAGES.match(owner):
                    continue
                if node.attr not in SETTERS:
                    yield f"{owner}.{node.attr}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(node):\n    node.bag = 1", ["node.bag"]),
        ("def f(self):\n    self.node.bag.n += 1", ["self.node.bag.n"]),
        ("def f(a):\n    a.x, a.y = 1, 2", ["a.x", "a.y"]),
        ("def f(self):\n    self.n = 1\n    self.counters.n += 1", []),
        ("@njit(cache=True)\ndef f(record):\n    record.gain = 1", []),
        ("@part\ndef f(record):\n    record.gain = 1", []),
        ("def f():\n    made = Thing()\n    made.x = 1", []),
    ],
)
def test_the_rule_finds_what_it_is_for(source, expected):
    assert list(set_from_outside(ast.parse(source))) == expected


def test_no_attribute_is_set_from_outside_its_object():
    found = {name_of(path): {*set_from_outside(ast.parse(path.read_text()))} for path in MODULES}
    allowed = OF_LIBRARIES | OPEN_RECORDS
    beyond = {name: sets - allowed.get(name, set()) for name, sets in found.items()}
    assert {name: sets for name, sets in beyond.items() if sets} == {}, "give the object a method"
    gone = {name: sets - found.get(name, set()) for name, sets in allowed.items()}
    assert {name: sets for name, sets in gone.items() if sets} == {}, "take it off the list"


def test_no_private_attribute_of_rclpy_is_read():
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        if not any("rclpy" in text or ".ros" in text for text in imported):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or name_of(path) in RCLPY_INSIDE:
                continue
            is_private = node.attr.startswith("_") and not node.attr.startswith("__")
            is_private &= node.attr != "_replace"  # of named tuples
            is_own = ast.unparse(node.value) in ("self", "cls")
            where = f"{name_of(path)}:{node.lineno}"
            assert not is_private or is_own, f"{where}: {node.attr} is private"
            assert node.attr != "handle", f"{where}: handles are rclpy's own"
