# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of the processes: labels, log files, and a progress bar on a terminal."""

import os
import pty

from aerotwin_launch.screen import ERASE_LINE, LineReader, Screen

TALKS = "echo out; echo err >&2; printf 'no end'"


class Recording(Screen):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal
        self.written = []

    def _write(self, data, descriptor):
        self.written.append((ERASE_LINE + data + self._live_line()) if self.is_terminal else data)


def feed(screen, data, draws=False, size=3):
    """Feed a stream in small pieces, as pipes deliver it."""
    reader = LineReader(screen, None, "x-1", 1, draws=draws)
    for start in range(0, len(data), size):
        reader.feed_bytes(data[start : start + size])
    reader.finish()


def test_lines_are_whole_whatever_pieces_they_come_in():
    data = b"first\nsecond\r\n\nlast"
    for size in range(1, len(data)):
        screen = Recording(is_terminal=False)
        feed(screen, data, size=size)
        expected = [b"[x-1] first\n", b"[x-1] second\n", b"[x-1] \n", b"[x-1] last\n"]
        assert screen.written == expected


def test_what_a_carriage_return_overwrote_is_not_saved():
    screen = Recording(is_terminal=False)
    feed(screen, b"\r 10 %\r 50 %\r100 %\ndone\n", size=4)
    assert screen.written == [b"[x-1] 100 %\n", b"[x-1] done\n"]


def test_a_progress_bar_stays_below_the_lines_of_others():
    screen = Recording(is_terminal=True)
    feed_bar = LineReader(screen, None, "bar-1", 1, draws=True)
    feed_bar.feed_bytes(b"\r 10 %")
    screen.line("other-2", b"hello")
    feed_bar.feed_bytes(b"\r 20 %")
    feed_bar.feed_bytes(b"\n")
    assert screen.written == [
        ERASE_LINE + b"[bar-1]  10 %",
        ERASE_LINE + b"[other-2] hello\n[bar-1]  10 %",
        ERASE_LINE + b"[bar-1]  20 %",
        ERASE_LINE + b"[bar-1]  20 %\n",
    ]


def test_the_screen_shows_what_output_asks_for_and_the_log_has_all(start_launch):
    launch = start_launch(
        (TALKS, {"output": "screen", "name": "shown"}), (TALKS, {"name": "quiet"})
    )
    code, out, err = launch.end()
    assert code == 0
    assert "[shown-1] out\n" in out
    assert "[shown-1] no end\n" in out
    assert "[quiet-2]" not in out.replace("[INFO] [quiet-2]", "")
    assert {"[shown-1] err", "[quiet-2] err"} <= set(err.splitlines())
    for name in ("shown-1", "quiet-2"):
        (log,) = launch.folder.glob(f"log/*/{name}.log")
        assert sorted(log.read_text().splitlines()) == ["err", "no end", "out"]


def test_a_process_gets_a_terminal_only_where_the_runner_has_one(start_launch):
    script = "test -t 1 && touch has_terminal; printf '\\r 10 %%'; sleep 0.2; printf '\\r100 %%\\n'"
    keys = {"output": "screen", "emulate_tty": "true", "name": "bar"}
    launch = start_launch((script, keys))
    assert launch.end()[0] == 0
    assert not (launch.folder / "has_terminal").exists()

    master, slave = pty.openpty()
    launch = start_launch((script, keys), stdout=slave, stderr=slave)
    os.close(slave)
    shown = read_all(master)
    assert launch.process.wait() == 0
    assert (launch.folder / "has_terminal").exists()
    assert ERASE_LINE + b"[bar-1]  10 %" in shown
    assert ERASE_LINE + b"[bar-1] 100 %" in shown


def read_all(descriptor):
    shown = b""
    try:
        while data := os.read(descriptor, 4096):
            shown += data
    except OSError:  # how a terminal tells that its other end was closed
        pass
    finally:
        os.close(descriptor)
    return shown


def test_a_line_keeps_its_colours_and_nothing_else_that_controls_a_terminal():
    screen = Recording(is_terminal=False)
    line = "\x1b[33mWARN\x1b[0m\t/odom\x1b]0;title\x07\x1b[2J \x9b31m café"
    screen.line("x-1", line.encode())
    expected = "[x-1] \x1b[33mWARN\x1b[0m\t/odom" + r"\x1b]0;title\x07\x1b[2J \x9b31m" + " café\n"
    assert screen.written == [expected.encode()]
    screen.message("INFO", "launch", "\x1b[2Jhello")
    assert screen.written[1] == rb"[INFO] [launch]: \x1b[2Jhello" + b"\n"
