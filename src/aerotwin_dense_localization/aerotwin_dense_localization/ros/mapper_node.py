# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `mapper`: stereo pairs and odometry of a flight in; slam/map and a dense map on disk out."""

import sys
import time
from pathlib import Path

import numpy as np
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from aerotwin_core.cli import say
from aerotwin_core.errors import ParameterError
from aerotwin_core.output_lock import hold_output
from aerotwin_core.ros.conversions import cloud_from_points, stamp_from_ns
from aerotwin_core.ros.lockstep import OVERRIDABLE, publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_core.ros.qos import IMU_DEPTH, LATCHED, reliable
from aerotwin_dense_localization.mapping import DenseMap, save_map
from aerotwin_dense_localization.mapping.folder import MANIFEST
from aerotwin_dense_localization.mapping.recorder import MapRecorder, RecordedMap
from aerotwin_dense_localization.ros.node_parameters import MapperNodeParameters
from aerotwin_dense_localization.ros.outputs import preview_points
from aerotwin_dense_localization.ros.stereo_intake import PlacedPair, StereoIntake

OK, WARN = 0, 1
PROGRESS_PERIOD_S = 2.0


class MapperNode(ConfiguredNode):
    """Connects stereo pairs to a `MapRecorder`; ~/finish, or shutdown, builds the map."""

    def __init__(self) -> None:
        super().__init__("mapper")
        self._settings = p = declare_parameters(self, MapperNodeParameters)
        self._folder = Path(p.map)
        if (self._folder / MANIFEST).exists():
            raise ParameterError(f"map: {p.map} holds a map already; name another folder")
        hold_output(self._folder)
        self._recorder: MapRecorder | None = None
        self._is_recording, self._last = True, "no key-frame yet"
        self._reported_s = 0.0
        self._preview: list[tuple[np.ndarray, np.ndarray]] = []
        self._wire()
        self._intake = StereoIntake(
            self,
            p,
            is_requested=self._is_requested,
            on_pair=self._on_pair,
            on_done=self._acknowledge,
        )
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"maps into {p.map}, with {p}")

    def destroy_node(self) -> None:
        """Build the map if it is not built yet."""
        if self._is_recording and self._recorder is not None:
            self._finish()
        super().destroy_node()

    def _wire(self) -> None:
        qos = {"qos_overriding_options": OVERRIDABLE}
        self._publish_map = self.create_publisher(PointCloud2, "slam/map", LATCHED, **qos).publish
        self._publish_ack = self.create_publisher(
            Header, "step/ack", reliable(IMU_DEPTH), **qos
        ).publish
        self.create_service(Trigger, "~/finish", self._on_finish)

    def _is_requested(self, stamp_ns: int) -> bool:
        if self._recorder is not None and self._recorder.is_full:
            self._last = f"{len(self._recorder.keyframes)} key-frames: no more are saved"
            self.get_logger().warning(f"{self._last}; call ~/finish", once=True)
        is_due = self._recorder is None or self._recorder.is_due(stamp_ns)
        return self._is_recording and is_due

    def _on_pair(self, pair: PlacedPair) -> None:
        try:
            if self._recorder is None:
                self._recorder = MapRecorder(pair.rig, self._settings)
            keyframe = self._recorder.add(pair.stamp_ns, pair.left, pair.right, pair.T_map_optical)
        except ValueError as error:
            self._intake.skip(str(error))
            return
        if keyframe is not None:
            self._last = f"{len(self._recorder.keyframes)} key-frames"
            self._preview.append(preview_points(keyframe))
            points, grey = (np.concatenate(parts) for parts in zip(*self._preview, strict=True))
            self._show(pair.stamp_ns, points, grey)

    def _show(self, stamp_ns: int, points: np.ndarray, grey: np.ndarray) -> None:
        step = -(-len(points) // self._settings.max_cloud_points) or 1
        frame = self._intake.map_frame
        self._publish_map(cloud_from_points(points[::step], stamp_ns, frame, grey[::step]))

    def _on_finish(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        if not self._is_recording:
            answer.message = "it is finished already"
            return answer
        made = self._finish()
        answer.success, answer.message = made is not None, self._last
        if made is not None and self._recorder is not None:
            stamp_ns = self._recorder.keyframes[-1].stamp_ns
            self._show(stamp_ns, *shown(made.dense_map))
        return answer

    def _finish(self) -> RecordedMap | None:
        """Build and save the map; return None, and continue recording, if that fails."""
        try:
            if self._recorder is None:
                raise ValueError("there is no key-frame: no pair with a pose has come")
            made = self._recorder.finished(self._log_progress)
            about = {
                "poses": "estimated", "frame": self._intake.map_frame,
                "n_keyframes": made.n_keyframes, "n_links": made.n_links,
            }  # fmt: skip
            save_map(self._folder, made.dense_map, about)
        except (ValueError, OSError) as error:
            self._last = f"the map was not made: {error}"
            self._say(self._last)
            return None
        self._is_recording = False
        self._last = (
            f"{len(made.dense_map)} splats of {made.n_keyframes} key-frames with {made.n_links} "
            f"ties in {self._folder}"
        )
        self._say(self._last)
        return made

    def _log_progress(self, what: str, share: float) -> None:
        if time.monotonic() - self._reported_s > PROGRESS_PERIOD_S:
            self._reported_s = time.monotonic()
            self._say(f"{what}: {share:.0%}")

    def _say(self, text: str) -> None:
        """Log, or print if shutdown has already closed /rosout."""
        (self.get_logger().info if self.context.ok() else say)(text)

    def _acknowledge(self, stamp_ns: int) -> None:
        self._publish_ack(Header(stamp=stamp_from_ns(stamp_ns)))

    def _report(self) -> tuple[int, str, dict[str, str]]:
        counters = self._intake.counters
        values = {name: str(value) for name, value in counters.items()}
        n_keyframes = 0 if self._recorder is None else len(self._recorder.keyframes)
        values["n_keyframes"] = str(n_keyframes)
        state = "recording" if self._is_recording else "finished"
        return WARN if counters["n_pairs_skipped"] else OK, f"{state}: {self._last}", values


def shown(dense_map: DenseMap) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (n, 3) [m] of a map and their grey values (n,)."""
    cloud = dense_map.cloud
    return cloud.points, cloud.colours.mean(axis=1)


def main() -> int:
    """Run the node."""
    return run_node(MapperNode)


if __name__ == "__main__":
    sys.exit(main())
