# SPDX-License-Identifier: Apache-2.0
"""Every command's exit status, as README and --help state it: errors of what it is given are never 1."""

import json
import os
import random
import re
import resource
import struct
import subprocess

import pytest

from command_line import ROOT, built

CASE = "^sass/ffma/f32$"
EMPTY_KERNEL = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n"


def call(*arguments, folder=None, **options) -> subprocess.CompletedProcess:
    return subprocess.run([built("assay"), *map(str, arguments)], cwd=folder, text=True, capture_output=True,
                          timeout=30, **options)


def test_readme_and_help_hold_the_same_table():
    said = call("--help").stdout.split("Exit status:\n")[1]
    table = re.findall(r"^ +(\d+) +(.*)$", said, re.MULTILINE)
    assert [code for code, _ in table] == ["0", "1", "2", "3", "4", "5", "70", "130"]
    assert "".join(f"| {code} | {words} |\n" for code, words in table) in (ROOT / "README.md").read_text()


def test_what_nobody_foresaw_is_a_defect():
    done = subprocess.run([built("assay_test_probes"), "sass", "--check", "^bad/kernels$"], text=True, capture_output=True)
    assert done.returncode == 70
    assert done.stderr == "assay: a defect of assay, please report it with your input: something was thrown that is no std::exception\n"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files that are not what they are taken for, by name."""
    folder = tmp_path_factory.mktemp("inputs")
    files = {
        "empty": b"", "text": b"one\ntwo\n", "noise": random.Random(5).randbytes(5000), "zeros": bytes(100_000),
        "elf": b"\x7fELF\x02\x01\x01" + bytes(2000), "torn.json": b'{"schema": "assay.run/1", "meas',
        "deep.json": b"[" * 50_000, "deep_objects.json": b'{"a":' * 50_000, "twice.json": b'{"schema": 1, "schema": 2}',
        "huge_number.json": b'{"schema": "assay.run/1", "environment": {"gpu": {"name": 1e999}}}',
        "other_schema.json": b'{"schema": "assay.gate/1"}', "list.json": b"[]",
        "no_measurements.json": b'{"schema": "assay.run/1", "environment": {}}',
        "wrong_type.json": json.dumps({"schema": "assay.run/1", "environment": {}, "measurements": [
            {"name": "a", "kind": "probe", "metrics": {"x": {"unit": "us", "value": "fast"}}}]}).encode(),
        "surrogate.json": b'{"schema": "\\ud800"}', "not_utf8.json": b'{"schema": "\xff\xfe"}',
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to("loop")
    (folder / "folder").mkdir()
    return folder


def nvcc() -> str:
    linked = ROOT / ".toolchain/cuda/bin/nvcc"
    return str(linked) if linked.exists() else "nvcc"


def text_of(elf: bytes, section: bytes) -> int:
    """Where a section's bytes begin in a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + size * i) for i in range(count)]
    strings = headers[names][4]
    return next(h[4] for h in headers if elf[strings + h[0]:].split(b"\0", 1)[0] == section)


def one_line(done: subprocess.CompletedProcess, code: int):
    assert done.returncode == code, f"{done.args}: {done.returncode}\n{done.stdout[:500]}{done.stderr[:500]}"
    lines = done.stderr.strip().split("\n")
    assert len(lines) == 1 and lines[0].startswith("assay: ") and len(lines[0]) < 700, done.stderr[:2000]
    assert "filesystem error" not in lines[0], "the library's words, not ours"


NAMES = ["empty", "text", "noise", "zeros", "elf", "torn.json", "deep.json", "deep_objects.json", "twice.json",
         "huge_number.json", "other_schema.json", "list.json", "no_measurements.json", "wrong_type.json",
         "surrogate.json", "not_utf8.json", "pipe", "loop", "folder", "absent", "a" * 5000]


@pytest.mark.parametrize("option", ["--table", "--measured"])
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_tables_that_are_none(inputs, tmp_path, name, option):
    cache = tmp_path / "cache"
    done = call("sass", CASE, "--target", "sm_90a", option, inputs / name, env=os.environ | {"ASSAY_CACHE_DIR": str(cache)})
    one_line(done, 2)
    assert name[:20] in done.stderr
    assert not cache.exists(), "nothing is disassembled before"


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_device_code_that_is_none(inputs, name):
    one_line(call("sass", inputs / name), 2)


@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_runs_that_are_none(inputs, name):
    one_line(call("run", "--resume", inputs / name), 2)


@pytest.mark.parametrize("name", ["pipe", "loop", "folder", "absent", "/dev/null", "/dev/zero"])
def test_ptx_that_is_none(inputs, name):
    one_line(call("isa", "--ptx", inputs / name, "--targets", "sm_90a"), 2)


@pytest.mark.parametrize("suffix", [".ptx", ".cu"])
@pytest.mark.parametrize("name", ["pipe", "loop", "folder", "absent", "noise", "zeros", "/dev/zero"])
def test_kernels_that_are_none(inputs, tmp_path, name, suffix):
    file = tmp_path / f"kernel{suffix}"
    if name == "absent":
        file = tmp_path / "nosuch"
    else:
        file.symlink_to(inputs / name)
    done = call("model", file.with_suffix(suffix))
    if suffix == ".cu" and name == "noise":  # text of which nvcc says what it thinks, in lines of its own
        assert done.returncode == 2 and f"{file.name}: nvcc refuses it:\n" in done.stderr
    else:
        one_line(done, 2)
        assert str(file.stem) in done.stderr


@pytest.mark.parametrize("arguments", [["--shared", "4294967295"], ["--block", "1025"], ["--grid", "0"], ["--cluster", "0"],
                                       ["--arg", "f32[4294967297x4294967295]"], ["--arg", "f32[0]"], ["--arg", "f32[]"],
                                       ["--arg", "f32[16777217]"], ["--arg", "u8[67108864]=none", "--arg", "u8[1]=none"],
                                       ["--arg", "a\nb"], ["--arg", "a" * 50_000], ["--arg", "e2m1:1"], ["--arg", "b128:1"],
                                       ["--arg", "f16x2:1"], ["--arg", "pred:1"], ["--arg", "map(0"], ["--arg", "map()"],
                                       ["--arg", "f32[64]", "--arg", "map(0, box=4294967297)"],
                                       ["--arg", "f32[64]", "--arg", "map(0, box=64, swizzle=6)"]],
                         ids=" ".join)
def test_launches_that_cannot_be(tmp_path, arguments):
    (tmp_path / "k.ptx").write_text(EMPTY_KERNEL)
    one_line(call("model", tmp_path / "k.ptx", *arguments), 2)


@pytest.mark.parametrize(("parameters", "arguments", "surplus"), [
    ("", ["u32:1"], "argument 0, counted from 0, 'u32:1'"), (".param .u32 a", ["u32:1", "f32[4]"], "argument 1, counted from 0, 'f32[4]'"),
    (".param .u32 a", ["u64:1"], "argument 0, counted from 0, 'u64:1'")])
def test_arguments_that_the_kernel_does_not_take(tmp_path, parameters, arguments, surplus):
    (tmp_path / "k.ptx").write_text(EMPTY_KERNEL.replace("k()", f"k({parameters})"))
    done = call("model", tmp_path / "k.ptx", *(word for text in arguments for word in ("--arg", text)))
    one_line(done, 2)
    assert f"{surplus}, is more than the kernel takes" in done.stderr


def test_a_rule_that_is_none(tmp_path):
    (tmp_path / "k.ptx").write_text(EMPTY_KERNEL)
    done = call("model", tmp_path / "k.ptx", "--allow", "race.sharde")
    one_line(done, 2)
    assert "--allow race.sharde: there is no such rule; the nearest are race.shared, " in done.stderr
    assert call("model", tmp_path / "k.ptx", "--allow", "race.shared", "--allow", "tcgen05.form").returncode == 0


@pytest.mark.parametrize("value", ["s32:99999999999999999999", "s32:2147483648", "u32:-1", "u32:4294967296", "u8:0x100",
                                   "s8:-129", "u64:18446744073709551616", "s32:1x", "u64: -1"])
def test_numbers_that_their_type_cannot_hold(tmp_path, value):
    (tmp_path / "k.ptx").write_text(EMPTY_KERNEL)
    done = call("model", tmp_path / "k.ptx", "--arg", value)
    one_line(done, 2)
    assert f"argument '{value}': '{value.split(':')[1]}' is " in done.stderr


@pytest.mark.parametrize("arguments", [
    ["info", "--nonsense"], ["info", "extra"], ["list", "--suite", "none"], ["list", "("], ["list", "a" * 50_000],
    ["list", "(" * 50_000], ["list", "a{1000}{1000}"], ["list", "nosuchcase"], ["run", "nosuchcase"],
    ["run", "--interval", "nan"], ["run", "--time-cap", "inf"], ["run", "--deadline", "-1"], ["run", "--seed", "x"],
    ["run", "--device", "x"], ["run", "--repetitions", "1e9"], ["run", "--or-new"], ["sass"], ["sass", "nosuchcase"],
    ["sass", CASE, "--target", "sm_1"], ["sass", CASE, "--warps", "0"], ["sass", CASE, "--out", "x"],
    ["isa", "nosuchform"], ["isa", "--targets", "sm_1"], ["isa", "a" * 50_000], ["ruin"], ["--nonsense"], [],
    ["model"], ["model", ""], ["model", "nosuchcase"], ["model", "x.ptx", "--block", "1,2,3,4"], ["model", "x.ptx", "--seeds", "0"],
    ["run", CASE, "--seed", "-1"], ["run", CASE, "--seed", "99999999999999999999"], ["run", CASE, "--seed", "1.5"],
    ["run", "--resume", ""], ["run", "--profile", ""], ["run", CASE, "--out", ""], ["run", CASE, "--suite="],
    ["list", "--suite", ""], ["sass", CASE, "--table", ""], ["sass", CASE, "--measured", ""], ["sass", CASE, "--svg", ""],
    ["sass", "--check", CASE, "--out", ""], ["sass", "--check", CASE, "--table", "x"], ["sass", "--check", CASE, "--json"],
    ["isa", "--targets", ""], ["model", "x.ptx", "--trace", ""],
    ["run", CASE, "--seed", "nan"], ["model", "x.ptx", "--seed", "-1"], ["ab", "--base", "", "--candidate", " "],
], ids=lambda arguments: " ".join(arguments)[:40] or "nothing")
def test_wrong_usage(tmp_path, arguments):
    done = call(*arguments, folder=tmp_path)
    assert done.returncode == 2, done.stderr[:2000]
    assert done.stderr and len(done.stderr) < 2000
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [["info"], ["list"], ["run"], ["run", "--seed"], ["run", "--resume"], ["sass"],
                                     ["sass", "--table"], ["isa"], ["isa", "--targets"], ["model"], ["report"], ["gate"], []],
                         ids=lambda command: " ".join(command) or "command")
def test_nothing_moves_the_cursor(tmp_path, command):
    """A name that colours the terminal, goes back a line and rings, in whatever message it is repeated."""
    done = call(*command, "x\x1b[31m\x1b]0;t\x07\x9b\r.cubin", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr and not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)


@pytest.mark.parametrize("more", [[], ["--json"], ["--check"]], ids=lambda more: " ".join(more) or "shown")
def test_machine_code_that_is_not_as_expected(more):
    """However it is asked for: here of a kernel that the build holds no code of."""
    done = call("sass", "^memory/hbm/copy", "--target", "sm_110a", *more)
    if "no sm_110a code" not in done.stdout + done.stderr:
        pytest.skip("this build is for sm_110a, too")
    assert done.returncode == 1


PRINTING = [["info"], ["info", "--json"], ["list"], ["list", "--json"], ["list", "--markdown"], ["--help"],
            ["run", "--help"], ["--version"], ["sass", CASE, "--target", "sm_90a"],
            ["sass", CASE, "--target", "sm_90a", "--json"], ["isa", "--ptx", "mov.b32 %r0, %r1;", "--targets", "sm_90a"]]


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_output_that_cannot_be_written(arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([built("assay"), *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    one_line(done, 5)


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["--help"], ["run", "--help"]], ids=" ".join)
def test_output_that_a_limit_cuts_off(tmp_path, arguments):
    with open(tmp_path / "file", "w") as file:
        done = subprocess.run([built("assay"), *arguments], stdout=file, stderr=subprocess.PIPE, text=True, timeout=30,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)))
    one_line(done, 5)


@pytest.mark.parametrize("arguments", PRINTING[:-1:3], ids=" ".join)
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_closed_descriptors(arguments, closed):
    redirections = " ".join(f"{descriptor}>&-" for descriptor in closed)
    done = subprocess.run(["bash", "-c", f'"$0" "$@" {redirections}', built("assay"), *arguments], text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == (5 if 1 in closed else 0), done.stderr


@pytest.mark.parametrize("arguments, status", [
    (("list", "("), 2), (("list", "--nonsense"), 2), (("sass", "/nowhere.cubin"), 2), (("isa", "--ptx", ""), 2)],
    ids=lambda arguments: str(arguments))
def test_words_that_cannot_be_written_change_no_status(arguments, status):
    with open("/dev/full", "w") as full:
        done = subprocess.run([built("assay"), *arguments], stdout=subprocess.PIPE, stderr=full, timeout=30)
    assert done.returncode == status


def test_a_run_is_whole_whose_progress_cannot_be_written(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([built("assay"), "run", "^host/cache_latency/16384$", "--out", tmp_path / "run",
                               "--time-cap", "0.01"], stdout=subprocess.PIPE, stderr=full, timeout=60)
    assert done.returncode == 0
    assert json.loads((tmp_path / "run/run.json").read_text())["measurements"][0]["status"] == "ok"


def test_a_run_with_closed_descriptors_is_whole(tmp_path):
    """A journal must not take the place of standard output."""
    done = subprocess.run(["bash", "-c", '"$0" run good --out out >&- 2>&- <&-', built("assay_test_probes")],
                          cwd=tmp_path, timeout=60, capture_output=True)
    assert done.returncode == 5
    lines = (tmp_path / "out/journal.jsonl").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 4
    assert len(json.loads((tmp_path / "out/run.json").read_text())["measurements"]) == 3


@pytest.mark.parametrize("words, said", [
    (["fot"], "there is no command 'fot'; the nearest are "), (["fot", "--help"], "there is no command 'fot'; the nearest are "),
    (["--bogus"], "there is no option --bogus before a command; ")], ids=lambda words: str(words))
def test_a_first_word_that_is_no_command_is_named(words, said):
    done = call(*words)
    one_line(done, 2)
    assert done.stderr.startswith("assay: " + said)


KERNEL = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a)
{
.reg .b32 %r<3>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r1;
ret;
}
"""


@pytest.mark.parametrize(("good", "bad", "line"), [("%tid.x", "%tidx", 9), ("%r1, 4", "%r22, 4", 10), (", %rd2;", ";", 11),
                                                   ("mul.wide.u32", "mul.wide.lo.u32", 10)])
def test_what_the_assembler_rejects_is_no_kernel(tmp_path, good, bad, line):
    (tmp_path / "k.ptx").write_text(KERNEL)
    assert call("model", "k.ptx", "--arg", "s32[128]=none", folder=tmp_path).returncode == 0
    (tmp_path / "k.ptx").write_text(KERNEL.replace(good, bad))
    done = call("model", "k.ptx", "--arg", "s32[128]=none", folder=tmp_path)
    one_line(done, 2)
    assert done.stderr.startswith(f"assay: k.ptx: PTX line {line}: ")


@pytest.mark.parametrize(("change", "said"), [
    ({"value": 1e300}, "is 1e+300, above its own limit of "), ({"unit": "bananas"}, "is in 'bananas', not in op/clk/SM"),
    ({"value": -1}, "is -1, not above 0"), ({"value": 0}, "is 0, not above 0")], ids=str)
def test_costs_that_cannot_be_are_refused(tmp_path, change, said):
    run = json.loads((ROOT / "results/h200/2026-11-22-complete/run.json").read_text())
    row = next(m for m in run["measurements"] if m["name"] == "sass/dfma/f64" and m["status"] == "ok")
    rate = row["metrics"]["ops_per_clock_per_sm"]
    rate |= change
    rate["ci95"] = [rate["value"], rate["value"]]
    (tmp_path / "run.json").write_text(json.dumps(run | {"measurements": [row]}))
    done = call("sass", CASE, "--target", "sm_90a", "--brief", "--table", "run.json", folder=tmp_path)
    one_line(done, 2)
    assert done.stderr.startswith(f"assay: run.json: sass/dfma/f64: ops_per_clock_per_sm {said}")


def test_a_check_that_cannot_be_written_says_so_at_once():
    one_line(call("sass", "--check", "--out", "/proc/none"), 5)


def test_a_kernel_that_cannot_be_disassembled_is_told_by_the_status(tmp_path):
    """The others are shown."""
    source = 'extern "C" __global__ void first(float* x) { x[0] = 1; }\nextern "C" __global__ void other(float* x) { x[1] = 2; }\n'
    (tmp_path / "k.cu").write_text(source)
    subprocess.run([nvcc(), "-cubin", "-arch=sm_90a", "-o", "k.cubin", "k.cu"], cwd=tmp_path, check=True)
    assert call("sass", "k.cubin", "--brief", folder=tmp_path).returncode == 0
    code = (tmp_path / "k.cubin").read_bytes()
    at = text_of(code, b".text.first")
    (tmp_path / "k.cubin").write_bytes(code[:at] + b"\xff" * 16 + code[at + 16:])
    done = call("sass", "k.cubin", "--brief", folder=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "cannot disassemble first" in done.stderr and "other" in done.stdout
