# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Find the OpenGL renderer of this machine without a display, safely."""

import os
import subprocess
from functools import cache
from pathlib import Path

from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError

BACKENDS = ("auto", "cpu", "egl")
VARIABLE = "AEROTWIN_RENDERER"
# Mesa's renderers on the CPU: our own kernels are faster.
SOFTWARE = ("llvmpipe", "softpipe", "swrast", "lavapipe", "swr ")
DEVICE_FILES = ("/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg")
LONGEST_START_S = 30.0
# A broken driver may abort the process or write to its output: a child process probes it.
_PROGRAM = """
import moderngl
context = moderngl.create_context(standalone=True, backend="egl", require=430)
print("\\n" + context.info["GL_RENDERER"])
"""


def choose_backend(backend: str) -> str:
    """Return "cpu", "egl" or "auto": the argument, or $AEROTWIN_RENDERER where it is "auto".

    Raises `UserError` if the name is another.
    """
    wish = os.environ.get(VARIABLE, "auto") if backend == "auto" else backend
    if wish not in BACKENDS:
        raise UserError(
            f"renderer must be one of {', '.join(BACKENDS)}, got '{wish}'; set backend"
            f" or ${VARIABLE} to one of them"
        )
    return wish


@cache
def opengl_renderer() -> str | None:
    """Return the name of the OpenGL 4.3 renderer that EGL offers; None where there is none."""
    environment = {**os.environ, "EGL_LOG_LEVEL": "fatal"}
    try:
        answer = subprocess.run(
            python_command("-c", _PROGRAM),
            capture_output=True,
            text=True,
            check=True,
            timeout=LONGEST_START_S,
            env=environment,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    return answer.stdout.strip().splitlines()[-1]


def has_graphics_card() -> bool:
    """Whether the driver of a graphics card answers; costs nothing where there is no device."""
    if not any(any(Path("/").glob(pattern[1:])) for pattern in DEVICE_FILES):
        return False
    name = opengl_renderer()
    return name is not None and not any(token in name.lower() for token in SOFTWARE)
