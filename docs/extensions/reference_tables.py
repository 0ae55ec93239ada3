# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The pages of launch files, topics and metrics: tables read from YAML, code and schemas."""

import ast
import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from aerotwin_core.metric import MetricSet
from aerotwin_simulator import topics
from source_tree import code, module_trees, packages, plain, table

CALLS = {
    "create_publisher": "publishes",
    "create_subscription": "subscribes",
    "create_service": "serves",
}


def packages_table(source: Path) -> str:
    """Return every package with its description, and what it imports of the others."""
    rows = []
    for package in packages(source):
        manifest = ElementTree.parse(source / package / "package.xml").getroot()
        needs = sorted({one.text or "" for one in manifest.iter("exec_depend")})
        ours = [need.removeprefix("aerotwin_") for need in needs if need.startswith("aerotwin_")]
        # The top one starts the programs of nearly all others.
        below = "nearly all" if package == "aerotwin_bringup" else ", ".join(ours)
        rows.append([code(package), plain(manifest.findtext("description", "")), below])
    return table(["package", "what lives there", "needs"], rows)


def launch_page(folder: Path) -> str:
    """Return a section per launch file: its comment and its arguments."""
    sections = []
    for path in sorted(folder.glob("*.launch.yaml")):
        text = path.read_text("utf-8")
        comments = [line[2:] for line in text.splitlines() if line.startswith("# ")]
        about = " ".join(line for line in comments if not line.startswith("SPDX-"))
        rows = [
            argument_row(action["arg"])
            for action in yaml.safe_load(text)["launch"]
            if "arg" in action
        ]
        columns = ["argument", "default", "meaning"]
        arguments = table(columns, rows) if rows else "Included by the others.\n"
        sections.append(f"## {path.name}\n\n{plain(about)}\n\n{arguments}")
    return "\n".join(sections)


def argument_row(argument: Mapping[str, Any]) -> list[str]:
    """Return the cells of one launch argument."""
    choices = ", ".join(code(choice["value"]) for choice in argument.get("choice", ()))
    meaning = plain(argument.get("description", "")) + (f" ({choices})" if choices else "")
    default = argument.get("default")
    return [
        code(argument["name"]),
        "required" if default is None else code(default or '""'),
        meaning,
    ]


def topics_page(source: Path) -> str:
    """Return the topics of the simulator, and what every node publishes, subscribes and serves."""
    inputs = (*topics.FROM_SLAM, topics.STEP_ACK, topics.EXTERNAL_ODOM, topics.JOY)
    heard = [[code(t.name), code(t.msgtype)] for t in (*inputs, topics.ROTOR_COMMAND)]
    columns = ["topic", "type", "frame", "QoS", "rate [Hz]", "from", "only with"]
    parts = [
        "## The simulator publishes\n\n"
        + table(columns, [topic_row(topic) for topic in topics.ALL]),
        "## The simulator listens to\n\n" + table(["topic", "type"], heard),
        "## Nodes\n\nRead from the calls in the code; `{…}` is filled in while the node runs.\n",
    ]
    for package in packages(source):
        rows = sorted(set(calls_of(source, package)))
        if rows:
            names = ["", "name", "type", "module"]
            cells = [
                [kind, code(name), code(msgtype), code(module)]
                for kind, name, msgtype, module in rows
            ]
            parts.append(f"### {package}\n\n" + table(names, cells))
    return "\n".join(parts)


def topic_row(topic: topics.Topic) -> list[str]:
    """Return the cells of one topic of the simulator."""
    rate = f"{topic.rate_hz:g}" if topic.rate_hz else ""
    qos = "reliable, latched" if topic.is_latched else "reliable"
    frame, condition = (f"`{text}`" if text else "" for text in (topic.frame_id, topic.only_with))
    names = [code(topic.name), code(topic.msgtype)]
    return [*names, frame, qos, rate, code("simulator"), condition]


def calls_of(source: Path, package: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, type and module of what the nodes of a package open by a written name."""
    for module, tree in module_trees(source, package):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                kind = CALLS.get(node.func.attr)
                if kind and len(node.args) > 1 and (name := written_name(node.args[1])):
                    yield kind, name, ast.unparse(node.args[0]), module.removeprefix(f"{package}.")


def written_name(node: ast.expr) -> str:
    """Return a name that stands in the code, with {…} for its variable parts; "" for others."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values]
        return "".join(map(str, parts))
    return ""


def metrics_page(source: Path) -> str:
    """Return the declared metrics, the described numbers of other schemas, and short names."""
    sets, schemas, aliases = [], {}, {}
    for package in packages(source):
        for module, tree in module_trees(source, package):
            for name in assigned_names(tree):
                if name.endswith("_METRICS") and not name.startswith("_"):
                    sets.append((module, name, getattr(importlib.import_module(module), name)))
                elif name.endswith("_SCHEMA") and not name.startswith("_"):
                    schemas[name] = (module, getattr(importlib.import_module(module), name))
                elif name == "ALIASES":
                    aliases[module] = getattr(importlib.import_module(module), name)
    definitions = json.loads(
        (source / "aerotwin_report/aerotwin_report/metrics.schema.json").read_text("utf-8")
    )["$defs"]
    parts = [metric_table(module, name, declared) for module, name, declared in sets]
    with_declarations = {module.partition(".")[0] for module, _, _ in sets}
    for name, (module, schema) in sorted(schemas.items()):
        # Counts and texts need no explanation beside their name.
        rows = [row for row in leaves(schema, definitions, "") if row[1]]
        if rows and module.partition(".")[0] not in with_declarations:
            heading = name.removesuffix("_SCHEMA").replace("_", " ").capitalize()
            columns = ["number", "meaning", "unit", "better"]
            parts.append(f"## {heading}\n\n`{module}.{name}`\n\n" + table(columns, rows))
    declared = {short for _, _, metrics in sets for short in metrics.aliases()}
    parts.append("## Other short names\n\nWhat `--fail-if` understands beside the above.\n")
    for module, names in sorted(aliases.items()):
        rows = [
            [code(short), code(names[short] if isinstance(names, Mapping) else "")]
            for short in names
            if short not in declared
        ]
        if rows:
            parts.append(f"### {module}\n\n" + table(["short name", "number"], rows))
    return "\n".join(parts)


def metric_table(module: str, name: str, declared: MetricSet) -> str:
    """Return the section of a set of declared metrics."""
    rows = [
        [code(path), plain(meaning), unit, better, ", ".join(code(short) for short in names)]
        for path, meaning, unit, better, names in declared.reference()
    ]
    return f"## {declared.title}\n\nDeclared in `{module}.{name}`.\n\n" + table(
        ["number", "meaning", "unit", "better", "short names for --fail-if"], rows
    )


def assigned_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module assigns at its top level."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def leaves(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str
) -> Iterator[list[str]]:
    """Yield the rows of a schema: one for each number, text or flag, by its path."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    alternatives = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(alternatives) == 1:
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        yield from leaves({**alternatives[0], **rest}, definitions, path)
        return
    children = {
        f"{path}.{name}" if path else name: child
        for name, child in schema.get("properties", {}).items()
    }
    if isinstance(schema.get("additionalProperties"), dict):
        children[f"{path}.NAME" if path else "NAME"] = schema["additionalProperties"]
    if (
        schema.get("type") == "array"
        and isinstance(schema.get("items"), dict)
        and "properties" in schema["items"]
    ):
        children[f"{path}[]"] = schema["items"]
    if schema.get("title") or not children:
        meaning = plain(str(schema.get("description", schema.get("title", ""))))
        yield [code(path), meaning, schema.get("unit", ""), schema.get("better", "")]
    for name, child in children.items():
        yield from leaves(child, definitions, name)
