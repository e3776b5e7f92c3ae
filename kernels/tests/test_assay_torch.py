# SPDX-License-Identifier: Apache-2.0
"""The torch runner, as far as it goes without a GPU and without torch."""

import math
import random
import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "kernels" / "torch")]

from assay.files import Run, load, save  # noqa: E402
from assay_torch import __main__ as command  # noqa: E402
from assay_torch import groups  # noqa: E402
from assay_torch.groups import GroupedShape  # noqa: E402
from assay_torch.library import ACTIVATION, VARIABLE, KernelError, Kernels, expected_shapes, find_library  # noqa: E402
from assay_torch.problem import (  # noqa: E402
    EPILOGUES,
    K_STEP,
    MOST_INPUTS,
    MOST_OUTPUTS,
    MOST_TOKENS,
    WEIGHTS,
    Problem,
    Shape,
    SkinnyProblem,
)
from assay_torch.summary import BEST, geometric_mean, summarize  # noqa: E402
from assay_torch.turns import (  # noqa: E402
    LEAST_REST_NANOSECONDS,
    MOST_IN_A_ROW,
    MOST_REST_NANOSECONDS,
    RESTS,
    ROW_NANOSECONDS,
    Contender,
    calls_in_a_row,
    load_of,
    rest_nanoseconds,
    take_turns,
    to_measurement,
)



def simulated_turns(rounds: int = 40, seed: int = 1, calls: int = 1):
    """Two contenders on a clock that drifts: the baseline takes 5% longer at every moment."""
    log = []
    costs = {"ours": 1.0, "theirs": 1.05}
    drift = random.Random(seed)

    def time_round(turns):
        speed = drift.uniform(0.8, 1.2)
        times = []
        for turn in turns:
            turn.lead()
            before = len(log)
            turn.launch()
            times.append(1e6 * speed * sum(costs[name] for name, _ in log[before:]))
        return times

    contenders = [Contender(name, lambda chosen, name=name: log.append((name, chosen))) for name in costs]
    return take_turns(contenders, 3, rounds, seed, time_round, calls), log


def test_everybody_has_a_turn_a_round_led_in_by_a_call_of_its_own():
    times, log = simulated_turns()
    assert all(len(samples) == 40 for samples in times.values())
    turns = [log[turn:turn + 2] for turn in range(0, 160, 2)]  # the lead, and what is timed
    assert all(lead == timed for (lead, _), (timed, _) in turns)
    assert [chosen for _, chosen in log] == [call % 3 for call in range(160)]
    assert all({turns[2 * number][0][0], turns[2 * number + 1][0][0]} == {"ours", "theirs"} for number in range(40))


def test_whoever_comes_first_is_so_as_often_as_anybody():
    _, log = simulated_turns()
    firsts = [log[4 * number][0] for number in range(40)]
    assert all(first != second for first, second in zip(firsts[::2], firsts[1::2], strict=True))
    assert len(set(firsts[::2])) == 2


def test_calls_in_a_row_have_the_next_set_each_and_count_once():
    times, log = simulated_turns(rounds=10, calls=4)
    assert [chosen for _, chosen in log] == [call % 3 for call in range(100)]
    assert all(len({name for name, _ in log[turn:turn + 5]}) == 1 for turn in range(0, 100, 5))
    assert all(0.8e6 <= sample <= 1.2e6 for sample in times["ours"])


def test_a_row_and_a_rest_are_as_long_as_those_of_the_harness():
    source = (ROOT / "harness" / "measure" / "busy_timer.hpp").read_text()
    found = re.search(r"kRowNs = (\S+), kMost = (\d+)", source)
    assert (float(found[1]), int(found[2])) == (ROW_NANOSECONDS, MOST_IN_A_ROW)
    assert [calls_in_a_row(ns) for ns in (1e3, 5e4, 1e7)] == [100, 4, 1]
    found = re.search(r"kRests = (\S+), kLeastNs = (\S+), kMostNs = ([^;]+);", source)
    assert tuple(map(float, found.groups())) == (RESTS, LEAST_REST_NANOSECONDS, MOST_REST_NANOSECONDS)
    assert [rest_nanoseconds(ns) for ns in (1e3, 4e6, 1e9)] == [1e7, 2e7, 1e8]


def test_a_lasting_load_is_of_all_contenders_in_turn():
    log = []
    contenders = [Contender(name, lambda chosen, name=name: log.append((name, chosen))) for name in ("ours", "theirs")]
    load_of(contenders, 3, 4, 1e5)()  # a row is 0.4 ms
    assert len(log) == 4 * 12 and [chosen for _, chosen in log] == [call % 3 for call in range(48)]
    assert [name for name, _ in log[::4]] == ["ours", "theirs"] * 6
    log.clear()
    load_of(contenders, 3, 1, 1e9)()
    assert log == [("ours", 0)]


def test_the_order_follows_the_seed():
    assert simulated_turns(seed=5)[1] == simulated_turns(seed=5)[1]
    assert simulated_turns(seed=5)[1] != simulated_turns(seed=6)[1]


def test_pairing_cancels_drift_and_the_run_file_is_valid(tmp_path):
    times, _ = simulated_turns()
    found = to_measurement("kernels/gemm/bf16/m8n8k8/nt", {"m": 8}, 1e9, times, "ours", {"seed": 1})
    (baseline,) = found.baselines
    assert baseline.name == "theirs"
    assert baseline.speedup.value == pytest.approx(1.05)
    assert baseline.speedup.ci95 == pytest.approx((1.05, 1.05))
    low, high = found.metrics["tflops"].ci95
    assert low < found.metrics["tflops"].value < high

    environment = {"gpu": None, "driver": None, "cuda": None, "host": None, "assay": {"version": "0"}}
    save(Run(environment, [found]), tmp_path / "run.json")
    (read,) = load(tmp_path).measurements
    assert read.baselines[0].speedup.value == pytest.approx(1.05)
    assert read.samples["time_ns/theirs"] == pytest.approx(times["theirs"], rel=1e-5)  # written with six digits


def test_the_library_is_found_or_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "absent.so"))
    with pytest.raises(KernelError, match="no such file"):
        find_library()
    library = tmp_path / "some.so"
    library.write_bytes(b"not a library")
    monkeypatch.setenv(VARIABLE, str(library))
    assert find_library() == library
    with pytest.raises(KernelError, match=r"some\.so"):
        Kernels()


def measured(name: str):
    """A case of the suite, measured without a GPU."""
    times, _ = simulated_turns()
    return to_measurement(name, {"m": 8}, 1e9, times, "ours", {"seed": 1})


def run_without_torch(monkeypatch, measure, *arguments: str) -> int:
    """The command with modules in torch's place: every case is `measure`d."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(is_available=lambda: True, empty_cache=lambda: None)
    modules = {"torch": torch, **{f"assay_torch.{name}": types.SimpleNamespace(measure=measure)
                                  for name in ("gemm", "grouped", "skinny")}}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    environment = {"gpu": None, "driver": None, "cuda": None, "host": None, "assay": {"version": "0"}}
    monkeypatch.setattr(command, "_environment", lambda commit: environment)
    kernels = types.SimpleNamespace(commit="0", layers=lambda chosen: [(4096, 1536)])
    monkeypatch.setattr(command, "Kernels", lambda library: kernels)
    return command.main(list(arguments))


def test_the_environment_is_of_plain_words(monkeypatch, tmp_path):
    """torch.__version__ is of a class of its own, and what checks a run file knows plain strings alone."""
    class Version(str):
        pass

    torch = types.ModuleType("torch")
    torch.__version__ = Version("2.11.0")
    torch.version = types.SimpleNamespace(cuda=Version("13.0"))
    gpu = types.SimpleNamespace(name="GPU", major=9, minor=0, multi_processor_count=132)
    torch.cuda = types.SimpleNamespace(get_device_properties=lambda index: gpu)
    monkeypatch.setitem(sys.modules, "torch", torch)
    save(Run(command._environment("0"), [measured("kernels/gemm/bf16/m8n8k8/nt")]), tmp_path / "run.json")
    assert load(tmp_path).environment["torch"] == "2.11.0"


def test_a_case_that_is_refused_costs_no_other(monkeypatch, tmp_path, capsys):
    def measure(kernels, what, *_):
        if what.shape.m == 16:
            raise KernelError("m16n8k8: refused")
        return measured(what.name)

    status = run_without_torch(monkeypatch, measure, "m8n8k8", "m16n8k8", "m24n8k8", "--out", str(tmp_path))
    assert status == 1 and "m16n8k8: refused" in capsys.readouterr().err
    run = load(tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", run.extra["run"]["started"])
    read = run.measurements
    assert [(m.status, m.params) for m in read if m.ok] == [("ok", {"m": 8})] * 2
    (refused,) = [m for m in read if not m.ok]
    assert (refused.name, refused.status, refused.reason) == ("kernels/gemm/bf16/m16n8k8/nt", "failed", "m16n8k8: refused")


def test_every_kind_of_case_that_fails_is_recorded_by_its_name(monkeypatch, tmp_path):
    def measure(*_):
        raise KernelError("no\nway")

    assert run_without_torch(monkeypatch, measure, "g8m64n8k8", "--both", "--out", str(tmp_path / "a")) == 1
    assert run_without_torch(monkeypatch, measure, "--weights", "s4", "m1n8k128", "--out", str(tmp_path / "b")) == 1
    read = [*load(tmp_path / "a").measurements, *load(tmp_path / "b").measurements]
    name = "kernels/grouped/bf16/g8m64n8k8/contiguous_uneven"
    assert [m.name for m in read] == [name, f"{name}/sustained", "kernels/gemv/s4/m1n8k128"]
    assert {(m.status, m.reason) for m in read} == {("failed", "no way")}
    assert [m.probe for m in read] == ["kernels/grouped"] * 2 + ["kernels/gemv"]


@pytest.mark.parametrize("name", ["run.json", "journal.jsonl"])
def test_a_folder_that_holds_a_run_is_left_as_it_is(monkeypatch, tmp_path, capsys, name):
    (tmp_path / name).write_text("before")
    status = run_without_torch(monkeypatch, lambda *_: pytest.fail("measured"), "m8n8k8", "--out", str(tmp_path))
    assert status == 2 and "holds a run already" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "before")]


def test_a_run_that_measured_nothing_yet_leaves_its_folder_free(monkeypatch, tmp_path):
    def measure(*_):
        raise KeyboardInterrupt

    assert run_without_torch(monkeypatch, measure, "m8n8k8", "--out", str(tmp_path)) == 130
    assert run_without_torch(monkeypatch, lambda kernels, what, *_: measured(what.name), "m8n8k8", "--out", str(tmp_path)) == 0


def test_a_run_that_is_interrupted_keeps_what_it_measured(monkeypatch, tmp_path):
    def measure(kernels, what, *_):
        if what.shape.m == 16:
            raise KeyboardInterrupt
        return measured(what.name)

    status = run_without_torch(monkeypatch, measure, "m8n8k8", "m16n8k8", "--out", str(tmp_path))
    assert status == 130
    assert len(load(tmp_path).measurements) == 1 and (tmp_path / "summary.json").exists()


def test_a_folder_that_cannot_be_written_is_known_before_anything_is_measured(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    status = run_without_torch(monkeypatch, lambda *_: pytest.fail("measured"), "m8n8k8", "--out", str(tmp_path / "file"))
    assert status == 5


@pytest.mark.parametrize("arguments", [["--rounds", "5"], ["--no-such-option"]])
def test_usage_errors_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err


def test_problems_are_named_as_the_suites_cases():
    shape = Shape.parse("m64n128k256")
    assert Problem.of(shape, "bf16").name == "kernels/gemm/bf16/m64n128k256/nt"
    assert Problem.of(shape, "f16", type_d="f32", layout="tn").name == "kernels/gemm/f16/m64n128k256/tn/f32"
    assert Problem.of(shape, "e4m3").name == "kernels/gemm/e4m3/m64n128k256/nt"
    mixed = Problem.of(shape, "e4m3", "e5m2", epilogue="bias_gelu", scaling="row")
    assert mixed.name == "kernels/gemm/e4m3_e5m2/m64n128k256/nt/row_bias_gelu"
    assert (mixed.activation, mixed.bias, mixed.alpha, mixed.beta) == ("gelu", True, 1.0, 0.0)
    by_tanh = Problem.of(shape, "bf16", epilogue="bias_gelu_tanh")
    assert (by_tanh.name, by_tanh.activation) == ("kernels/gemm/bf16/m64n128k256/nt/bias_gelu_tanh", "gelu_tanh")
    assert Problem.of(shape, "e4m3").bytes == 64 * 256 + 128 * 256 + 2 * 64 * 128
    blocks = Problem.of(shape, "e4m3", scaling="block")
    assert (blocks.name, blocks.probe) == (
        "kernels/gemm_block_scaled/e4m3_block128/m64n128k256/nt", "kernels/gemm_block_scaled")
    assert Problem.of(shape, "bf16").probe == "kernels/gemm"


def test_activations_are_numbered_as_in_c():
    header = (ROOT / "kernels/c_api/assay_kernels.h").read_text()
    numbered = re.search(r"enum \{ (ASSAY_IDENTITY[^}]*) \}", header)[1].split(", ")
    of_c = {name.removeprefix("ASSAY_").lower(): int(number) for name, number in (one.split(" = ") for one in numbered)}
    assert of_c == ACTIVATION
    assert {Problem.of(Shape(8, 8, 8), "bf16", epilogue=epilogue).activation for epilogue in EPILOGUES} == set(ACTIVATION)


def test_scales_of_blocks_lie_in_rows_of_whole_fours():
    shapes = expected_shapes(Problem.of(Shape(62, 136, 272), "e4m3", scaling="block"))
    assert (shapes["scale_a"], shapes["scale_b"]) == ((3, 64), (2, 4))


@pytest.mark.parametrize(("arguments", "reason"), [
    ({"type": "bf16", "type_b": "e4m3"}, "no product of bf16 and e4m3"),
    ({"type": "bf16", "type_b": "f16"}, "no product of bf16 and f16"),
    ({"type": "e4m3", "layout": "nn"}, "layout nt only, not nn"),
    ({"type": "f16", "scaling": "row"}, "scales belong to 8-bit operands"),
    ({"type": "bf16", "scaling": "block"}, "scales belong to 8-bit operands"),
    ({"type": "e5m2", "scaling": "block"}, "scales of blocks belong to e4m3 operands"),
    ({"type": "e4m3", "scaling": "block", "epilogue": "bias"}, "nothing after the sum"),
])
def test_what_no_kernel_does_is_refused(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        Problem.of(Shape(8, 8, 8), **arguments)


def test_packed_weights_are_multiplied_by_few_tokens(monkeypatch, tmp_path, capsys):
    def measure(kernels, what, *_):
        assert isinstance(what, SkinnyProblem)
        times, _ = simulated_turns()
        return to_measurement(what.name, {"m": what.shape.m}, what.flop, times, "ours", {}, "kernels/gemv", moved=1e9)

    arguments = ["--weights", "s4", "m2n8k128", "--set", "full", "--out", str(tmp_path)]
    assert run_without_torch(monkeypatch, measure, *arguments) == 0
    assert [m.name for m in load(tmp_path).measurements] == [
        "kernels/gemv/s4/m2n8k128", *(f"kernels/gemv/s4/m{m}n4096k1536" for m in (1, 16, 64))]
    assert {m.primary for m in load(tmp_path).measurements} == {"bandwidth_gb_per_s"}
    assert "GB/s [" in capsys.readouterr().out


@pytest.mark.parametrize(("arguments", "reason"), [
    (["m65n8k128"], "at most 64 tokens"),
    (["m1n8k64"], "k must be a multiple of 128"),
    (["m1n8k4194432"], "k at most 4194304"),
    (["m1n1073741832k128"], "n must be at most 1073741824"),
    (["m1n8k128", "--type", "f16"], "--type belongs to other products"),
    (["m1n8k128", "--type-d", "f32"], "--type-d belongs to other products"),
    (["m1n8k128", "--compile"], "--compile belongs to other products"),
])
def test_what_packed_weights_have_not_is_refused(monkeypatch, capsys, arguments, reason):
    with pytest.raises(SystemExit) as ended:
        run_without_torch(monkeypatch, lambda *_: pytest.fail("measured"), "--weights", "s4", *arguments)
    assert ended.value.code == 2 and reason in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--type=e4m3", "--type-d=f32", "--layout=tn", "--epilogue=bias", "--compile", "--scaling=row"])
def test_what_groups_have_not_is_refused(monkeypatch, capsys, option):
    """Also beside a product that has it: the group would be measured without a word of it."""
    for shapes in (["g8m64n8k8"], ["--type=e4m3", "m16n16k16", "g8m64n8k8"]):
        with pytest.raises(SystemExit) as ended:
            run_without_torch(monkeypatch, lambda *_: pytest.fail("measured"), option, *shapes)
        assert ended.value.code == 2
    run_without_torch(monkeypatch, lambda kernels, what, *_: measured(what.name), "g8m64n8k8", "--type", "bf16")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        run_without_torch(monkeypatch, lambda *_: pytest.fail("measured"), "--type", "f16", "g8m64n8k8")
    assert "--type belongs to other products than those of groups" in capsys.readouterr().err


def test_packings_are_those_of_the_library():
    source = (ROOT / "kernels" / "skinny" / "skinny.cpp").read_text()
    assert all(f'"{kind}"' in source for kind in WEIGHTS)
    assert K_STEP.keys() == WEIGHTS.keys()
    documented = (ROOT / "kernels" / "c_api" / "assay_kernels.h").read_text()
    assert dict(re.findall(r'^ \*   "(\w+)".*k a multiple of (\d+)', documented, re.M)) == {
        kind: str(step) for kind, step in K_STEP.items()}
    assert f"for m from 1 to {MOST_TOKENS}:" in documented
    assert (2**30, 2**22) == (MOST_OUTPUTS, MOST_INPUTS) and "n is at most 2^30 and k at most 2^22" in documented
    limits = (ROOT / "kernels" / "skinny" / "skinny.hpp").read_text()
    assert "kMostInputs = 1 << 22, kMostOutputs = 1 << 30" in limits


def test_a_summary_has_the_geometric_mean_and_names_the_worst_case():
    def found(name, ours, theirs, others):
        times = {"ours": [ours] * 8, "theirs": [theirs] * 8, "others": [others] * 8}
        return to_measurement(name, {"state": "burst"}, 1e9, times, "ours", {})

    entries = {e["baseline"]: e for e in summarize([found("fast", 1.0, 4.0, 2.0), found("slow", 2.0, 1.0, 4.0)])}
    assert entries["theirs"]["geometric_mean"] == pytest.approx(math.sqrt(4.0 * 0.5))
    assert entries["theirs"]["worst"]["case"] == "slow"
    assert entries["theirs"]["below_0.95"] == ["slow"]
    assert entries["others"]["geometric_mean"] == pytest.approx(2.0)
    # Of each case the fastest rival: 2 and 0.5.
    assert entries[BEST]["geometric_mean"] == pytest.approx(1.0)
    assert entries[BEST]["cases"] == 2
    with pytest.raises(ValueError, match="no ratios"):
        geometric_mean([])
    assert summarize([]) == []


@pytest.mark.skipif(not list(ROOT.glob("build*/libassay_kernels.so")), reason="the library is not built")
def test_the_librarys_shapes_grow_from_set_to_set():
    kernels = Kernels()
    quick, full, survey = (kernels.shapes(chosen) for chosen in ("quick", "full", "survey"))
    assert Shape(4096, 4096, 4096) in quick
    assert len(quick) < len(full) < len(survey)
    assert set(quick) < set(full) < set(survey)


@pytest.mark.skipif(not list(ROOT.glob("build*/libassay_kernels.so")), reason="the library is not built")
def test_the_librarys_layers_grow_from_set_to_set():
    quick, full = (Kernels().layers(chosen) for chosen in ("quick", "full"))
    assert quick == [(8192, 8192)] and len(full) > 15 and set(quick) < set(full)


def test_groups_have_all_rows_and_one_of_eight_none():
    shape = GroupedShape.parse("g8m32768n4096k7168")
    assert str(shape) == "g8m32768n4096k7168"
    ends = shape.ends()
    assert ends == [9467, 13995, 18829, 20043, 23121, 25805, 32768, 32768]  # as kernels/grouped/shapes.cpp draws them
    with pytest.raises(ValueError, match="no shape of groups"):
        GroupedShape.parse("g8m4")


def test_the_last_group_ends_at_the_last_row_in_every_python(monkeypatch):
    """sum() of Python 3.12 rounds once, where a sum of before rounds at each step."""
    monkeypatch.setattr(groups, "sum", math.fsum, raising=False)
    assert all(GroupedShape(8, m, 128, 128).ends()[-1] == m for m in (1024, 8192, 32768))
