# SPDX-License-Identifier: Apache-2.0
"""Which room includes which, and how many files a room holds. No other place states it in full."""

import collections
import pathlib

import sources

CXX = ("*.cpp", "*.hpp", "*.cu", "*.cuh", "*.h")

# Lowest first: a room includes itself and what is on the lines before its own. Rooms on one line do
# not include each other. What is below a room's folder belongs to it, unless it is a room itself.
HARNESS = (
    ("harness/ptx",),  # device code
    ("harness",),  # what a probe's author includes
    ("harness/ptx/descriptor",),  # host-side encoders of what device code is given
    ("harness/numerics",),
    ("harness/model",),
    ("harness/machine",),
    ("harness/code",),
    ("harness/model_case",),  # kernels of the suite, for the host model
    ("harness/measure",),
    ("harness/instruction",),
    ("harness/run",),
    ("harness/isa", "harness/sass"),
    ("harness/commands",),
)
HEIGHT = {room: height for height, line in enumerate(HARNESS) for room in line}
# What probes and kernels do not include: those rooms are for commands.
BEHIND = ("harness/run", "harness/isa", "harness/sass", "harness/commands")

# A family of probes includes no other, but for these, each a way down to what it is compared with.
FAMILIES = {
    "probes/special_function": ("probes/tensor_core",),  # both at once: the MMAs measured there
    "probes/tma": ("probes/memory",),  # the same rings and the limit of the same DRAM
    "probes/link": ("probes/memory",),  # the same chase through another GPU's memory
    "probes/host": ("probes/memory",),  # the same ring, in the CPU's caches
}

# The same order for kernels: what all use, baselines, the frame of their cases, operations, and the
# C API over them.
KERNELS = ("kernels", "kernels/baselines", "kernels/frame", "an operation", "kernels/c_api")

# An operation includes no other, but for these, each a form of the product it includes.
OPERATIONS = {
    "kernels/gemm_block_scaled": ("kernels/gemm",),  # the same order of tiles and check
    "kernels/skinny": ("kernels/gemm",),  # which does some of its products faster
    "kernels/grouped": ("kernels/gemm", "kernels/gemm_block_scaled"),  # their products, by groups
}

MOST_FILES = 20  # of a folder's own: what is seen at one glance


def room_of(path: pathlib.Path) -> str:
    names = path.relative_to(sources.ROOT).parent.parts
    if names[0] == "harness":
        inner = "/".join(names[:3])
        return inner if inner in HEIGHT else "/".join(names[:2]).removesuffix("/tests")
    return "/".join(names[:2]).removesuffix("/tests")


def kernel_height(room: str) -> int:
    return KERNELS.index(room if room in KERNELS else "an operation")


def may_include(file: pathlib.Path, room: str, other: str) -> bool:
    if room == other or room.startswith("examples"):
        return True
    if room.startswith("harness"):
        return other.startswith("harness") and HEIGHT[other] < HEIGHT[room]
    if other.startswith("harness"):
        return other not in BEHIND
    if room.startswith("probes"):
        return other in FAMILIES.get(room, ())
    # Tests of an operation call it as other programs do, too.
    return other.startswith("kernels") and (
        kernel_height(other) < kernel_height(room)
        or other in OPERATIONS.get(room, ())
        or (other == "kernels/c_api" and "tests" in file.parts)
    )


def test_includes_go_one_way():
    against = []
    for file in sources.files(*CXX):
        for name in sources.includes(file):
            there = sources.ROOT / name
            if there.is_file() and not may_include(file, room_of(file), room_of(there)):
                against.append(f"{file.relative_to(sources.ROOT)} includes {name}")
    assert not against, "\n".join(against)


def test_every_listed_arrow_is_there():
    found = {
        (room_of(file), room_of(sources.ROOT / name))
        for file in [*sources.files("probes/*"), *sources.files("kernels/*")]
        if file.suffix in (".cpp", ".hpp", ".cu", ".cuh")
        for name in sources.includes(file)
        if (sources.ROOT / name).is_file()
    }
    arrows = FAMILIES | OPERATIONS
    listed = {(room, other) for room, others in arrows.items() for other in others}
    assert listed <= found


def test_the_order_that_people_read_is_this_one():
    """CONTRIBUTING.md names all rooms of the harness in this order, those of one line side by side."""
    text = " ".join((sources.ROOT / "CONTRIBUTING.md").read_text().split())
    sentence = text.split("In `harness/`, from low to high: ")[1].split(". ")[0]
    rooms = [" and ".join("the top level" if room == "harness" else f"`{room.removeprefix('harness/')}/`"
                          for room in line) for line in HARNESS]
    rooms = [f"{room} side by side" if " and " in room else room for room in rooms]
    assert sentence == f"{', '.join(rooms[:-1])}, and {rooms[-1]}"


def test_folders_are_seen_at_one_glance():
    counts = collections.Counter(file.parent for file in sources.files("harness/*"))
    crowded = {
        str(folder.relative_to(sources.ROOT)): count
        for folder, count in counts.items()
        if count > MOST_FILES and "tests" not in folder.parts
    }
    assert not crowded


def test_python_tests_are_told_apart_by_name():
    """pytest puts each folder of tests on the path: of two modules of one name, the second is never read."""
    names = collections.Counter(file.name for file in sources.files("*.py") if "tests" in file.parts)
    names.pop("conftest.py")  # pytest loads these by their folders
    assert not [name for name, count in names.items() if count > 1]
