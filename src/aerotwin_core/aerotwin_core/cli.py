# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The command `aerotwin`: dispatches to the verbs that the packages register.

A verb is an entry point of the group `aerotwin.commands`; nested verbs have dotted names
(`evaluate.map`). Its value is a module with a docstring (its help), `configure(parser)` and
`run(args) -> int`. The path of the option `-o` is written by one process at a time.
"""

import argparse
import ast
import errno
import importlib
import io
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stderr, redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from aerotwin_core.atomic_file import atomic_file
from aerotwin_core.errors import UserError
from aerotwin_core.extras import missing_command, missing_module
from aerotwin_core.foreign_text import printable
from aerotwin_core.output_lock import locked_output
from aerotwin_core.stop_request import (
    EXIT_INTERRUPTED,
    EXIT_TERMINATED,
    Terminated,
    deliver_lost_interrupts,
    end_at_next_interrupt,
    interrupt_of,
    raising_on_sigterm,
)
from aerotwin_core.working_folder import (
    check_environment,
    check_working_folder,
    set_thread_defaults,
)

if TYPE_CHECKING:
    from tqdm import tqdm

GROUP = "aerotwin.commands"
EXIT_USAGE = 2
_MOST_LETTERS = 2000
"""Of an error: more than any message that is meant to be read."""
_LAYOUT = "\n\r\t"
_NEGATIVE = re.compile(r"-(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|inf|nan)$", re.IGNORECASE)
"""What argparse takes for a value and not for an option; its own pattern knows no -1e-3."""


def main(
    arguments: Sequence[str] | None = None,
    *,
    program: str = "aerotwin",
    verbs: Iterable[EntryPoint] | None = None,
) -> int:
    """Run one verb and return the exit code.

    The output of a verb may contain text of files, servers and topics: all of it is escaped here.
    `arguments` and `verbs` default to the command line of the process and the installed verbs;
    `program` is the name in help and errors.
    """
    is_process = arguments is None
    if is_process:
        deliver_lost_interrupts()
    out, errors = PrintableStream(sys.stdout), PrintableStream(sys.stderr)
    with (
        redirect_stdout(cast(TextIO, out)),
        redirect_stderr(cast(TextIO, errors)),
        raising_on_sigterm(),
    ):
        known = entry_points(group=GROUP) if verbs is None else verbs
        code = _main(sys.argv[1:] if arguments is None else arguments, program, known)
    if is_process and code in (EXIT_INTERRUPTED, EXIT_TERMINATED):
        end_at_next_interrupt()  # waits for running threads
    return code


def _main(arguments: Sequence[str], program: str, known: Iterable[EntryPoint]) -> int:
    verbs = {tuple(entry.name.split(".")): entry for entry in known}
    tokens = list(arguments)
    if tokens == ["--version"]:
        from aerotwin_core.version import version_line  # other verbs start without it

        print(version_line())
        return 0
    path = _longest_verb(tokens, verbs)
    if path is None:
        return _explain(program, tokens, verbs)
    name = f"{program} {' '.join(path)}"
    try:
        check_working_folder()
        check_environment()
        set_thread_defaults()
        return _run(verbs[path], name, tokens[len(path) :])
    except UserError as error:
        print(f"{name}: {_line(error)}", file=sys.stderr)
        return EXIT_USAGE
    except (KeyboardInterrupt, SystemError) as error:
        interrupt = interrupt_of(error)
        if interrupt is None:
            raise
        is_sigterm = isinstance(interrupt, Terminated)
        token = "terminated" if is_sigterm else "interrupted"
        print(f"{name}: {token}", file=sys.stderr)
        return EXIT_TERMINATED if is_sigterm else EXIT_INTERRUPTED
    except ModuleNotFoundError as error:
        text = missing_module(error)
        if text is None:
            raise
        print(f"{name}: {text}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a folder that cannot be written, a file that cannot be read
        print(f"{name}: {_plain_text(error)}", file=sys.stderr)
        return EXIT_USAGE


def _plain_text(error: OSError) -> str:
    text = error.strerror or str(error)
    if error.errno == errno.ENOSPC:
        text += "; free space or name another place"
    return printable(text if error.filename is None else f"{error.filename}: {text}", _MOST_LETTERS)


def _run(entry: EntryPoint, name: str, tokens: list[str]) -> int:
    module = importlib.import_module(entry.value)
    parser = parser_of(module, name)
    args = parser.parse_args(tokens)
    with _held_output(parser, args):
        return int(module.run(args))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors truncate long arguments."""

    def error(self, message: str) -> NoReturn:
        super().error(printable(message, _MOST_LETTERS))


def parser_of(module: Any, name: str) -> argparse.ArgumentParser:
    """Return the parser of a verb's module; name is the command in its help and errors."""
    first, _, rest = (module.__doc__ or "").partition("\n")
    parser = _Parser(
        prog=name,
        description=first,
        epilog=rest.strip("\n"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser._negative_number_matcher = _NEGATIVE
    module.configure(parser)
    return parser


def _held_output(
    parser: argparse.ArgumentParser, args: argparse.Namespace
) -> AbstractContextManager[None]:
    """Return the lock on the path of `-o`, for as long as the verb runs."""
    names = (action.dest for action in parser._actions if "-o" in action.option_strings)
    output = next((getattr(args, name, None) for name in names), None)
    return nullcontext() if output is None or str(output) == "-" else locked_output(output)


def _longest_verb(
    tokens: list[str], verbs: dict[tuple[str, ...], EntryPoint]
) -> tuple[str, ...] | None:
    for length in range(min(3, len(tokens)), 0, -1):
        if tuple(tokens[:length]) in verbs:
            return tuple(tokens[:length])
    return None


def _explain(program: str, tokens: list[str], verbs: dict[tuple[str, ...], EntryPoint]) -> int:
    """Print the list of verbs (all, or those below a known first word)."""
    prefix = tuple(token for token in tokens if not token.startswith("-"))[:1]
    known = {path: entry for path, entry in verbs.items() if path[:1] == prefix} or verbs
    asked = not tokens or tokens[-1] in ("-h", "--help")
    out = sys.stdout if asked else sys.stderr
    missing = missing_command([token for token in tokens if not token.startswith("-")])
    if missing is not None:
        print(f"{program} {missing}", file=sys.stderr)
        return EXIT_USAGE
    if not asked:
        print(f"{program}: '{' '.join(tokens)}' is not a command; known are:", file=out)
    else:
        print("aerotwin: a digital-twin test bench for flying robots\n", file=out)
        print(f"usage: {program} COMMAND [ARGUMENTS]   ({program} COMMAND --help explains one)")
        print(f"       {program} --version\n")
    for path, entry in sorted(known.items()):
        print(f"  {' '.join(path):22} {_first_line(entry)}", file=out)
    return 0 if asked else EXIT_USAGE


def _first_line(entry: EntryPoint) -> str:
    """Return what a verb does; its module is read and not imported, which would take long."""
    package, *rest = entry.value.split(".")
    try:
        spec = find_spec(package)  # of the top level only: the packages below would be imported
        for folder in (spec and spec.submodule_search_locations) or ():
            path = Path(folder, *rest).with_suffix(".py")
            if path.is_file():
                return _summary(ast.get_docstring(ast.parse(path.read_bytes())))
        return _summary(importlib.import_module(entry.value).__doc__)  # of an archive
    except (ImportError, OSError, SyntaxError) as error:
        return f"(cannot be loaded: {error})"


def _summary(docstring: str | None) -> str:
    return (docstring or "").partition("\n")[0]


def say(text: str) -> None:
    """Print one line for the user at once."""
    print(text, flush=True)


def say_fatal(error: Exception) -> None:
    """Print why the process ends, as one line on standard error."""
    print(f"fatal: {_line(error)}", file=sys.stderr, flush=True)


def _line(error: Exception) -> str:
    return printable(str(error), _MOST_LETTERS)


class PrintableStream:
    """A text stream that escapes control characters, except those that lay out text."""

    def __init__(self, stream: TextIO | None) -> None:
        # Python has None for one that was closed before it started (`>&-`).
        self._stream = io.StringIO() if stream is None else stream

    def write(self, text: str) -> int:
        """Write text; return its number of characters."""
        shown = printable(text, keep=_LAYOUT)
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        # A terminal that is not in UTF-8 gets escapes for what it cannot show.
        self._stream.write(shown.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def write_json(path: str | None, payload: Any) -> None:
    """Write the machine-readable result: None = nowhere, "-" = standard output, else a file."""
    if path is None:
        return
    import json

    text = json.dumps(payload, indent=2, sort_keys=True, allow_nan=False, default=_plain) + "\n"
    if path == "-":
        sys.stdout.write(text)
    else:
        write_text_atomically(Path(path), text)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file under a temporary name and rename it, so that it is whole or absent."""
    with atomic_file(path) as file:
        file.write(text.encode())


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def progress(total: float, text: str, *, unit: str = "") -> "tqdm":
    """Return a progress bar on a terminal, and a silent one elsewhere; call `update(n)`."""
    from tqdm import tqdm

    return tqdm(total=total, desc=text, unit=unit, disable=not sys.stderr.isatty(), leave=False)


class StageBars:
    """One progress bar after another, for the stages of a task; called with a stage and a share."""

    def __init__(self) -> None:
        self._stage, self._bar = "", progress(0.0, "")

    def __enter__(self) -> "StageBars":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def __call__(self, stage: str, share: float) -> None:
        """Show which share of a stage is done."""
        if stage != self._stage:
            self._bar.close()
            self._stage, self._bar = stage, progress(100.0, stage, unit="%")
        self._bar.update(max(100.0 * share - self._bar.n, 0.0))


if __name__ == "__main__":
    sys.exit(main())
