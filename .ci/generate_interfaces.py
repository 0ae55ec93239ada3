# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Make the interface packages that an environment of ROS wheels lacks: those of `interfaces/`.

Runs as a plain script, before anything of the workspace is built:
``python generate_interfaces.py``. Where a package can be imported already (a ROS installation, a
wheel of its own) nothing is done; what this script made is made anew when the ROS wheels changed,
because the compiled part belongs to their binary interface.

The generators come with the wheels. A file of `interfaces/` names each interface with its type
hash: it is that of upstream or nothing is installed, so that other ROS 2 programs understand it.
"""

import argparse
import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DEFINITIONS = Path(__file__).resolve().parent / "interfaces"
MANIFEST = """<?xml version="1.0"?>
<package format="3">
  <name>{package}</name>
  <version>0.0.0</version>
  <description>Interfaces made from the ROS wheels of this environment by aerotwin.</description>
  <maintainer email="maintainers@aerotwin.dev">aerotwin contributors</maintainer>
  <license>Apache-2.0</license>
{depends}  <member_of_group>rosidl_interface_packages</member_of_group>
</package>
"""
# Every service and action uses the last three.
LINKED_PACKAGES = (
    "geometry_msgs",
    "std_msgs",
    "builtin_interfaces",
    "service_msgs",
    "action_msgs",
    "unique_identifier_msgs",
)
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
INTROSPECTION = "introspection"
VERSIONS_FILE = "made_by_aerotwin.json"
PROBE = """
import importlib, sys
import rclpy
from rclpy.action import ActionServer
from rclpy.serialization import deserialize_message, serialize_message
rclpy.init()
node = rclpy.create_node("interfaces_probe")
for path in sys.argv[2:]:
    kind, name = path.split("/")
    made = getattr(importlib.import_module(f"{sys.argv[1]}.{kind}"), name)
    if kind == "msg":
        assert deserialize_message(serialize_message(made()), made) == made()
        node.create_publisher(made, name, 1)
    elif kind == "srv":
        node.create_service(made, name, lambda request, reply: reply)
    else:
        ActionServer(node, made, name, lambda goal: made.Result())
rclpy.shutdown()
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the packages that are missing or made for other wheels; 0 when all are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--force", action="store_true", help="make them anew in any case")
    options = parser.parse_args(arguments)
    return max(_provide(Interfaces(path), options.force) for path in sorted(_definition_files()))


def _definition_files() -> list[Path]:
    return list(DEFINITIONS.glob("*.txt"))


class Interfaces:
    """The interfaces of one package: text by path, as msg/Name.msg, and type hash by name."""

    def __init__(self, path: Path) -> None:
        self.path, self.package = path, path.stem
        self.texts: dict[str, str] = {}
        self.hashes: dict[str, str] = {}
        for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
            title, _, text = part.partition("\n")
            place, type_hash = title.split()
            self.texts[place] = text.rstrip("\n") + "\n"
            self.hashes[place.rsplit(".", 1)[0]] = type_hash

    @property
    def kinds(self) -> list[str]:
        """The folders: msg, srv, action."""
        return sorted({place.split("/")[0] for place in self.texts})


def _provide(interfaces: Interfaces, is_forced: bool) -> int:
    package, site = interfaces.package, Path(sysconfig.get_path("platlib"))
    made_for = _read_versions(site / package / VERSIONS_FILE)
    if made_for is None and importlib.util.find_spec(package) is not None:
        print(f"{package} comes with this environment")
        return 0
    if made_for == ros_versions(interfaces.path) and not is_forced:
        print(f"{package} is up to date")
        return 0
    try:
        _make(interfaces, site, Path(sys.prefix))
    except (GenerationError, ImportError) as error:
        print(f"{package}: {error}", file=sys.stderr)
        return 1
    print(f"{package} made for ros-rclpy {ros_versions(interfaces.path)['ros-rclpy']}")
    return 0


class GenerationError(Exception):
    """The package could not be made; says why."""


def ros_versions(definitions: Path) -> dict[str, str]:
    """Return what the compiled part depends on: ROS wheels, Python, definitions, this script."""
    versions = {
        distribution.metadata["Name"].lower().replace("_", "-"): distribution.version
        for distribution in importlib.metadata.distributions()
    }
    ros = {name: version for name, version in versions.items() if name.startswith("ros-")}
    if "ros-rclpy" not in ros:
        raise SystemExit("ros-rclpy is not installed here; install requirements.txt first")
    script = hashlib.sha256(Path(__file__).read_bytes() + definitions.read_bytes()).hexdigest()
    return ros | {"python": sysconfig.get_config_var("EXT_SUFFIX"), "generator": script}


def _read_versions(path: Path) -> dict[str, str] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _make(interfaces: Interfaces, site: Path, prefix: Path) -> None:
    """Generate, compile, try out and install, in folders that are renamed when all is well."""
    os.environ["AMENT_PREFIX_PATH"] = str(prefix)
    package = interfaces.package
    with tempfile.TemporaryDirectory(prefix=f".{package}-", dir=site) as folder:
        work = Path(folder)
        sources = _generate(interfaces, work / "generated", prefix)
        made = _assemble(interfaces, work / package, sources)
        extension = _compile(sources, made, prefix)
        _link_libraries(package, work / "lib", extension)
        _try_out(interfaces, work)
        share = _assemble_share(interfaces, work / "share", sources)
        _replace(share, prefix / "share" / package)
        _replace(made, site / package)
    _link_libraries(package, prefix / "lib", site / package / extension.name)
    _register(interfaces, prefix / "share" / "ament_index" / "resource_index")


def _generate(interfaces: Interfaces, root: Path, prefix: Path) -> Path:
    """Write the sources into ``root/PACKAGE`` with the generators of the wheels; return it."""
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_generator_type_description.cli import HashTypeDescription
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    output = root / interfaces.package
    for place, text in interfaces.texts.items():
        (output / place).parent.mkdir(parents=True, exist_ok=True)
        (output / place).write_text(text, encoding="utf-8")
    job = {
        "package_name": interfaces.package,
        "interface_files": [f"{output}:{name}.idl" for name in interfaces.hashes],
        "include_paths": [str(prefix / "share")],
        "output_path": output,
    }
    with contextlib.redirect_stdout(io.StringIO()):
        for place in interfaces.texts:
            convert_to_idl(output, interfaces.package, Path(place), output)
        hashes = HashTypeDescription("hash").generate_type_hashes(**job)
        _check_type_hashes(interfaces, output)
        # The generator finds descriptions by stem: a message and a service may share their name.
        for kind in interfaces.kinds:
            files = [f"{output}:{name}.idl" for name in interfaces.hashes if name.startswith(kind)]
            described = [path for path in hashes if Path(path).parent.name == kind]
            same = job | {"interface_files": files}
            GenerateC("c").generate(**same, type_description_files=described)
        GenerateFastRTPSCTypesupport("fastrtps_c").generate(**job)
        # Two generators name a file of services alike.
        beside = job | {"output_path": root / INTROSPECTION / interfaces.package}
        GenerateIntrospectionCTypesupport("introspection_c").generate(**beside)
        both = list(TYPE_SUPPORTS)
        GenerateCTypesupport("c", typesupport_implementations=both).generate(**job)
        dispatching = ["rosidl_typesupport_c"]
        GeneratePython("py", typesupport_implementations=dispatching).generate(**job)
    return output


def _check_type_hashes(interfaces: Interfaces, output: Path) -> None:
    for name, expected in interfaces.hashes.items():
        hashes = json.loads((output / f"{name}.json").read_text(encoding="utf-8"))["type_hashes"]
        found = {entry["type_name"]: entry["hash_string"] for entry in hashes}
        got = found.get(f"{interfaces.package}/{name}")
        if got != expected:
            raise GenerationError(
                f"the type hash of {name} must be {expected}, got {got}; "
                "install the versions of requirements.txt"
            )


def _assemble(interfaces: Interfaces, package: Path, sources: Path) -> Path:
    """Lay out the Python package."""
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    for kind in interfaces.kinds:
        (package / kind).mkdir()
        for path in (sources / kind).glob("*.py"):
            (package / kind / path.name).write_bytes(path.read_bytes())
    versions = json.dumps(ros_versions(interfaces.path), indent=1)
    (package / VERSIONS_FILE).write_text(versions, encoding="utf-8")
    return package


def _compile(sources: Path, package: Path, prefix: Path) -> Path:
    """Compile everything into one extension module; return it."""
    import numpy

    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    extension = package / f"{package.name}_s__rosidl_typesupport_c{suffix}"
    headers = prefix / "include"
    generated = sources.parent
    includes = [
        generated,
        generated / INTROSPECTION,
        sysconfig.get_path("include"),
        numpy.get_include(),
        headers,
    ]
    includes += [path for path in headers.iterdir() if path.is_dir()]
    flags = ["-O2", "-fPIC", "-w", *(f"-I{path}" for path in includes)]

    def compiled(source: Path) -> str:
        target = str(source.with_suffix(f"{source.suffix}.o"))
        compiler = ["gcc", "-std=gnu11"] if source.suffix == ".c" else ["g++", "-std=gnu++17"]
        _call([*compiler, *flags, "-c", str(source), "-o", target])
        return target

    files = [path for path in sorted(generated.rglob("*.c*")) if path.suffix in (".c", ".cpp")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, files))
    libraries = [f"-l{package}__{kind}" for package in LINKED_PACKAGES for kind in LINKED_KINDS]
    libraries += [f"-l{name}" for name in LINKED_LIBRARIES]
    # The extension lies three folders below lib, where the libraries of the wheels are.
    linking = [f"-L{prefix / 'lib'}", "-Wl,-rpath,$ORIGIN/../../..", "-Wl,--allow-shlib-undefined"]
    _call(["g++", "-shared", "-o", str(extension), *objects, *linking, *libraries])
    return extension


def _link_libraries(package: str, folder: Path, extension: Path) -> None:
    """Give the extension the names under which ROS looks for the type supports in it."""
    folder.mkdir(exist_ok=True)
    for type_support in TYPE_SUPPORTS:
        link = folder / f"lib{package}__{type_support}.so"
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


def _try_out(interfaces: Interfaces, work: Path) -> None:
    """Use the package in a process of its own, before it is installed."""
    libraries = f"{work / 'lib'}{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}"
    environment = os.environ | {
        "PYTHONPATH": str(work),
        "LD_LIBRARY_PATH": libraries,
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }
    probe = [sys.executable, "-P", "-c", PROBE, interfaces.package, *interfaces.hashes]
    _call(probe, env=environment)


def _assemble_share(interfaces: Interfaces, share: Path, sources: Path) -> Path:
    """Lay out what tools look for: the definitions in their three forms and the manifest."""
    for place in interfaces.texts:
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        (share / place).write_bytes((sources / place).read_bytes())
    for name in interfaces.hashes:
        for suffix in (".idl", ".json"):
            (share / f"{name}{suffix}").write_bytes((sources / f"{name}{suffix}").read_bytes())
    used = set(re.findall(r"^(\w+)/", "".join(interfaces.texts.values()), re.MULTILINE))
    depends = "".join(f"  <exec_depend>{name}</exec_depend>\n" for name in sorted(used))
    manifest = MANIFEST.format(package=interfaces.package, depends=depends)
    (share / "package.xml").write_text(manifest, encoding="utf-8")
    return share


def _replace(new: Path, target: Path) -> None:
    """Put a finished folder in the place of an older one."""
    if target.exists():
        target.rename(new.with_name(f"old-{new.name}"))
    new.rename(target)


def _register(interfaces: Interfaces, index: Path) -> None:
    """Enter the package into the ament index."""
    files = [*interfaces.texts, *(f"{name}.idl" for name in interfaces.hashes)]
    entries = {"packages": "", "rosidl_interfaces": "\n".join(sorted(files))}
    for kind, text in entries.items():
        (index / kind).mkdir(parents=True, exist_ok=True)
        (index / kind / interfaces.package).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
