# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess

import pytest

from aerotwin_core.child_python import python_command
from aerotwin_core.kernel_cache import SourceStamp

CALLED = """
from typing import NamedTuple
import numpy as np
from aerotwin_core.kernel_cache import njit

FACTOR = 2.0
TABLE = (1.0, 10.0)
PRECISE = {"error_model": "python"}
RECORD = np.dtype([("near", "f8"), ("far", "f8")])

class Pair(NamedTuple):
    first: float
    second: float

@njit(cache=True)
def scaled(x):
    return x * FACTOR
"""
CALLER = """
import layout as at
import numpy as np
from aerotwin_core.kernel_cache import njit
from layout import PRECISE, TABLE, Pair, scaled

@njit(cache=True)
def first(pair: Pair):
    return pair.first

@njit(cache=True)
def outer(x):
    return inner(x) + TABLE[1]

@njit(cache=True, **PRECISE)
def inner(x):
    return scaled(x) + at.FACTOR

@njit("float64(float64[::1])", cache=True)
def near(memory):
    return memory.view(at.RECORD)[0].near

@njit("float64(float64)", cache=True)
def alone(x):
    return x

def main():
    values = outer(1.0), first(Pair(3.0, 4.0)), alone(5.0), near(np.array([6.0, 7.0]))
    print(*values, sum(sum(f.stats.cache_hits.values()) for f in (outer, first, alone, near)))
"""
AS_WRITTEN = "14.0 3.0 5.0 6.0"
N_KERNELS = 4


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "layout.py").write_text(CALLED)
    (tmp_path / "caller.py").write_text(CALLER)
    assert run(tmp_path) == (AS_WRITTEN, 0)
    return tmp_path


def run(folder, program="import caller; caller.main()", **environment):
    """Return what the kernels compute in a new process, and how many were loaded, not compiled."""
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        python_command("-c", program),
        env={**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": "", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    values, _, n_loaded = done.stdout.strip().rpartition(" ")
    return values, int(n_loaded)


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_what_did_not_change_is_loaded(folder):
    assert run(folder) == (AS_WRITTEN, N_KERNELS)


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("FACTOR = 2.0", "FACTOR = 3.0", "16.0 3.0 5.0 6.0"),
        ("(1.0, 10.0)", "(1.0, 20.0)", "24.0 3.0 5.0 6.0"),
        ("return x * FACTOR", "return x + FACTOR", "15.0 3.0 5.0 6.0"),
        ("first: float\n    second: float", "second: float\n    first: float", "14.0 4.0 5.0 6.0"),
        ('("near", "f8"), ("far", "f8")', '("far", "f8"), ("near", "f8")', "14.0 3.0 5.0 7.0"),
    ],
    ids=["constant", "table", "kernel", "named tuple", "dtype"],
)
def test_a_change_in_another_module_is_compiled(folder, old, new, values):
    change(folder / "layout.py", old, new)
    assert run(folder)[0] == values
    assert run(folder) == (values, N_KERNELS)


def test_an_option_from_another_module_is_compiled(folder):
    change(folder / "layout.py", '"python"', '"numpy"')
    assert run(folder) == (AS_WRITTEN, N_KERNELS - 1)


def test_a_comment_compiles_nothing(folder):
    change(folder / "layout.py", "FACTOR = 2.0", "# of nothing\nFACTOR = 2.0")
    assert run(folder) == (AS_WRITTEN, N_KERNELS)


def test_a_spawned_child_and_another_hash_seed_load_the_same_code(folder):
    program = (
        "import caller, multiprocessing as m\n"
        "p = m.get_context('spawn').Process(target=caller.main); p.start(); p.join()"
    )
    assert run(folder, program, PYTHONHASHSEED="7") == (AS_WRITTEN, N_KERNELS)


def test_a_folder_of_the_users_own_is_used(folder):
    own = str(folder / "own")
    assert run(folder, NUMBA_CACHE_DIR=own) == (AS_WRITTEN, 0)
    assert list((folder / "own").rglob("*.nbc"))
    assert run(folder, NUMBA_CACHE_DIR=own) == (AS_WRITTEN, N_KERNELS)


def test_packages_that_cannot_be_written_save_in_the_cache_of_the_user(folder):
    no_place = folder / "file"
    no_place.touch()
    for path in (folder / "__pycache__").iterdir():
        path.unlink()
    (folder / "__pycache__").rmdir()
    (folder / "__pycache__").touch()  # root may write everywhere, but not below a file
    home = {"XDG_CACHE_HOME": str(folder / "home")}
    assert run(folder, **home) == (AS_WRITTEN, 0)
    assert run(folder, **home) == (AS_WRITTEN, N_KERNELS)
    nowhere = {"XDG_CACHE_HOME": str(no_place), "HOME": str(no_place)}
    assert run(folder, **nowhere) == (AS_WRITTEN, 0)


def test_kernels_of_others_keep_numbas_own_places(folder):
    program = (
        "import caller\nfrom numba import njit\nfrom numba.core import config\n"
        "print(repr(config.CACHE_LOCATOR_CLASSES), 0)"
    )
    assert run(folder, program) == ("''", 0)


def test_functions_that_call_each_other_have_a_stamp():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return last if n == 0 else even(n - 1)

    last = False
    before = SourceStamp(even).digest
    assert before == SourceStamp(even).digest
    last = True
    assert before != SourceStamp(even).digest
