# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make ``tf2_msgs/msg/TFMessage`` in an environment of ROS wheels, which have no such package.

Runs as a plain script, before anything of the workspace is built:
``python generate_tf2_msgs.py``. Where ``tf2_msgs`` can be imported already (a ROS installation, a
wheel of its own) nothing is done; what this script made is made anew when the ROS wheels changed,
because the compiled part belongs to their binary interface.

The generators come with the wheels. The type hash is that of upstream or nothing is installed, so
that the message is the one that other ROS 2 programs speak.
"""

import argparse
import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

TYPE_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"
PACKAGE = "tf2_msgs"
DEFINITION = "geometry_msgs/TransformStamped[] transforms\n"
MANIFEST = """<?xml version="1.0"?>
<package format="3">
  <name>tf2_msgs</name>
  <version>0.0.0</version>
  <description>TFMessage, made from the ROS wheels of this environment by aerotwin.</description>
  <maintainer email="maintainers@aerotwin.dev">aerotwin contributors</maintainer>
  <license>Apache-2.0</license>
  <exec_depend>geometry_msgs</exec_depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""
LINKED_PACKAGES = ("geometry_msgs", "std_msgs", "builtin_interfaces")
# Fast DDS serialises with the first and describes the type with the second.
TYPE_SUPPORTS = ("rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c")
LINKED_KINDS = (
    "rosidl_generator_c",
    "rosidl_generator_py",
    "rosidl_typesupport_c",
    *TYPE_SUPPORTS,
)
LINKED_LIBRARIES = (
    "rosidl_runtime_c",
    "rosidl_typesupport_c",
    "rosidl_typesupport_fastrtps_c",
    "rosidl_typesupport_fastrtps_cpp",
    "rosidl_typesupport_introspection_c",
    "rmw",
    "rcutils",
    "fastcdr",
)
VERSIONS_FILE = "made_by_aerotwin.json"
PROBE = """
import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.serialization import deserialize_message, serialize_message
from tf2_msgs.msg import TFMessage
edge = TransformStamped()
edge.header.frame_id, edge.child_frame_id, edge.transform.rotation.w = "map", "odom", 1.0
message = TFMessage(transforms=[edge])
assert deserialize_message(serialize_message(message), TFMessage) == message
rclpy.init()
rclpy.create_node("tf2_msgs_probe").create_publisher(TFMessage, "/tf", 1)
rclpy.shutdown()
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the package where it is missing or made for other wheels; 0 when it is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--force", action="store_true", help="make it anew in any case")
    options = parser.parse_args(arguments)
    site = Path(sysconfig.get_path("platlib"))
    made_for = _read_versions(site / PACKAGE / VERSIONS_FILE)
    if made_for is None and importlib.util.find_spec(PACKAGE) is not None:
        print(f"{PACKAGE} comes with this environment")
        return 0
    if made_for == ros_versions() and not options.force:
        print(f"{PACKAGE} is up to date")
        return 0
    try:
        _make(site, Path(sys.prefix))
    except (GenerationError, ImportError) as error:
        print(f"{PACKAGE}: {error}", file=sys.stderr)
        return 1
    print(f"{PACKAGE} made for ros-rclpy {ros_versions()['ros-rclpy']}")
    return 0


class GenerationError(Exception):
    """The package could not be made; says why."""


def ros_versions() -> dict[str, str]:
    """Return what the compiled part depends on: all ROS wheels, Python and this script."""
    versions = {
        distribution.metadata["Name"].lower().replace("_", "-"): distribution.version
        for distribution in importlib.metadata.distributions()
    }
    ros = {name: version for name, version in versions.items() if name.startswith("ros-")}
    if "ros-rclpy" not in ros:
        raise SystemExit("ros-rclpy is not installed here; install requirements.txt first")
    script = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return ros | {"python": sysconfig.get_config_var("EXT_SUFFIX"), "generator": script}


def _read_versions(path: Path) -> dict[str, str] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _make(site: Path, prefix: Path) -> None:
    """Generate, compile, try out and install, in folders that are renamed when all is well."""
    os.environ["AMENT_PREFIX_PATH"] = str(prefix)
    with tempfile.TemporaryDirectory(prefix=f".{PACKAGE}-", dir=site) as folder:
        work = Path(folder)
        sources = _generate(work / "generated", prefix)
        package = _assemble(work / PACKAGE, sources)
        extension = _compile(sources, package, prefix)
        _link_libraries(work / "lib", extension)
        _try_out(work)
        share = _assemble_share(work / "share", sources)
        _replace(share, prefix / "share" / PACKAGE)
        _replace(package, site / PACKAGE)
    _link_libraries(prefix / "lib", site / PACKAGE / extension.name)
    _register(prefix / "share" / "ament_index" / "resource_index")


def _generate(root: Path, prefix: Path) -> Path:
    """Write the sources into ``root/tf2_msgs`` with the generators of the wheels; return it."""
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_generator_type_description.cli import HashTypeDescription
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    output = root / PACKAGE
    message = output / "msg" / "TFMessage.msg"
    message.parent.mkdir(parents=True)
    message.write_text(DEFINITION, encoding="utf-8")
    job = {
        "package_name": PACKAGE,
        "interface_files": [f"{output}:msg/TFMessage.idl"],
        "include_paths": [str(prefix / "share")],
        "output_path": output,
    }
    with contextlib.redirect_stdout(io.StringIO()):
        convert_msg_to_idl(output, PACKAGE, Path("msg/TFMessage.msg"), message.parent)
        hashes = HashTypeDescription("hash").generate_type_hashes(**job)
        _check_type_hash(output / "msg" / "TFMessage.json")
        GenerateC("c").generate(**job, type_description_files=hashes)
        GenerateFastRTPSCTypesupport("fastrtps_c").generate(**job)
        GenerateIntrospectionCTypesupport("introspection_c").generate(**job)
        both = list(TYPE_SUPPORTS)
        GenerateCTypesupport("c", typesupport_implementations=both).generate(**job)
        dispatching = ["rosidl_typesupport_c"]
        GeneratePython("py", typesupport_implementations=dispatching).generate(**job)
    return output


def _check_type_hash(description: Path) -> None:
    hashes = json.loads(description.read_text(encoding="utf-8"))["type_hashes"]
    found = {entry["type_name"]: entry["hash_string"] for entry in hashes}
    if found.get("tf2_msgs/msg/TFMessage") != TYPE_HASH:
        raise GenerationError(
            f"the type hash must be {TYPE_HASH}, got {found.get('tf2_msgs/msg/TFMessage')}; "
            "install the versions of requirements.txt"
        )


def _assemble(package: Path, sources: Path) -> Path:
    """Lay out the Python package."""
    (package / "msg").mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    for name in ("__init__.py", "_tf_message.py"):
        (package / "msg" / name).write_bytes((sources / "msg" / name).read_bytes())
    versions = json.dumps(ros_versions(), indent=1)
    (package / VERSIONS_FILE).write_text(versions, encoding="utf-8")
    return package


def _compile(sources: Path, package: Path, prefix: Path) -> Path:
    """Compile everything into one extension module; return it."""
    import numpy

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    extension = package / f"{PACKAGE}_s__rosidl_typesupport_c{suffix}"
    headers = prefix / "include"
    includes = [sources.parent, sysconfig.get_path("include"), numpy.get_include(), headers]
    includes += [path for path in headers.iterdir() if path.is_dir()]
    flags = ["-O2", "-fPIC", "-w", *(f"-I{path}" for path in includes)]
    objects = []
    for source in sorted(sources.rglob("*.c*")):
        if source.suffix not in (".c", ".cpp"):
            continue
        objects.append(str(source.with_suffix(f"{source.suffix}.o")))
        compiler = ["gcc", "-std=gnu11"] if source.suffix == ".c" else ["g++", "-std=gnu++17"]
        _call([*compiler, *flags, "-c", str(source), "-o", objects[-1]])
    libraries = [f"-l{package}__{kind}" for package in LINKED_PACKAGES for kind in LINKED_KINDS]
    libraries += [f"-l{name}" for name in LINKED_LIBRARIES]
    # The extension lies three folders below lib, where the libraries of the wheels are.
    linking = [f"-L{prefix / 'lib'}", "-Wl,-rpath,$ORIGIN/../../..", "-Wl,--allow-shlib-undefined"]
    _call(["g++", "-shared", "-o", str(extension), *objects, *linking, *libraries])
    return extension


def _link_libraries(folder: Path, extension: Path) -> None:
    """Give the extension the names under which ROS looks for the type supports in it."""
    folder.mkdir(exist_ok=True)
    for type_support in TYPE_SUPPORTS:
        link = folder / f"lib{PACKAGE}__{type_support}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(extension, folder))


def _call(command: list[str], **options) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError:
        raise GenerationError(f"{command[0]} must be installed; do: apt-get install g++") from None
    if done.returncode != 0:
        tail = "\n".join(done.stderr.strip().splitlines()[-15:])
        raise GenerationError(f"{' '.join(command[:2])} … failed:\n{tail}")


def _try_out(work: Path) -> None:
    """Use the package in a process of its own, before it is installed."""
    libraries = f"{work / 'lib'}{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}"
    environment = os.environ | {
        "PYTHONPATH": str(work),
        "LD_LIBRARY_PATH": libraries,
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    _call([sys.executable, "-P", "-c", PROBE], env=environment)


def _assemble_share(share: Path, sources: Path) -> Path:
    """Lay out what tools look for: the definition in its three forms and the manifest."""
    (share / "msg").mkdir(parents=True)
    for name in ("TFMessage.msg", "TFMessage.idl", "TFMessage.json"):
        (share / "msg" / name).write_bytes((sources / "msg" / name).read_bytes())
    (share / "package.xml").write_text(MANIFEST, encoding="utf-8")
    return share


def _replace(new: Path, target: Path) -> None:
    """Put a finished folder in the place of an older one."""
    if target.exists():
        target.rename(new.with_name(f"old-{new.name}"))
    new.rename(target)


def _register(index: Path) -> None:
    """Enter the package into the ament index."""
    entries = {"packages": "", "rosidl_interfaces": "msg/TFMessage.idl\nmsg/TFMessage.msg"}
    for kind, text in entries.items():
        (index / kind).mkdir(parents=True, exist_ok=True)
        (index / kind / PACKAGE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
