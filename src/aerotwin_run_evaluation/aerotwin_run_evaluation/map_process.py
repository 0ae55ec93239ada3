# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates maps in a process of its own, beside the trajectory and its figures.

Two interpreters share no lock: beside threads of one, maps took as long as after them. The process
begins during a flight, so that all that depends on the world alone is done when it lands.
"""

import signal
import subprocess
from collections.abc import Callable
from multiprocessing.connection import Pipe

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.threads import in_background
from aerotwin_run_evaluation.map_job import BareMesh, JudgedMap, MapJob
from aerotwin_worlds import World

_STANDARD_ERROR = 2


class MapProcess:
    """Evaluates maps against a world, one after the other; it begins to prepare at once.

    It ends with this process, however that ends. `end` it where it is not needed any more.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._here, there = Pipe()
        self._process = subprocess.Popen(
            python_command("-m", f"{__package__}.map_worker", str(there.fileno())),
            stdin=subprocess.DEVNULL,
            stdout=_STANDARD_ERROR,  # standard output may be the result of a command
            pass_fds=(there.fileno(),),
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )
        there.close()
        self._wait_for_world = in_background(self._send_world)

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def judge(self, job: MapJob, on_step: Callable[[str], None]) -> JudgedMap:
        """Return the evaluated map; `on_step` is called with the name of each step.

        One map at a time. Raises `UserError` if it cannot be evaluated, or the process ended.
        """
        try:
            self._wait_for_world()
            self._here.send(job)
            while isinstance(answer := self._here.recv(), str):
                on_step(answer)
        except (EOFError, OSError):
            raise UserError(self._end_text()) from None
        if isinstance(answer, UserError):
            raise answer
        return answer

    def end(self) -> None:
        """End the process; nothing is evaluated any more."""
        self._process.kill()  # it writes no files
        self._process.wait()

    def _send_world(self) -> None:
        meshes = [
            BareMesh(vertices_map=mesh.vertices_map, triangles=mesh.triangles)
            for mesh in self.world.meshes
        ]
        self._here.send(meshes)

    def _end_text(self) -> str:
        code = self._process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        why = "was memory short?" if code == -signal.SIGKILL else "the reason is printed above"
        return (
            f"the process that evaluates it {how} ({why}); judge it again from the bag: aerotwin "
            f"evaluate bag BAG --slam none --world {self.world.name}"
        )
