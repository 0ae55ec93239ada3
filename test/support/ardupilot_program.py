# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the program `arducopter`: its options, its JSON interface, its log; it hovers.

`install_stand_in` writes an executable that runs this module. What it does is told by environment
variables: STAND_IN_PWM (pulse of all motors [us]), STAND_IN_SILENT_AT and STAND_IN_ENDS_AT (frames,
after which it goes silent or ends).
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

from aerotwin_ardupilot_bridge import ServoOutputs, json_port
from aerotwin_ardupilot_bridge.servo_packet import pack_servo_packet
from support.dataflash_writer import record, write_log

N_CHANNELS = 16
NEVER = 1 << 60
LOG_MESSAGE = b"the log of a stand-in"


def install_stand_in(root: Path) -> Path:
    """Write the tree of a built ArduPilot whose program is this module; return its folder."""
    program = root / "build" / "sitl" / "bin" / "arducopter"
    program.parent.mkdir(parents=True)
    folder = Path(__file__).resolve().parents[1]
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[:0] = {[str(folder), *sys.path]!r}\n"
        "from support.ardupilot_program import main\nmain(sys.argv[1:])\n"
    )
    program.chmod(0o755)
    return root


def main(arguments: list[str]) -> None:
    """Answer states with outputs until the end; stop with an error if a step is not the next."""
    instance = int(arguments[arguments.index("-I") + 1])
    step_s = 1.0 / int(arguments[arguments.index("-r") + 1])
    pwm_us = int(os.environ.get("STAND_IN_PWM", "1000"))
    silent_at = int(os.environ.get("STAND_IN_SILENT_AT", NEVER))
    ends_at = int(os.environ.get("STAND_IN_ENDS_AT", NEVER))
    Path("logs").mkdir()
    write_log(Path("logs/00000001.BIN"), record("MSG", 1_000_000, LOG_MESSAGE))
    endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    endpoint.bind(("127.0.0.1", 0))
    count, time_s = 0, 0.0
    while True:
        if count >= ends_at:
            sys.exit("the stand-in ends, as it was told")
        if count >= silent_at:
            time.sleep(60.0)
        outputs = ServoOutputs(round(1.0 / step_s), count, (pwm_us,) * N_CHANNELS)
        endpoint.sendto(pack_servo_packet(outputs), ("127.0.0.1", json_port(instance)))
        state = json.loads(endpoint.recv(65535))
        if abs(state["timestamp"] - time_s - step_s) > 1e-6:
            sys.exit(f"after {time_s} s came {state['timestamp']} s, steps are {step_s} s")
        count, time_s = count + 1, state["timestamp"]
