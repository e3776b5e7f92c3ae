# SPDX-License-Identifier: Apache-2.0
"""Pipes from pairs, the table of instructions, matrix math, numerics: what is derived, and that nothing is made up."""

import json
import math
import re

import committed
import machine_runs
import pytest
from report_runs import Maker, offline

from assay.files import Run, RunFileError, isa_file
from assay.report.book import instructions, mma, model
from assay.report.family.numerics import fragments, sums
from assay.report.family.sass import pipes
from assay.report.family.sass.pipes import interference
from assay.report.family.special_function import balance, overlap, polynomial
from assay.report.family.tensor_core import power, rates, sweeps
from assay.report.page.answers import answers


def book(run, *more):
    return model.build([run, *more])


@pytest.fixture(scope="module")
def machine():
    return book(machine_runs.machine())


def said(found, number):
    """The answer to one question as lines of text."""
    answer = next(a for _, part in answers(found) for a in part if a.question.number == number)
    return [f"{f.label}: {', '.join(t for t, _ in parts)}" for f in answer.findings for _, parts in f.lines]


# --- pipes -----------------------------------------------------------------------------------------------------------


def test_interference_runs_from_apart_to_queued():
    assert interference(2, 2, 2) == 0 and interference(2, 2, 4) == 1 and interference(2, 2, 3) == 0.5
    assert interference(8, 1, 8) == 0 and interference(8, 1, 9) == 1
    assert interference(8, 8, 17) > 1  # stalls beyond queueing are kept


def test_two_that_issue_limits_say_nothing():
    assert math.isnan(interference(1, 1, 2)) and math.isnan(interference(1.1, 1.4, 2.1))


def test_pairs_show_the_pipes(machine):
    found = pipes.pipe_map(machine, machine.columns[0])
    clusters = {p.label: {found.names[i] for i in p.members} for p in found.pipes}
    assert clusters == {
        "fma": {"fadd/f32", "imad/s32", "hfma2/f16x2"},
        "alu": {"iadd3/s32", "lop3/b32"},
        "xu": {"popc/b32", "ex2/f32"},
    }
    assert (found.agreement, found.compared, found.disagreements, found.across) == (1.0, 7, [], [])


def test_an_instruction_of_two_pipes_agrees_with_either():
    make = Maker(1)
    machine_runs.pipes(make)
    found = book(make.run)
    hfma2 = next(m for _, m in found.measurements if "hfma2" in m.name)
    assert [name for name, _ in instructions.pipes(hfma2)] == ["fma", "tensor"]
    assert [round(share, 2) for _, share in instructions.pipes(hfma2)] == [0.5, 0.5]


@pytest.mark.parametrize(("joint", "label", "agreement"), [(3.9e6, "shared", 1.0), (None, "fp64", 0.75)])
def test_fp64_and_tensor_cores_are_one_pipe_where_the_counters_say_so(joint, label, agreement):
    make = Maker(1)
    alone = {"dadd": ("fp64", 2.0), "dmul": ("fp64", 2.0), "dfma": ("fp64", 2.0), "hmma": ("tensor", 4.0)}
    for i, (name, (pipe, cycles)) in enumerate(alone.items()):
        m = make.add(f"sass/pipes/{name}", cycles_per_instruction=cycles, params={"opcode": name.upper()})
        partners = list(alone)[i + 1 :]
        together = [cycles + alone[p][1] for p in partners]
        m.series = [machine_runs.series("pair_cycles", together, "cycle", partner=partners)]
        machine_runs.counters(m, **{pipe: 1.0})
        m.counters |= {"sm__cycles_active.avg": 1e6, "sm__pipe_shared_cycles_active.avg": joint}
    found = book(make.run)
    result = pipes.pipe_map(found, found.columns[0])
    assert [p.label for p in result.pipes] == [label]
    assert result.agreement == agreement


def counted_run(started, joint, tensor="tensor"):
    """Four instructions in pairs, whose counters have the joint pipe or not."""
    make = Maker(1)
    make.run.extra["run"] = {"started": started}
    alone = {"dadd": ("fp64", 2.0), "dmul": ("fp64", 2.0), "dfma": ("fp64", 2.0), "hmma": (tensor, 4.0)}
    for i, (name, (pipe, cycles)) in enumerate(alone.items()):
        m = make.add(f"sass/pipes/{name}", cycles_per_instruction=cycles, params={"opcode": name.upper()})
        partners = list(alone)[i + 1 :]
        m.series = [
            machine_runs.series("pair_cycles", [cycles + alone[p][1] for p in partners], "cycle", partner=partners)
        ]
        machine_runs.counters(m, **{pipe: 1.0})
        m.counters |= {"sm__cycles_active.avg": 1e6} | ({"sm__pipe_shared_cycles_active.avg": joint} if joint else {})
    return make.run


SETTLED, STALE = ("2026-11-21T08:00:00Z", 3.9e6), ("2026-11-21T07:00:00Z", None)


@pytest.mark.parametrize(
    "runs",
    [[STALE, SETTLED], [SETTLED, STALE], [("2026-11-22T07:00:00Z", None), SETTLED]],
    ids=["older", "behind", "newer"],
)
def test_counters_that_do_not_settle_a_pipe_say_nothing_beside_those_that_do(runs):
    found = book(*(counted_run(*run) for run in runs))
    for column in found.columns:
        result = pipes.pipe_map(found, column)
        assert [p.label for p in result.pipes] == ["shared"] and not result.disagreements
        assert [c.run.extra["run"]["started"] for c in result.sources] == [SETTLED[0]]


def test_counters_are_of_the_newest_run_and_never_of_two_kinds_of_gpu():
    newest, other = counted_run("2026-11-23T08:00:00Z", 3.9e6, "fp64"), counted_run("2026-11-24T08:00:00Z", 3.9e6)
    other.environment["gpu"]["name"] = "NVIDIA H100"
    found = book(counted_run(*SETTLED), newest, other)
    pipes_of = [dict(pipes.pipe_map(found, c).counted[3]) for c in found.columns]
    assert [list(p)[0] for p in pipes_of] == ["fp64", "fp64", "tensor"]


def test_of_runs_of_which_only_some_instructions_are_settled_the_others_have_no_counters():
    part = counted_run(*SETTLED)
    part.measurements = part.measurements[:3]
    found = book(counted_run(*STALE), part)
    result = pipes.pipe_map(found, found.columns[0])
    assert [bool(c) for c in result.counted] == [True, True, True, False] and result.compared == 3


@pytest.mark.parametrize(("best", "judged"), [(63.0, True), (70.0, False)])
def test_an_instruction_that_was_not_saturated_alone_is_judged_in_no_pair(best, judged):
    make = Maker(1)
    machine_runs.pipes(make)
    hfma2 = make.run.measurements[2]
    hfma2.params["instruction"] = "sass/hfma2/f16x2"
    hfma2.metrics["ops_per_clock_per_sm"] = make.metric("ops_per_clock_per_sm", 60.0, width=0)
    hfma2.sass["loop"] = {"HFMA2": 47, "HFMA2.MMA": 49, "BRA": 1, "ISETP.NE.U32.AND": 1, "UIADD3": 1}
    for name, opcode, rate in (("f16x2_uniform", "HFMA2", best), ("f16x2_relu", "HFMA2.RELU", 128.0)):
        m = make.add(f"sass/hfma2/{name}", ops_per_clock_per_sm=rate, latency_cycles=4)
        m.metrics["ops_per_clock_per_sm"].value = rate
        m.sass["loop"] = {opcode: 96, "HFMA2.MMA": 96, "BRA": 1}
    found = book(make.run)
    result = pipes.pipe_map(found, found.columns[0])
    assert hfma2.name == "sass/pipes/hfma2/f16x2"
    place = result.names.index("hfma2/f16x2")
    assert (place in [i for p in result.pipes for i in p.members]) is judged
    assert bool(pipes.np.isnan(result.index[place]).all()) is not judged
    assert (place in result.short) is not judged and result.compared == (7 if judged else 6)
    picture = pipes.picture(found, found.columns[0])
    words = "not saturated, not judged: HFMA2: 60.0 alone, 70.0 in sass/hfma2/f16x2_uniform"
    assert (words in picture.svg) is not judged


def test_an_instruction_that_queues_with_two_pipes_goes_where_it_does_so_most():
    # 0 and 1 are one pipe, 2 and 3 another; 4 queues with 0 and 1, and half so with 2 and 3.
    shared = pipes.np.array(
        [[0, 1, 0, 0, 1], [1, 0, 0, 0, 1], [0, 0, 0, 1, 0.6], [0, 0, 1, 0, 0.6], [1, 1, 0.6, 0.6, 0]], float
    )
    labels = pipes.np.array([1, 1, 2, 2, 2])
    pipes._settle(shared, labels)
    assert list(labels) == [1, 1, 2, 2, 1]


def test_a_disagreement_is_said_in_words():
    make = Maker(1)
    machine_runs.pipes(make, lie="imad/s32")
    found = book(make.run)
    result = pipes.pipe_map(found, found.columns[0])
    assert result.agreement == pytest.approx(6 / 7)
    (line,) = result.disagreements
    assert line.startswith(
        "IMAD is counted on tensor, but beside FADD a pair takes 3.0 cycles, where 2.0 would be two"
    )


def test_pairs_without_counters_have_no_agreement_and_two_instructions_no_map():
    make = Maker(1)
    machine_runs.pipes(make)
    for m in make.run.measurements:
        m.counters = {}
    found = book(make.run)
    result = pipes.pipe_map(found, found.columns[0])
    assert result.agreement is None and len(result.pipes) == 3
    found = book(Run(make.run.environment, make.run.measurements[:2]))
    assert pipes.pipe_map(found, found.columns[0]) is None and pipes.picture(found, found.columns[0]) is None


# --- instructions ----------------------------------------------------------------------------------------------------


def test_the_table_holds_instructions_and_nothing_else(machine):
    rows = {row.name: row for row in instructions.instructions(machine)}
    assert "sass/shf/b32" in rows and "tensor_core/wgmma/tf32/m64n256/ss" in rows
    assert not [name for name in rows if "pipes" in name or "overlap" in name or "power" in name or "accuracy" in name]
    shf, bfe = rows["sass/shf/b32"], rows["sass/bfe/u32"]
    assert (shf.opcodes, shf.shapes, shf.pipes) == ([("SHF", 32)], ["8 × 4"], [("alu", 1.0)])
    assert shf.sweep.grid.shape == (2, 2) and shf.interval[0].value == pytest.approx(2, rel=0.01)
    assert bfe.emulated and bfe.opcodes == [("LOP3.LUT", 16), ("SHF.R", 8)] and not shf.emulated


def test_what_was_only_built_stands_beside_what_was_measured():
    make = Maker(1)
    make.add("tensor_core/mma_sync/bf16/m16n8k16", flop_per_clock_per_sm=2730, latency_cycles=24)
    rows = {row.name: row for row in instructions.instructions(book(make.run, offline()))}
    bf16, tf32 = (rows[f"tensor_core/mma_sync/{kind}/m16n8k16"] for kind in ("bf16", "tf32"))
    assert bf16.first_rate and bf16.targets["sm_120a"][0] == "✓"
    assert bf16.targets["sm_90a"] == ("●", "measured")
    assert tf32.first_rate is None and tf32.targets["sm_120a"][0] == "✗" and "not run" in tf32.targets["sm_89"][1]


# --- tensor cores ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, expected",
    [
        ("tensor_core/wgmma/bf16/m64n256/ss", ("wgmma", "bf16", "", "dense")),
        ("tensor_core/wgmma/e4m3/m64n8/sparse_rs/acc_f16", ("wgmma", "e4m3", "f16", "sparse_rs")),
        ("tensor_core/mma_sync/f16/m16n8k16/sparse", ("mma_sync", "f16", "", "sparse")),
        ("tensor_core/wgmma/bf16/m64n256/ss/zeros", None),
        ("tensor_core/power/bf16/normal", None),
        ("tensor_core/wgmma_in_flight/bf16/ss", None),
    ],
)
def test_names_of_matrix_instructions(name, expected):
    found = mma.parse(name)
    assert (found and (found.family, found.kind, found.accumulate, found.source)) == expected


def test_a_line_per_type_has_the_fastest_shape_of_each_source(machine):
    lines = {(line.family, line.kind, line.accumulate): line for line in rates.lines(machine)}
    bf16 = lines["wgmma", "bf16", ""]
    assert {source: best.shape for source, best in bf16.best.items()}.keys() == {"rs", "sparse", "sparse_rs"}
    assert bf16.best["rs"].number.value == pytest.approx(4096, rel=0.01)
    assert lines["wgmma", "e4m3", "f16"].sums == "f16" and lines["mma_sync", "e4m3", ""].emulated


def test_sweep_over_n_and_power_by_data(machine):
    column = machine.columns[0]
    curves = sweeps.sweeps(machine, column)
    assert [(c.kind, c.source, [n for n, _ in c.points]) for c in curves][0] == ("bf16", "rs", [8, 64, 256])
    drawn = power.power(machine, column)
    assert [(d.kind, d.data) for d in drawn][:2] == [("bf16", "zeros"), ("bf16", "normal")] and drawn[0].watts
    assert sweeps.n_sweep(machine, column) and power.power_by_data(machine, column)


def test_of_equal_shapes_the_one_with_a_sustained_rate_counts():
    make = Maker(1)
    for shape, rate in (("m64n64", 4096.5), ("m64n128", 4096), ("m64n256", 4096.2)):
        make.add(f"tensor_core/wgmma/bf16/{shape}/ss", flop_per_clock_per_sm=rate, tflops=989)
    make.add("tensor_core/wgmma/bf16/m64n128/ss/sustained", clock=1480.0, flop_per_clock_per_sm=4096, tflops=800)
    for m in make.run.measurements:  # exactly so, without the maker's noise
        m.metrics["flop_per_clock_per_sm"].value = {"m64n64": 4096.5, "m64n128": 4096}.get(m.name.split("/")[3], 4096.2)
    make.add("tensor_core/mma_sync/s4/m16n8k64", flop_per_clock_per_sm=9000).flags.append("emulated")
    found = book(make.run)
    wgmma, _ = rates.lines(found)
    assert wgmma.best["dense"].shape == "m64n128" and wgmma.sustained.value == pytest.approx(800, rel=0.01)
    assert "sustained" in said(found, 1)[1]
    assert mma.best_mma(found, "flop_per_clock_per_sm", 0).keys() == {"bf16"}


def test_of_equal_shapes_without_a_sustained_rate_the_one_of_most_a_second_counts():
    """The rates of f64 and u8 shapes are equal within a thousandth, what they do a second is not."""
    for gpu in ("newest H200", "newest H100"):
        found = committed.book(gpu)
        lines = {(line.family, line.kind): line for line in rates.lines(found)}
        for family, kind in (("mma_sync", "f64"), ("wgmma", "u8")):
            line = lines[family, kind]
            rows = found.find(rf"tensor_core/{family}/{kind}/m\d+n\d+(k\d+)?(/ss)?", "flop_per_clock_per_sm")
            most = max(row.numbers[0].value for row in rows)
            equals = [row.name for row in rows if row.numbers[0].value > (1 - mma.EQUAL) * most]
            assert len(equals) > 2 and line.best["dense"].number.value > (1 - mma.EQUAL) * most
            assert line.tflops.value == max(found.row(name, "tflops").numbers[0].value for name in equals)
    assert lines["mma_sync", "f64"].best["dense"].number.value == pytest.approx(256, abs=1e-3)


def test_what_must_be_in_flight_is_a_map_without_what_does_not_fit(machine):
    svg = sweeps.in_flight(machine, machine.columns[0]).svg
    assert svg.count("<rect") == 4 and "N = 256, 1 accumulator, waits for all, 1 warpgroup: 2" in svg
    assert sweeps.in_flight(machine, machine.columns[0], "e4m3/rs") is None


# --- numerics and functions ------------------------------------------------------------------------------------------


def test_cards_say_what_sums_keep(machine):
    cards = sums.cards(machine, machine.columns[0])
    assert [(c.name, c.accumulate) for c in cards][-1] == ("wgmma f16", "f16")
    e4m3 = next(c for c in cards if c.name == "wgmma e4m3")
    assert e4m3.headline == "keeps 13 fraction bits, truncated; 32 products at once"
    assert ("NaN", "0x7fffffff") in e4m3.facts and e4m3.agreement == pytest.approx(1, rel=0.01)


def test_instructions_with_one_register_map_share_a_picture(machine):
    (fragment,) = fragments.fragments(machine, machine.columns[0])
    assert [name for name, _ in fragment.sources] == ["mma.sync bf16 m16n8k8", "mma.sync f16 m16n8k8"]
    assert fragment.matches is True and fragment.title == "A of mma.sync, 2 × 4"
    assert "row 1, column 2: thread 1, register 1, element 0" in fragment.figure.svg
    assert "row 1, column 3" not in fragment.figure.svg  # nothing holds it


def test_mixes_and_overlaps(machine):
    column = machine.columns[0]
    three, five = polynomial.mixes(machine, column)
    assert (three.best, three.degree) == ((0.5, 25.0), 3) and three.max_ulp == pytest.approx(33.3, rel=0.01)
    assert five.best == (0.5, 23.0)
    points = {o.schedule: o.points for o in overlap.overlaps(machine, column)}
    assert points["ping_pong"] == [(0.5, 0.9), (1.0, 0.95)]  # a place without a value is left out
    for draw in (polynomial.exp2_mix, overlap.overlap_efficiency, sums.error_growth):
        assert draw(machine, column).svg
    assert "balances at d" in balance.imbalance_map(machine).description


def test_balance_as_measured_takes_the_place_of_what_rates_say():
    make = Maker(1)
    make.add("special_function/ex2/f32", limit=16, ops_per_clock_per_sm=16)
    make.add("tensor_core/wgmma/bf16/m64n256/ss", flop_per_clock_per_sm=4096)
    assert said(book(make.run), 7)[0].startswith("wgmma bf16: exp2 takes longer below d = 64.")
    m = make.add("special_function/imbalance/wgmma_bf16", balance_head_dim=64.0, balance_head_dim_mixed=48.0)
    axes = {"tile_of_keys": [64, 128], "head_dim": [64, 128]}
    m.series = [
        machine_runs.series("exp_to_mma_time", [1.2, 0.6, 1.0, 0.5], **axes),
        machine_runs.series("exp_to_mma_time_mixed", [0.9, 0.4, 0.75, 0.37], **axes),
    ]
    (line,) = said(book(make.run), 7)
    assert "1.00 times as long at d = 64, 0.50 times as long at d = 128, with polynomials it takes longer below d = 48" in line
    assert [b.ratios for b in balance.balances(book(make.run))] == [{64: 1.0, 128: 0.5}, {64: 0.75, 128: 0.37}]


# --- answers ---------------------------------------------------------------------------------------------------------


def test_the_questions_get_their_sentences(machine):
    assert "the peak of wgmma bf16 ss takes: N = 128, 2 warpgroups, 1 accumulator, one group in flight" in said(machine, 2)
    tf32, product, fp8 = said(machine, 3)
    assert "tf32x3" in product and "at most 1.0e-06 off" in product
    assert "8.0" in tf32 and "× FFMA's 254" in tf32 and "emulated by" in fp8
    assert said(machine, 4)[0] == "wgmma e4m3: keeps 13 fraction bits, truncated; 32 products at once"
    assert "fma f32: fused, rounded once" in said(machine, 4)
    assert any("zeros" in line and "random bits" in line and "W" in line for line in said(machine, 5))
    assert said(machine, 6)[0] == "register maps: 2 of 2 as the PTX ISA has them"
    assert any(
        line.startswith("permutation, shuffles") and "cycles per 64 × 128 tile" in line for line in said(machine, 6)
    )
    best, cost = said(machine, 8)
    assert re.match(
        r"wgmma bf16, two warpgroups that take turns, FFMA \+ EX2 \+ FADD on each element: "
        r"9[45]\..% of perfect overlap, 9[67]\..% without any dependence",
        best.replace("\u202f", ""),
    )
    assert cost.startswith("one MUFU.EX2 beside wgmma bf16 f32 takes")
    assert "polynomial of degree 3: 25 results/clk/SM with 50.0" in "\n".join(said(machine, 9))
    assert "3 pipes, as counters have it for 100.0" in "\n".join(said(machine, 10))


def test_the_matrix_of_the_assembler_answers_where_instructions_exist(tmp_path):
    (tmp_path / "isa.json").write_text(json.dumps(machine_runs.ISA))
    found = isa_file.load(tmp_path / "isa.json")
    assert found.counts("wgmma", "sm_120a")["rejected"] == 1
    asked = model.build([machine_runs.machine()], isa=found)
    assert said(asked, 32)[:2] == [
        "sm_90a: 1 of 2 forms native, 1 emulated",
        "sm_120a: 1 of 2 forms native, 0 emulated",
    ]


@pytest.mark.parametrize(
    "content, problem",
    [
        ("{", "line 1, column 2: not valid JSON"),
        ("[]", "schema: None is not 'assay.isa/1'"),
        ('{"schema": "assay.isa/1", "assembler": "", "targets": [], "forms": [{}]}', r"forms\[0\]: \"name\" is a"),
    ],
)
def test_a_matrix_that_is_none_is_refused_in_one_line(tmp_path, content, problem):
    path = tmp_path / "isa.json"
    path.write_text(content)
    with pytest.raises(RunFileError, match=f"{path}: {problem}") as error:
        isa_file.load(path)
    assert "\n" not in str(error.value)
    with pytest.raises(RunFileError, match="no such file"):
        isa_file.load(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["newest H200", "newest H100"])
def test_the_map_of_pairs_says_what_its_blank_pairs_and_high_indices_are(name):
    """FADD and FMUL each take 1.1 cycles: queued or not, a pair of them takes about two issue slots."""
    of_run = committed.book(name)
    note = pipes.picture(of_run, of_run.columns[0]).note
    assert "A blank pair takes as long on one pipe as on two." in note and "longer than one after the other" in note
