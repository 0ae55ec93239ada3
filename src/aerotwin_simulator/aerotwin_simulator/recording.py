# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What a run keeps: its bag, a sink of the loop, and its configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from aerotwin_core.bag import BagWriter
from aerotwin_core.cli import write_text_atomically
from aerotwin_core.documents import PlainDumper
from aerotwin_core.errors import UserError
from aerotwin_core.fixed_layout import FixedLayout
from aerotwin_core.parameters import read_yaml, to_mapping
from aerotwin_core.run_folder import named_files, software_versions
from aerotwin_simulator.fleet import mission_file
from aerotwin_simulator.parameters import SimulatorParameters
from aerotwin_simulator.sensor_setup import Setup, flat
from aerotwin_simulator.topics import MessageSink, Publish, PublishBlock, Topic, resolve
from aerotwin_worlds import World


class BagSink(MessageSink):
    """Records the messages of the loop and of other nodes, in one writer.

    Names in the bag are those below the vehicle's namespace, whatever it is; only a fleet's begin
    with the names of its vehicles. `record` is "all", or "inertial" for everything but images and
    clouds; `compression` that of `BagWriter`.
    """

    def __init__(self, path: Path, *, record: str = "all", compression: str = "none") -> None:
        self.writer = BagWriter(path, compression=compression)
        self._is_whole = record == "all"
        self._names: dict[str, str] = {}

    def add(self, topic: Topic) -> None:
        """Declare a topic, unless it is not recorded."""
        if (topic.is_image or topic.is_cloud) and not self._is_whole:
            return
        name = self._names[topic.name] = self._names.get(topic.name) or resolve(topic.name)
        self.writer.add_topic(name, topic.msgtype, latched=topic.is_latched)

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Write one message; a topic that is not recorded is ignored."""
        name = self._names.get(topic.name)
        if name is not None:
            self.writer.write(name, stamp_ns, cdr)

    def outlet(self, topic: Topic, layout: FixedLayout) -> Publish | None:
        """Return what writes messages by their numbers; None for a topic that is not recorded."""
        name = self._names.get(topic.name)
        return None if name is None else self.writer.outlet(name, layout)

    def block_outlet(
        self, topics: Sequence[Topic], layouts: Sequence[FixedLayout]
    ) -> PublishBlock | None:
        """Return what writes messages on several topics; None if they are not recorded."""
        names = [self._names[topic.name] for topic in topics if topic.name in self._names]
        return self.writer.block_outlet(names, layouts) if names else None

    def describe(self, setups: Mapping[str, Setup]) -> None:
        """Write the sensors of vehicles as metadata records, `sensors` or `<vehicle>/sensors`."""
        for vehicle, setup in setups.items():
            name = f"{vehicle}/sensors" if vehicle else "sensors"
            self.writer.add_metadata(name, flat(setup))

    def close(self) -> None:
        """Close the bag."""
        self.writer.close()


def bag_sink(path: Path, parameters: SimulatorParameters) -> BagSink:
    """Return the bag of a run."""
    return BagSink(path, record=parameters.record, compression=parameters.record_compression)


class MemorySink(MessageSink):
    """Keeps the messages of the loop in memory, as (name of the topic, stamp [ns], bytes)."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, int, bytes]] = []
        self.names: set[str] = set()

    def add(self, topic: Topic) -> None:
        """Declare a topic."""
        self.names.add(topic.name)

    def publish_cdr(self, topic: Topic, stamp_ns: int, cdr: bytes) -> None:
        """Keep one message of a declared topic."""
        if topic.name not in self.names:
            raise ValueError(f"topic must be declared before its messages, got {topic.name}")
        self.messages.append((topic.name, stamp_ns, cdr))

    def of(self, name: str) -> list[tuple[int, bytes]]:
        """Return the messages of a topic, (stamp [ns], bytes) each."""
        return [(stamp_ns, cdr) for topic, stamp_ns, cdr in self.messages if topic == name]


def run_configuration(parameters: dict[str, Any], world: World) -> str:
    """Return the YAML text that repeats a run: parameters, world, files named, versions."""
    files = {group: parameters.get(group, {}).get("file", "none") for group in ("mission", "fleet")}
    content = {
        "parameters": parameters,
        **{group: None if file == "none" else read_yaml(file) for group, file in files.items()},
        "world": {
            **world.credits,
            "missing": list(world.missing),
            "origin": {
                "latitude_deg": world.origin.latitude_deg,
                "longitude_deg": world.origin.longitude_deg,
                "altitude_m": world.origin.altitude_m,
            },
        },
        "files": named_files(parameters),
        "versions": software_versions(),
    }
    text: str = yaml.dump(content, Dumper=PlainDumper, sort_keys=False, allow_unicode=True)
    return text


def write_configuration(folder: Path, parameters: SimulatorParameters, world: World) -> None:
    """Write what repeats a run into its folder."""
    values = to_mapping(parameters)
    try:
        values["mission"]["file"] = str(mission_file(parameters) or "none")
    except UserError:  # no vehicle flies it: one that did was refused before
        values["mission"]["file"] = "none"
    text = run_configuration(values, world)
    write_text_atomically(folder / "config.yaml", text)


def add_sensors(folder: Path, setups: Mapping[str, Setup]) -> None:
    """Add the sensors of vehicles by name to the configuration in a run folder, if there is one.

    A single vehicle has no name: its sensors are directly below `sensors`. Those of others stay.
    """
    path = folder / "config.yaml"
    if path.is_file():
        content = read_yaml(path)
        content["sensors"] = setups.get("", content.get("sensors", {}) | setups)
        text = yaml.dump(content, Dumper=PlainDumper, sort_keys=False, allow_unicode=True)
        write_text_atomically(path, text)
