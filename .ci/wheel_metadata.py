#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write what pip must know into the setup.cfg of each package, from what stands elsewhere.

    .ci/wheel_metadata.py             say which files do not agree; exit code 1 if one does not
    .ci/wheel_metadata.py --write     write them anew

The version is that of aerotwin_core's package.xml. Requirements are the <exec_depend> and
<aerotwin_python> of each package.xml, with the versions of requirements.txt as lower bounds; what
<aerotwin_extra name="E"> names is required by the extra E only, ROS by the extra `ros`.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
VERSION_OWNER = "aerotwin_core"
ROS = re.compile(
    r"(rclpy|rcl_interfaces|ament_index_python|builtin_interfaces|simulation_interfaces|std_srvs|tf2_\w+|\w+_msgs)$"
)
# There are no wheels of these: .ci/setup generates them (generate_interfaces.py).
VERBS = "aerotwin.commands"
NOT_ON_INDEX = {"simulation_interfaces", "tf2_msgs"}
# Imported name or rosdep key -> name on the package index, where they differ.
DISTRIBUTIONS = {
    "backports": "backports.zstd",
    "cachecontrol": "CacheControl[filecache]",
    "kiss_icp": "kiss-icp",
    "laspy": "laspy[lazrs]",
    "open3d": "open3d-cpu",
    "opengl_basisu": "opengl-basisu",
    "python3-opencv": "opencv-contrib-python-headless",
    "python3-pil": "pillow",
    "python3-yaml": "PyYAML",
    "rclpy": "ros-rclpy[fastrtps]",
}
# Extras of the package `aerotwin`, which has no code: what each brings.
EXTRAS = {
    "evaluate": ["aerotwin_run_evaluation", "aerotwin_trajectory_evaluation"],
    "campaign": ["aerotwin_campaign"],
    "evo": ["aerotwin_trajectory_evaluation[evo]"],
    "maps": [
        "aerotwin_comparison",
        "aerotwin_core[maps]",
        "aerotwin_datasets",
        "aerotwin_map_evaluation",
        "aerotwin_run_evaluation[maps]",
        "aerotwin_voxel_cloud",
        "aerotwin_worlds",
    ],
    "sim": [
        "aerotwin[evaluate,evo,maps]",
        "aerotwin_ardupilot_bridge",
        "aerotwin_bringup",
        "aerotwin_campaign",
        "aerotwin_doctor",
        "aerotwin_formation",
        "aerotwin_run_evaluation[sim]",
        "aerotwin_teleop",
        "aerotwin_view",
    ],
    "ros": ["aerotwin[sim]"],
}


def bare(name: str) -> str:
    """Return a distribution's name as versions are looked up: no extras, one spelling."""
    return re.sub(r"[-_.]+", "-", name.partition("[")[0]).lower()


def packages() -> dict[str, ElementTree.Element]:
    """Return the manifest of each package."""
    paths = sorted(SOURCE.glob("*/package.xml"))
    return {path.parent.name: ElementTree.parse(path).getroot() for path in paths}


def pinned_versions(manifests: dict[str, ElementTree.Element]) -> dict[str, str]:
    """Return the version of each distribution in requirements.txt, and of ours."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    pins = (line.partition("==") for line in lines if "==" in line)
    ours = manifests[VERSION_OWNER].findtext("version") or ""
    return {bare(name): version for name, _, version in pins} | {
        bare(name): ours for name in (*manifests, "aerotwin")
    }


def requirement(name: str, pins: dict[str, str]) -> str:
    """Return the line for pip: a version of ROS's wheels must be of the same distribution."""
    known = f"ros-{name.replace('_', '-')}" if ROS.match(name) else name.removeprefix("python3-")
    distribution = DISTRIBUTIONS.get(name, known)
    version = pins.get(bare(distribution))
    if version is None:  # what something that is pinned brings
        return distribution
    relation = "~=" if ROS.match(name) else "==" if name.startswith("aerotwin") else ">="
    return f"{distribution}{relation}{version}"


def requirements(
    manifest: ElementTree.Element, pins: dict[str, str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return what a package always requires, and what by each extra."""
    names = {(element.text or "").strip() for element in manifest.iter("exec_depend")}
    names |= {
        word for each in manifest.iter("aerotwin_python") for word in (each.text or "").split()
    }
    extras = {
        each.get("name", ""): sorted((each.text or "").split())
        for each in manifest.iter("aerotwin_extra")
    }
    ros = sorted(name for name in names if ROS.match(name) and name not in NOT_ON_INDEX)
    if ros:
        extras["ros"] = ros
    always = names - NOT_ON_INDEX - {name for each in extras.values() for name in each}
    return (
        sorted((requirement(name, pins) for name in always), key=str.lower),
        {
            extra: sorted((requirement(name, pins) for name in each), key=str.lower)
            for extra, each in sorted(extras.items())
        },
    )


def verbs_by_extra(manifests: dict[str, ElementTree.Element], pins: dict[str, str]) -> list[str]:
    """Return the verbs that only an extra of `aerotwin` brings, as entry points."""
    needs = {name: requirements(root, pins)[0] for name, root in manifests.items()}
    brought: dict[str, str] = {}
    for extra, names in EXTRAS.items():
        waiting = list(names)
        while waiting:
            name = re.split(r"[=\[]", waiting.pop())[0]
            if name in needs and name not in brought:
                brought[name] = extra
                waiting += needs[name]
    return sorted(
        f"{line.partition(' = ')[0]} = {extra}"
        for name, extra in brought.items()
        for line in setup(name).get("options.entry_points", VERBS, fallback="").split("\n")
        if line
    )


def setup(package: str) -> ConfigParser:
    """Return the setup.cfg of a package."""
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(SOURCE / package / "setup.cfg", encoding="utf-8")
    return parser


def written(
    parser: ConfigParser, version: str, always: list[str], extras: dict[str, list[str]]
) -> str:
    """Return the text of a setup.cfg with its version and requirements put in."""
    parser["metadata"]["version"] = version
    parser["options"]["install_requires"] = listing(always)
    parser["options.extras_require"] = {key: listing(extras[key]) for key in sorted(extras)}
    sections = [
        f"[{name}]\n" + "".join(entry(key, value) for key, value in parser[name].items())
        for name in parser.sections()
    ]
    return "\n".join(sections)


def entry(key: str, value: str) -> str:
    """Return a key with its value; several lines are indented."""
    return f"{key} = {value}".replace(" = \n", " =\n").replace("\n", "\n    ").rstrip() + "\n"


def listing(lines: list[str]) -> str:
    """Return the value of several lines."""
    return "".join(f"\n{line}" for line in lines)


def meta_package(manifests: dict[str, ElementTree.Element], pins: dict[str, str]) -> str:
    """Return the setup.cfg of `aerotwin`."""
    ros = {
        name for root in manifests.values() for name in requirements(root, pins)[1].get("ros", [])
    }
    extras = {extra: [requirement(name, pins) for name in names] for extra, names in EXTRAS.items()}
    extras["ros"] += sorted(ros)
    parser = setup("aerotwin")
    verbs = listing(verbs_by_extra(manifests, pins))
    parser["options.entry_points"] = {"aerotwin.extras": verbs}
    return written(parser, pins["aerotwin"], [requirement(VERSION_OWNER, pins)], extras)


def expected() -> dict[Path, str]:
    """Return every file that is derived, with the text that it should have."""
    manifests = packages()
    pins = pinned_versions(manifests)
    texts = {SOURCE / "aerotwin" / "setup.cfg": meta_package(manifests, pins)}
    for package, root in manifests.items():
        always, extras = requirements(root, pins)
        texts[SOURCE / package / "setup.cfg"] = written(
            setup(package), pins["aerotwin"], always, {"test": ["pytest"], **extras}
        )
        path = SOURCE / package / "package.xml"
        texts[path] = re.sub(
            r"<version>.*?</version>",
            f"<version>{pins['aerotwin']}</version>",
            path.read_text("utf-8"),
        )
    return texts


def main() -> int:
    """Compare, or write; return the exit code."""
    stale = {path: text for path, text in expected().items() if path.read_text("utf-8") != text}
    for path, text in stale.items():
        if "--write" in sys.argv:
            path.write_text(text, encoding="utf-8")
        else:
            name = path.relative_to(ROOT)
            sys.stdout.write(f"{name} does not agree; do: .ci/wheel_metadata.py --write\n")
    return int(bool(stale) and "--write" not in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
