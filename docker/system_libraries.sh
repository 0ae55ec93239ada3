#!/bin/sh
# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
#
# Checks what the Python wheels need from the system and cannot bring along. As root on Debian or
# Ubuntu the missing packages are installed; otherwise the line that installs them is printed.
#
#   docker/system_libraries.sh [PYTHON]        exit code 0: all there
set -eu

PYTHON=${1:-python3}

if ! version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); then
    echo "aerotwin needs Python 3.11 or 3.12; there is no working '$PYTHON' here" >&2
    echo "install one and name it: make PYTHON=python3.12" >&2
    exit 1
fi
case $version in
    3.11 | 3.12) ;;
    *)
        echo "aerotwin needs Python 3.11 or 3.12; '$PYTHON' is $version" >&2
        echo "name another one: make PYTHON=python3.12" >&2
        exit 1
        ;;
esac

# Prints the Debian package of each thing that is not there.
missing() {
    "$PYTHON" - <<'PROGRAM'
import ctypes, importlib.util, os, shutil, sys, sysconfig

version = "%d.%d" % sys.version_info[:2]
libraries = {
    "libEGL.so.1": "libegl1",        # Open3D
    "libGL.so.1": "libgl1",          # Open3D
    "libX11.so.6": "libx11-6",       # Open3D
    "libusb-1.0.so.0": "libusb-1.0-0",  # Open3D
    "libgomp.so.1": "libgomp1",      # Open3D and numba's threads
}
for library, package in libraries.items():
    try:
        ctypes.CDLL(library)
    except OSError:
        print(package)
if shutil.which("g++") is None or shutil.which("gcc") is None:
    print("g++")                     # tf2_msgs
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    print("python%s-dev" % version)  # tf2_msgs
if importlib.util.find_spec("ensurepip") is None:
    print("python%s-venv" % version)
PROGRAM
}

packages=$(missing | tr '\n' ' ')
[ -n "$packages" ] || exit 0
packages=${packages% }

if ! command -v apt-get >/dev/null 2>&1; then
    echo "aerotwin needs what Debian calls: $packages" >&2
    echo "install these with the package manager of this system, then run make again" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "aerotwin needs system packages that are not installed; this line installs them:" >&2
    echo "    sudo apt-get install $packages" >&2
    exit 1
fi

echo "installing system packages: $packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install_packages() {
    # shellcheck disable=SC2086 # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}
if ! { install_packages || { apt-get update && install_packages; }; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    echo "could not install them; the line is: apt-get install $packages" >&2
    exit 1
fi
packages=$(missing | tr '\n' ' ')
if [ -n "$packages" ]; then
    echo "still missing after the installation: $packages" >&2
    exit 1
fi
