# SPDX-License-Identifier: Apache-2.0
"""What the README shows of commands that need no GPU is what the build prints now, and so is the picture beside it.

To renew: run the command in the repository's root, and take over what is shown of it; "..." stands for what is left out.
"""

import os
import re
import shlex
import subprocess

import pytest

from command_line import ROOT, built

PICTURE = "docs/gemm_timeline.svg"


def examples():
    """(command, what is shown under it) of each block of README that begins with a prompt."""
    blocks = re.findall(r"(?:^    .*\n|\n)+", (ROOT / "README.md").read_text(), re.MULTILINE)
    for block in blocks:
        for part in re.split(r"^    \$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.replace("\\\n", " ").partition("\n")
            yield " ".join(command.split()), shown


EXAMPLES = dict(examples())


def pattern(shown):
    """The words one after another, wherever lines break; "..." is whatever the page leaves out, nothing among it."""
    found = r"\s*"
    for word in shown.split():
        found += r"[\s\S]*?" if word == "..." else re.escape(word) + r"(?:\s+|$)"
    return found


def test_a_page_that_leaves_out_in_silence_is_seen():
    printed = "a  b\n  c d\ne\n"
    assert all(re.fullmatch(pattern(shown), printed) for shown in ("a b c d e", "... c\nd ...", "a\n...\ne", "a ... d e"))
    assert not any(re.fullmatch(pattern(shown), printed) for shown in ("a b c e", "b ...", "... d", "a ... f", "a b c d 0"))


@pytest.fixture
def folder(tmp_path):
    """A folder like the repository's root, for what commands read and for what they write."""
    for path in ROOT.iterdir():
        if path.name not in ("build", "out"):
            (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_readme_shows_what_is_printed(command, folder):
    program, *arguments = shlex.split(command)
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([built(program), *arguments], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if "was it built for that target" in done.stdout:
        pytest.skip("the build holds no code for the target of this example")
    assert re.fullmatch(pattern(EXAMPLES[command]), done.stdout), \
        f"README shows\n{EXAMPLES[command]}\nof `{command}`; it prints\n{done.stdout}{done.stderr}"
    if "--svg" in arguments:
        made = folder / arguments[arguments.index("--svg") + 1]
        assert made.read_text() == (ROOT / PICTURE).read_text(), f"run the command of README with --svg {PICTURE}"


def test_the_readme_has_examples():
    assert {command.split()[1] for command in EXAMPLES} == {"sass", "model"}
