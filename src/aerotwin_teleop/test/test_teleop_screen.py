# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What the terminal shows."""

import io

from aerotwin_teleop.motion import SteeredMotion
from aerotwin_teleop.status import MOST_ROWS, VehicleStatus, status_lines
from aerotwin_teleop.terminal import StatusScreen


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_status_has_a_row_for_each_vehicle_and_marks_those_commanded():
    flying = VehicleStatus("uav0", "flying set-points", "OFFBOARD", True, 12.34, 1.26, 0.873)
    lines = status_lines(
        [flying, VehicleStatus("uav1")], {"uav0"}, SteeredMotion(forward=1.0), "hold: ok"
    )
    assert (
        " ".join(lines[1].split()) == "> uav0 OFFBOARD armed 12.3 m 1.3 m/s 87 % flying set-points"
    )
    assert " ".join(lines[2].split()) == "uav1 - m - m/s - %"
    assert lines[3].startswith("+1.00 forward") and lines[4] == "hold: ok"
    many = [VehicleStatus(f"uav{k}") for k in range(100)]
    lines = status_lines(many, {"uav0"}, SteeredMotion(), "")
    assert len(lines) == MOST_ROWS + 4 and "and 92 more; 1 of 100" in lines[-3]
    assert "no vehicle is heard" in status_lines([], set(), SteeredMotion(), "")[0]


def test_what_a_vehicle_says_cannot_move_the_cursor():
    lines = status_lines([VehicleStatus("a\x1b[2J", "\x07", "\n")], set(), SteeredMotion(), "")
    assert all(line.isprintable() for line in lines)


def test_a_notice_cannot_move_the_cursor():
    for stream in (Terminal(), io.StringIO()):
        StatusScreen(stream).show(["hold: \x1b[2Jdone\nno"], "hold: \x1b[2Jdone\nno")
        assert stream.getvalue() == "hold: \\x1b[2Jdone\\nno\n"


def test_a_terminal_is_redrawn_in_place_and_a_file_gets_a_line_for_a_change():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        screen = StatusScreen(stream)
        screen.show(["one", "two"], "plain")
        screen.show(["one", "two"], "plain")
        screen.show(["one", "x" * 500], "plain")
        screen.show(["three"], "other")
    assert file.getvalue() == "plain\nother\n"
    first, second, third = terminal.getvalue().split("\x1b[2A\r\x1b[J")
    assert first == "one\ntwo\n" and third == "three\n"
    assert second.startswith("one\nxxx") and len(second.splitlines()[1]) < 500, "never wrapped"
