# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Node `teach`: lidar/points and odom of a drive in, a route graph on disk out."""

import sys

from std_srvs.srv import Trigger

from aerotwin_core.errors import UserError
from aerotwin_core.output_lock import hold_output
from aerotwin_core.ros.lockstep import publish_diagnostics
from aerotwin_core.ros.node import run_node
from aerotwin_core.ros.parameters import ConfiguredNode, declare_parameters
from aerotwin_teach_repeat.ros.node_parameters import TeachNodeParameters
from aerotwin_teach_repeat.ros.scan_intake import BaseScan, ScanIntake
from aerotwin_teach_repeat.teaching.drive import DriveTeacher

OK, WARN = 0, 1


class TeachNode(ConfiguredNode):
    """Wires scans to a `DriveTeacher`; ~/finish closes the loops and the graph.

    Vertices are written to disk at once: a node that is killed leaves the path driven so far.
    """

    def __init__(self) -> None:
        super().__init__("teach")
        self._settings = p = declare_parameters(self, TeachNodeParameters)
        hold_output(p.route_graph)
        self._teacher = DriveTeacher(p.route_graph)
        self._is_recording, self._last = True, "no scan yet"
        self._n_refused = 0
        self._intake = ScanIntake(self, p.base_frame, self._on_scan)
        self.create_service(Trigger, "~/finish", self._on_finish)
        publish_diagnostics(self, self._report)
        self.get_logger().info(f"teaches by driving, with {p}")

    def destroy_node(self) -> None:
        """Close the files with the node."""
        if self._is_recording:
            self._teacher.close()
        super().destroy_node()

    def _on_scan(self, scan: BaseScan) -> None:
        if not self._is_recording:
            return
        try:
            frame = self._teacher.add(
                scan.points_base, scan.times_s, scan.stamp_ns, scan.wheel_twist
            )
            refused, self._last = not frame.accepted, frame.reason
        except ValueError as error:
            refused, self._last = True, str(error)
        if refused:
            self._n_refused += 1
            reason = f"scan not placed: {self._last}"
            self.get_logger().warning(reason, throttle_duration_sec=5.0)

    def _on_finish(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        if not self._is_recording:
            answer.message = "it is finished already"
            return answer
        self._is_recording = False
        try:
            graph = self._teacher.finish()
        except UserError as error:
            answer.message = str(error)
            return answer
        answer.success = True
        answer.message = (
            f"{len(graph)} vertices, {graph.length_m():.1f} m in {self._teacher.folder}"
        )
        return answer

    def _report(self) -> tuple[int, str, dict[str, str]]:
        values = {name: str(value) for name, value in self._intake.counters.items()}
        values["n_not_placed"] = str(self._n_refused)
        state = "recording" if self._is_recording else "finished"
        return WARN if self._n_refused else OK, f"{state}: {self._last}", values


def main() -> int:
    """Run the node."""
    return run_node(TeachNode)


if __name__ == "__main__":
    sys.exit(main())
