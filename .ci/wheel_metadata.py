#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Write what pip must know into the setup.py of each package, from what stands elsewhere.

    .ci/wheel_metadata.py             say which files do not agree; exit code 1 if one does not
    .ci/wheel_metadata.py --write     write them anew

The version is that of aerotwin_core's package.xml. Requirements are the <exec_depend> and
<aerotwin_python> of each package.xml, with the versions of requirements.txt as lower bounds; what
<aerotwin_extra name="E"> names is required by the extra E only, ROS by the extra `ros`.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
VERSION_OWNER = "aerotwin_core"
PYTHON = ">=3.11"
ROS = re.compile(
    r"(rclpy|rcl_interfaces|ament_index_python|builtin_interfaces|std_srvs|tf2_\w+|\w+_msgs)$"
)
# There are no wheels of these: aerotwin_core generates them (generate_tf2_msgs.py).
NOT_ON_INDEX = {"tf2_msgs"}
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
    "evo": ["aerotwin_trajectory_evaluation[evo]"],
    "maps": [
        "aerotwin_comparison",
        "aerotwin_core[maps]",
        "aerotwin_map_evaluation",
        "aerotwin_run_evaluation[maps]",
        "aerotwin_voxel_cloud",
        "aerotwin_worlds",
    ],
    "sim": [
        "aerotwin[evaluate,evo,maps]",
        "aerotwin_bringup",
        "aerotwin_doctor",
        "aerotwin_run_evaluation[sim]",
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
        f"{verb} = {extra}"
        for name, extra in brought.items()
        for verb in re.findall(r'"([\w.]+) = [\w.]+command"', setup_text(name))
    )


def setup_text(package: str) -> str:
    """Return the setup.py of a package."""
    return (SOURCE / package / "setup.py").read_text("utf-8")


def listing(key: str, lines: list[str], indent: str) -> str:
    """Return a list in Python, one entry a line."""
    if not lines:
        return f"{indent}{key}[],\n"
    body = "".join(f'{indent}    "{line}",\n' for line in lines)
    return f"{indent}{key}[\n{body}{indent}],\n"


def written(text: str, version: str, always: list[str], extras: dict[str, list[str]]) -> str:
    """Return the text of a setup.py with its version and requirements put in."""
    of_extras = "".join(
        listing(f'"{name}": ', lines, " " * 8) for name, lines in sorted(extras.items())
    )
    blocks = {
        "version": f'    version="{version}",\n',
        "python_requires": f'    python_requires="{PYTHON}",\n',
        "install_requires": listing("install_requires=", always, " " * 4),
        "extras_require": f"    extras_require={{\n{of_extras}    }},\n",
    }
    for key, block in blocks.items():
        old = re.compile(rf"^    {key}=.*?,\n(?=    \w+=|    #|\))", re.MULTILINE | re.DOTALL)
        if key == "python_requires" and not old.search(text):
            text = text.replace("    install_requires=", f"{block}    install_requires=", 1)
        text = old.sub(lambda _, block=block: block, text, count=1)
    return text


def meta_package(manifests: dict[str, ElementTree.Element], pins: dict[str, str]) -> str:
    """Return the requirements of `aerotwin`, in its setup.py."""
    ros = {
        name for root in manifests.values() for name in requirements(root, pins)[1].get("ros", [])
    }
    extras = {extra: [requirement(name, pins) for name in names] for extra, names in EXTRAS.items()}
    extras["ros"] += sorted(ros)
    always = [requirement(VERSION_OWNER, pins)]
    text = written(setup_text("aerotwin"), pins["aerotwin"], always, extras)
    verbs = listing('"aerotwin.extras": ', verbs_by_extra(manifests, pins), " " * 8)
    return re.sub(
        r'^        "aerotwin.extras": .*?\],\n', verbs, text, flags=re.MULTILINE | re.DOTALL
    )


def expected() -> dict[Path, str]:
    """Return every file that is derived, with the text that it should have."""
    manifests = packages()
    pins = pinned_versions(manifests)
    texts = {SOURCE / "aerotwin" / "setup.py": meta_package(manifests, pins)}
    for package, root in manifests.items():
        always, extras = requirements(root, pins)
        texts[SOURCE / package / "setup.py"] = written(
            setup_text(package), pins["aerotwin"], always, {"test": ["pytest"], **extras}
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
