# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The shape of the workspace: who may import whom, and that the manifests tell the truth."""

import ast
import configparser
import graphlib
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from aerotwin_core.extras import EXTRA_OF_MODULE

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
EVIDENCE = ROOT / "test" / "evidence"
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/package.xml"))

# What may hold parsed arguments beside the modules of commands: the command itself, a process of
# its own, and the options that two commands share.
PARSE_ARGUMENTS = ["cli.py", "embedded_autopilot.py", "recording_options.py"]

# The tree of the design: what each package may import. "*" = any.
ALLOWED = {
    "aerotwin_core": "",
    "aerotwin_registration": "core",
    "aerotwin_multirotor_dynamics": "core",
    "aerotwin_sensor_models": "core",
    "aerotwin_faults": "core",
    "aerotwin_statistics": "core",
    "aerotwin_temporal_logic": "core",
    "aerotwin_formation": "core",
    "aerotwin_meshes": "core",
    "aerotwin_tiles": "core meshes",
    "aerotwin_generated_worlds": "core meshes",
    "aerotwin_rendering": "core meshes",
    "aerotwin_worlds": "core meshes tiles generated_worlds rendering",
    "aerotwin_multirotor_body": "core faults multirotor_dynamics sensor_models",
    "aerotwin_flight_control": "core multirotor_dynamics",
    "aerotwin_px4_bridge": "core",
    "aerotwin_ardupilot_bridge": "core px4_bridge",
    "aerotwin_autopilot": "core px4_bridge",
    "aerotwin_stereo_odometry": "core",
    "aerotwin_ground_dynamics": "core",
    "aerotwin_simulator": "ardupilot_bridge core faults formation temporal_logic multirotor_body "
    "multirotor_dynamics sensor_models meshes rendering worlds px4_bridge autopilot",
    "aerotwin_simulation_interfaces": "core faults multirotor_dynamics simulator worlds",
    "aerotwin_point_mass_simulator": "core formation multirotor_dynamics px4_bridge "
    "sensor_models simulator",
    "aerotwin_ground_simulator": "core ground_dynamics meshes multirotor_dynamics px4_bridge "
    "rendering sensor_models simulator worlds",
    "aerotwin_voxel_cloud": "core registration meshes tiles worlds",
    "aerotwin_map_evaluation": "core registration voxel_cloud report",
    "aerotwin_report": "core",
    "aerotwin_campaign": "core report statistics",
    "aerotwin_trajectory_evaluation": "core report",
    "aerotwin_comparison": "core registration voxel_cloud map_evaluation "
    "trajectory_evaluation report statistics",
    "aerotwin_datasets": "core",
    "aerotwin_kiss_icp": "core",
    "aerotwin_reconstruction": "core registration meshes rendering worlds",
    "aerotwin_dense_localization": "core registration stereo_odometry",
    "aerotwin_teach_repeat": "core registration sensor_models",
    "aerotwin_repeat_evaluation": "core",
    "aerotwin_launch": "core",
    "aerotwin_teleop": "core",
    "aerotwin_view": "core doctor faults formation launch map_evaluation meshes px4_bridge "
    "registration rendering repeat_evaluation teach_repeat teleop voxel_cloud worlds",
    "aerotwin_doctor": "ardupilot_bridge core multirotor_dynamics px4_bridge sensor_models",
    "aerotwin_slam_runs": "core datasets trajectory_evaluation",
    "aerotwin_run_evaluation": "ardupilot_bridge core datasets formation launch map_evaluation "
    "px4_bridge registration report slam_runs trajectory_evaluation worlds",
    "aerotwin_scenarios": "campaign core datasets dense_localization faults flight_control "
    "formation generated_worlds ground_dynamics ground_simulator map_evaluation "
    "multirotor_dynamics px4_bridge reconstruction "
    "registration rendering repeat_evaluation report run_evaluation sensor_models simulator "
    "stereo_odometry teach_repeat temporal_logic trajectory_evaluation voxel_cloud worlds",
    "aerotwin_bringup": "*",
}
ROSDEP_KEYS = {
    "cv2": "python3-opencv",
    "matplotlib": "python3-matplotlib",
    "numpy": "python3-numpy",
    "PIL": "python3-pil",
    "psutil": "python3-psutil",
    "scipy": "python3-scipy",
    "tqdm": "python3-tqdm",
    "yaml": "python3-yaml",
}
ROS_NAMES = re.compile(
    r"(rclpy|rcl_interfaces|builtin_interfaces|simulation_interfaces|std_srvs|launch\w*|tf2_\w+|rosidl_\w+|\w+_msgs)$"
)
# Programs that are only compared with, where they are installed.
PEERS = {"rotorpy", "small_gicp", "torch"}
# Calls whose traps are handled once: reflections, small angles, constants. The surface fits
# Calls whose traps are handled once: reflections, small angles, constants. The surface fits
# planes; a chord of an arc is a sinc; two roots of means are along an axis and over single numbers.
ONE_PLACE = {
    "linalg.svd(": {"rigid_motion.py", "surface.py"},
    "StereoSGBM_create(": {"stereo_matching.py"},
    " % 360.0 - 180.0": {"angles.py"},
    '"end_header"': {"ply.py"},
    "# stamp_s x_m": {"tum.py"},
    "Decimal(": {"time.py"},
    "np.sinc(": {"frames.py", "flat_scan.py"},
    "np.floor(points / voxel_m)": {"voxels.py"},
    "np.sqrt(np.mean(": {"rms.py", "relay_evaluation.py", "evaluation.py"},
}
PLUG_IN = re.compile(r"^aerotwin\.(simulator_services|robot_kinds) =$", re.MULTILINE)
INCLUDED_LAUNCH_FILES = {"network.launch.yaml", "view.launch.yaml"}
NETWORK_INCLUDE = {"file": "$(dirname)/network.launch.yaml"}
LARGEST_PACKAGE_LINES, LARGEST_BRINGUP_LINES = 12_000, 1_500
LONGEST_FILE_LINES = 400
# Files that may be longer: path relative to src -> why.
LONG_FILES: dict[str, str] = {
    "aerotwin_simulator/aerotwin_simulator/vehicle.py": "one vehicle; its parts are files already",
    "aerotwin_px4_bridge/test/test_mission.py": "every way through one script, on one stand-in",
}


def modules(package: str) -> list[Path]:
    return sorted((SOURCE / package / package).rglob("*.py"))


def evidence_modules() -> list[Path]:
    """Return the modules of the evidence, less its tests: the rules of packages hold there, too."""
    return sorted(
        path
        for path in EVIDENCE.rglob("*.py")
        if "test" not in path.parts[len(EVIDENCE.parts) : -1]
    )


def is_pure(path: Path) -> bool:
    return "ros" not in path.relative_to(SOURCE).parts[2:-1]


def imports(path: Path, *, at_start_only: bool = False) -> Iterator[str]:
    """Yield the absolute dotted names that a file imports, those inside functions included."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    for node in tree.body if at_start_only else ast.walk(tree):
        yield from imported(node)


def imported(node: ast.AST) -> Iterator[str]:
    """Yield the absolute dotted names that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.level == 0:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph(package: str) -> dict[str, set[str]]:
    """Return the modules of a package and which others of it each names, for types only too."""
    files = {}
    for path in modules(package):
        parts = path.relative_to(SOURCE / package).with_suffix("").parts
        files[".".join(parts).removesuffix(".__init__")] = path
    graph = {}
    for module, path in files.items():
        # Of `a.b` either is the module: the other is a name in it.
        named = {name if name in files else name.rpartition(".")[0] for name in imports(path)}
        graph[module] = named & files.keys()
    return graph


def foreign_imports(package: str) -> set[str]:
    """Return the top-level names that a package imports from outside itself and Python.

    numba is required by the packages whose kernels it compiles, not by where `njit` is from.
    """
    names = {name.partition(".")[0] for path in modules(package) for name in imports(path)}
    if package == "aerotwin_core":
        names.discard("numba")
    elif any("aerotwin_core.kernel_cache.njit" in imports(path) for path in modules(package)):
        names.add("numba")
    return names - sys.stdlib_module_names - {package, "setuptools"} - PEERS


def manifest(package: str) -> ElementTree.Element:
    return ElementTree.parse(SOURCE / package / "package.xml").getroot()


def declared(package: str, tag: str) -> set[str]:
    return {(element.text or "").strip() for element in manifest(package).iter(tag)}


def is_named_in(package: str, dependency: str) -> bool:
    """Tell whether a package starts another one's programs: names it in code or launch files.

    What the simulator finds by entry points is brought by the package on top.
    """
    files = modules(package)
    if package == "aerotwin_bringup":
        files = files + sorted((ROOT / "launch").rglob("*.yaml"))
        if PLUG_IN.search((SOURCE / dependency / "setup.cfg").read_text("utf-8")):
            return True
    return any(re.search(rf"\b{dependency}\b", path.read_text("utf-8")) for path in files)


def test_the_tree_of_the_design_names_every_package():
    assert set(PACKAGES) <= set(ALLOWED)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_what_stands_below_it(package):
    used = {name for name in foreign_imports(package) if name.startswith("aerotwin_")}
    if ALLOWED[package] != "*":
        assert used <= {f"aerotwin_{name}" for name in ALLOWED[package].split()}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_knows_nothing_of_what_proves_it(package):
    for path in modules(package):
        roots = {name.partition(".")[0] for name in imports(path)}
        assert not roots & {"evidence", "support"}, path.relative_to(ROOT)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_no_larger_than_a_reader_can_hold(package):
    n_lines = sum(len(path.read_text("utf-8").splitlines()) for path in modules(package))
    is_bringup = package == "aerotwin_bringup"
    assert n_lines <= (LARGEST_BRINGUP_LINES if is_bringup else LARGEST_PACKAGE_LINES)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_of_a_package_import_each_other(package):
    try:
        graphlib.TopologicalSorter(import_graph(package)).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"import circle: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("package", PACKAGES)
def test_pure_modules_know_no_ros(package):
    for path in filter(is_pure, modules(package)):
        ros = {name for name in imports(path) if ROS_NAMES.match(name.partition(".")[0])}
        # A command may start a node when it runs, but importing it must not need ROS.
        ros |= {name for name in imports(path, at_start_only=True) if ".ros." in f"{name}."}
        assert not ros, f"{path.relative_to(ROOT)} imports {sorted(ros)}: move it to ros/"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_manifest_declares_what_is_imported_and_nothing_else(package):
    used = foreign_imports(package)
    ours = ("aerotwin_", "ament_index_python")
    ros_or_ours = {name for name in used if ROS_NAMES.match(name) or name.startswith(ours)}
    from_rosdep = {name for name in used if name in ROSDEP_KEYS}
    from_pip = used - ros_or_ours - from_rosdep
    expected = ros_or_ours | {ROSDEP_KEYS[name] for name in from_rosdep}
    found = declared(package, "exec_depend") | declared(package, "depend")
    lacking = sorted(expected - found)
    assert not lacking, f"package.xml of {package} must depend on {lacking}: they are imported"
    # Programs of other packages are started, not imported.
    superfluous = sorted(
        name
        for name in found - expected
        if not (name.startswith("aerotwin_") and is_named_in(package, name))
    )
    assert not superfluous, (
        f"package.xml of {package} depends on {superfluous}: no module imports them"
    )
    listed = {name for text in declared(package, "aerotwin_python") for name in text.split()}
    assert listed == from_pip, f"<aerotwin_python> of {package}"


def test_setup_files_tell_pip_what_the_manifests_say():
    command = [sys.executable, "-P", str(ROOT / ".ci" / "wheel_metadata.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_missing_module_is_said_with_the_extra_that_brings_it():
    modules_of_keys = {key: module for module, key in ROSDEP_KEYS.items()}
    extras = {
        modules_of_keys.get(name, name): element.get("name")
        for package in PACKAGES
        for element in manifest(package).iter("aerotwin_extra")
        for name in (element.text or "").split()
    }
    assert extras == EXTRA_OF_MODULE


def test_the_extra_sim_brings_every_package():
    tool = runpy.run_path(str(ROOT / ".ci" / "wheel_metadata.py"))
    waiting = [*tool["EXTRAS"]["sim"], *tool["EXTRAS"]["maps"]]
    brought: set[str] = set()
    while waiting:
        name = waiting.pop().partition("[")[0]
        if name in PACKAGES and name not in brought:
            brought.add(name)
            waiting += declared(name, "exec_depend")
    assert brought == set(PACKAGES)


@pytest.mark.parametrize(("call", "places"), ONE_PLACE.items())
def test_what_has_one_implementation_is_not_written_again(call, places):
    found = {
        path.relative_to(SOURCE).as_posix().split("/", 2)[2]
        for package in PACKAGES
        for path in modules(package)
        if call in path.read_text(encoding="utf-8")
    }
    assert found == places, f"{call}: use what stands in aerotwin_core"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_complete(package):
    folder = SOURCE / package
    root = manifest(package)
    assert root.findtext("name") == package
    assert root.findtext("license") == "Apache-2.0"
    assert root.findtext("export/build_type") == "ament_python"
    for name in ("README.md", "setup.py", "setup.cfg", f"resource/{package}"):
        assert (folder / name).is_file(), f"{package} lacks {name}"
    assert "__all__" in (folder / package / "__init__.py").read_text("utf-8")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_program_starts_where_a_signal_during_its_imports_is_handled(package):
    setup = configparser.ConfigParser(delimiters=("=",))
    setup.read(SOURCE / package / "setup.cfg", encoding="utf-8")
    listed = setup.get("options.entry_points", "console_scripts", fallback="")
    for line in listed.strip().splitlines():
        name, _, value = line.partition(" = ")
        if name == "aerotwin":
            continue
        entry, _, function = value.partition(":program.")
        assert entry == "aerotwin_core.start", name
        module, _, function = function.rpartition(".")
        path = SOURCE / module.partition(".")[0] / f"{module.replace('.', '/')}.py"
        assert re.search(rf"^def {function}\(", path.read_text("utf-8"), re.MULTILINE), name


def test_colcon_takes_every_package_for_a_ros_package():
    # An invalid manifest makes colcon fall back to "python", silently, and without ament hooks.
    command = ["colcon", "--log-base", "/dev/null", "list", "--base-paths", str(SOURCE)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    kinds = {line.split("\t")[0]: line.split("\t")[2] for line in listing.splitlines()}
    assert kinds == dict.fromkeys(PACKAGES, "(ros.ament_python)")


def test_every_source_file_names_its_licence():
    folders = (SOURCE, ROOT / "test", ROOT / "examples")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    files += (ROOT / "examples").glob("*.ipynb")
    files += [ROOT / "conftest.py"]
    for path in files:
        text = path.read_text("utf-8")
        head = text if path.suffix == ".ipynb" else text[:400]
        assert "SPDX-License-Identifier: Apache-2.0" in head, path.relative_to(ROOT)
        assert "SPDX-FileCopyrightText: 2026 aerotwin contributors" in head, path.relative_to(ROOT)


def test_no_source_file_asks_to_be_two():
    for path in [*SOURCE.glob("*/**/*.py"), *(ROOT / "test").glob("*/**/*.py")]:
        name = str(path.relative_to(SOURCE if path.is_relative_to(SOURCE) else ROOT))
        n_lines = len(path.read_text("utf-8").splitlines())
        assert n_lines <= LONGEST_FILE_LINES or name in LONG_FILES, f"{name} has {n_lines} lines"


def test_no_help_joins_the_lines_of_a_command():
    """A backslash at the end of a line is gone from a string that is not raw."""
    joined = []
    for path in ROOT.glob("src/aerotwin_*/aerotwin_*/**/*.py"):
        lines = path.read_text("utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                continue
            if ast.get_docstring(node) is None:
                continue
            text = node.body[0]
            source = lines[text.lineno - 1 : text.end_lineno]
            is_raw = source[0].lstrip().startswith('r"')
            if not is_raw and any(re.search(r"[^\\]\\$", line) for line in source):
                joined.append(f"{path.relative_to(ROOT)}:{text.lineno}")
    assert joined == []


def test_test_files_have_names_of_their_own():
    names = [
        path.name
        for pattern in ("src/*/test/**/test_*.py", "test/**/test_*.py")
        for path in ROOT.glob(pattern)
    ]
    assert sorted(names) == sorted(set(names))


def test_no_two_public_classes_have_one_name():
    found: dict[str, list[str]] = {}
    for path in (path for package in PACKAGES for path in modules(package)):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_parsed_arguments_stay_in_the_modules_of_commands():
    below = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.glob("aerotwin*/aerotwin*/**/*.py")
        if "argparse.Namespace" in path.read_text(encoding="utf-8")
        and not path.name.endswith("command.py")
    ]
    assert sorted(path.rpartition("/")[2] for path in below) == sorted(PARSE_ARGUMENTS), below


def test_children_of_this_python_do_not_import_from_the_working_folder():
    """`python_command` starts them, or an interpreter that is isolated anyhow.

    `multiprocessing.connection` starts none.
    """
    safe = {SOURCE / "aerotwin_core/aerotwin_core/child_python.py"}
    ours = [path for package in PACKAGES for path in modules(package)] + evidence_modules()
    for path in (path for path in ours if path not in safe):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            tokens = node.elts if isinstance(node, ast.List | ast.Tuple) else []
            texts = [ast.unparse(token) for token in tokens]
            is_open = "sys.executable" in texts and not {"'-P'", "'-I'"} & {*texts}
            names = [name for name in imported(node) if name.startswith("multiprocessing")]
            is_spawn = any(not name.startswith("multiprocessing.connection.") for name in names)
            where = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', '')}"
            assert not is_open, f"{where}: use aerotwin_core.child_python.python_command"
            assert not is_spawn, f"{where}: use aerotwin_core.child_python.spawning_context"


def test_kernels_are_compiled_by_what_never_runs_stale_code():
    for path in (path for package in PACKAGES for path in modules(package)):
        if path.name != "kernel_cache.py":
            own = {"numba.njit", "numba.jit", "numba.vectorize", "numba.guvectorize"}
            assert not own & set(imports(path)), f"{path}: njit is that of aerotwin_core"
            assert "must touch this file" not in path.read_text("utf-8"), path


def test_nodes_choose_their_network():
    """By `init_rclpy`; a context of one's own calls `choose_network` before."""
    for path in [*(path for package in PACKAGES for path in modules(package)), *evidence_modules()]:
        text = path.read_text(encoding="utf-8")
        if path.name == "node.py":
            continue
        assert "rclpy.init(" not in text, f"{path.relative_to(ROOT)}: use init_rclpy"
        assert "rclpy.Context(" not in text or "choose_network()" in text, path.relative_to(ROOT)


def test_launch_files_let_the_user_choose_the_network():
    files = sorted((ROOT / "launch").glob("*.launch.yaml"))
    for path in files:
        if path.name in INCLUDED_LAUNCH_FILES:
            continue
        actions = yaml.safe_load(path.read_text(encoding="utf-8"))["launch"]
        (argument,) = (a["arg"] for a in actions if a.get("arg", {}).get("name") == "network")
        assert argument["default"] == "$(env AEROTWIN_NETWORK loopback)"
        assert [choice["value"] for choice in argument["choice"]] == ["loopback", "lan"]
        kinds = [next(iter(action)) for action in actions]
        (at,) = (k for k, a in enumerate(actions) if a.get("include") == NETWORK_INCLUDE)
        assert at < min(k for k, kind in enumerate(kinds) if kind in ("node", "group")), path.name


def yaml_files() -> list[Path]:
    files = [
        path
        for name in ("config", "launch", "worlds", "src", ".")
        for path in (ROOT / name).glob("*.yaml" if name == "." else "**/*.yaml")
    ]
    return sorted({path.resolve() for path in files if "build" not in path.parts})


@pytest.mark.parametrize("path", yaml_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_yaml_can_be_read(path):
    assert yaml.safe_load(path.read_text("utf-8")) is not None


def test_no_file_names_a_machine_or_a_registry():
    forbidden = re.compile("/(?:work|root|tmp)/" + "|pypi" + r"\.org|index" + "-url")
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\0")
    for name in filter(None, names):
        path = ROOT / name
        if path.is_symlink() or not path.is_file() or path == Path(__file__):
            continue
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found = forbidden.search(text)
        assert found is None, f"{name} names {found.group()}"
