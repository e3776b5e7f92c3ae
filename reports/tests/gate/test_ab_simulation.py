# SPDX-License-Identifier: Apache-2.0
"""How often the verdict on sides that took turns is right, on a simulated machine with known truth. Seeds are fixed."""

import machines
import numpy as np
import pytest

from assay.gate.ab.campaign import Plan, take_turns, turns
from assay.gate.ab.side import CannotMeasure
from assay.gate.ab.command import THRESHOLD
from assay.gate.ab.judgement import judge_sides
from assay.gate.outcome import judge
from assay.gate.result import Rules, Verdict
from assay.program import Exit
from assay.statistics import clopper_pearson

RULES = Rules(threshold=THRESHOLD, paired=True)


def campaign(slowdown=0.0, seed=1, rules=RULES, plan=Plan(), base=None, candidate=None, cases=20, **noise):
    machine = machines.Machine(seed, **noise)
    sides = [
        machines.Side("base", machine, cases=cases, **(base or {})),
        machines.Side("candidate", machine, slowdown, cases=cases, **(candidate or {})),
    ]
    return judge_sides(sides, plan, rules).result


def verdicts(campaigns, slowdown, **options):
    found = [c.verdict for seed in range(campaigns) for c in campaign(slowdown, seed, **options).comparisons]
    return {v: found.count(v) for v in Verdict} | {"all": len(found)}


def test_every_block_is_abba_or_baab():
    for seed in range(20):
        orders = turns(2, 8, seed)
        assert all(a == b[::-1] for a, b in zip(orders[::2], orders[1::2]))
    blocks = {tuple(turns(2, 2, seed)[0]) for seed in range(20)}
    assert blocks == {(0, 1), (1, 0)}
    assert len(turns(5, 7, 1)) == 7 and all(sorted(order) == list(range(5)) for order in turns(5, 7, 1))


def test_a_slow_drift_cancels_in_every_block():
    # Of a drift that is linear in time, both sides of a block have the same mean.
    for order in (turns(3, 2, seed) for seed in range(10)):
        at = {
            side: sum(3 * r + place for r, o in enumerate(order) for place, s in enumerate(o) if s == side)
            for side in range(3)
        }
        assert len(set(at.values())) == 1


@pytest.mark.parametrize(
    "temperatures, rounds",
    [([], 1), ([50, 50, 50], 2), ([40, 48, 53, 54], 4), ([40, 45, 50, 55, 60, 65], 5)],
)
def test_the_warm_up_lasts_until_the_gpu_is_as_warm_as_it_gets(temperatures, rounds):
    machine = machines.Machine()

    def disturb(m, started):
        if temperatures:
            round_ = max(0, started - 2)  # the first has both programs, each further one a process
            m.conditions["temperature_c"] = temperatures[min(round_, len(temperatures) - 1)]

    sides = [
        machines.Side(label, machine, cases=1, disturb=disturb, words=(label,)) for label in ("base", "candidate")
    ]
    runs = take_turns(sides, Plan(6, warm_up=1))
    assert machine.started == 2 + (rounds - 1) + 2 * 6 and all(len(run.measurements) == 6 for run in runs)
    before = machine.started
    take_turns(sides, Plan(6, warm_up=0))
    assert machine.started == before + 12


def test_one_program_on_all_sides_is_warmed_up_once():
    machine = machines.Machine()
    take_turns([machines.Side(label, machine, cases=1) for label in "abcd"], Plan(6, warm_up=1))
    assert machine.started == 1 + 4 * 6


def test_a_campaign_that_is_ended_loses_at_most_one_block():
    machine, kept = machines.Machine(), []

    def disturb(m, started):
        if started == 13:  # 4 to warm up, and two blocks
            raise KeyboardInterrupt

    sides = [
        machines.Side(label, machine, cases=3, disturb=disturb, words=(label,)) for label in ("base", "candidate")
    ]
    with pytest.raises(KeyboardInterrupt):
        take_turns(sides, Plan(8, warm_up=2), keep=kept.append)
    assert [[len({m.repetition for m in run.measurements}) for run in runs] for runs in kept] == [[2, 2], [4, 4]]


def test_nothing_is_measured_beside_another_process():
    machine = machines.Machine()
    sides = [machines.Side(label, machine, cases=2, disturb=beside_others) for label in ("base", "candidate")]
    with pytest.raises(CannotMeasure, match="another process computes on this GPU; end it"):
        take_turns(sides, Plan(8))
    assert machine.started == 1


def test_identical_programs_raise_no_alarm():
    found = verdicts(25, 0.0)
    assert found[Verdict.SLOWER] == found[Verdict.FASTER] == 0 and found["all"] == 500
    assert clopper_pearson(0, found["all"]).high < 0.01
    assert found[Verdict.EQUIVALENT] > 450


@pytest.mark.parametrize("slowdown, least", [(0.02, 0.80), (0.03, 0.99), (0.05, 1.0)])
def test_slowdowns_are_found(slowdown, least):
    found = verdicts(5, slowdown)
    assert found[Verdict.SLOWER] >= least * found["all"] and found[Verdict.FASTER] == 0


def test_what_is_within_the_threshold_is_not_called_slower():
    assert verdicts(5, 0.005)[Verdict.SLOWER] == 0


def test_the_unit_is_the_process():
    # Processes that differ by 2% hide a slowdown of 1.5%, however many samples each takes.
    assert verdicts(5, 0.015, process_sd=0.02)[Verdict.SLOWER] == 0


def test_red_needs_a_confirmation_in_fresh_processes():
    machine = machines.Machine(5)
    calls = []

    class Fooled(machines.Side):  # the first 17 processes are those before the confirmation
        def measure(self, name):
            m = super().measure(name)
            if self.label == "candidate" and name == "case/3" and self.machine.started <= 17:
                m.metrics["time_us"].value *= 1.2
            calls.append((self.machine.started, self.label, name))
            return m

    sides = [Fooled("base", machine, cases=5), Fooled("candidate", machine, cases=5)]
    result = judge_sides(sides, Plan(), RULES).result
    (c,) = [c for c in result.comparisons if c.name == "case/3"]
    assert c.verdict is Verdict.INCONCLUSIVE and "not confirmed in 8 fresh pairs, which found equivalent" in c.note
    assert {name for started, _, name in calls if started > 17} == {"case/3"}
    assert judge(result, RULES)[0] is not Exit.SLOWER
    unconfirmed = judge_sides([Fooled(s.label, machines.Machine(5), cases=5) for s in sides], Plan(), RULES, False)
    assert unconfirmed.result.of(Verdict.SLOWER)


def test_what_six_fresh_pairs_do_not_settle_gets_the_rest_of_the_plan():
    def disturb(m, started):  # the first of the confirmation
        if started == 18 and m.name == "case/3":
            m.conditions["throttle"] = ["hw_thermal_slowdown"]

    machine = machines.Machine(5)
    sides = [machines.Side(label, machine, slowdown, cases=5, disturb=disturb) for label, slowdown in (("base", 0), ("candidate", 0.1))]
    result = judge_sides(sides, Plan(), RULES).result
    assert [c.verdict for c in result.comparisons] == 5 * [Verdict.SLOWER] and machine.started == 1 + 16 + 12 + 4
    pairs = {c.name: 7 if c.name == "case/3" else 6 for c in result.comparisons}
    assert all(f"confirmed in {pairs[c.name]} fresh pairs" in c.note for c in result.comparisons)


@pytest.mark.parametrize("failing", ["base", "candidate", "both"])
def test_what_gives_no_figure_in_the_confirmation_is_not_red(failing):
    class Failing(machines.Side):
        def measure(self, name):
            m = super().measure(name)
            if self.machine.started > 17 and failing in (self.label, "both"):
                m.status, m.reason, m.metrics = "failed", "out of memory", {}
            return m

    machine = machines.Machine(5)
    result = judge_sides([Failing("base", machine, cases=9), Failing("candidate", machine, 0.05, cases=9)], Plan(), RULES).result
    assert {c.verdict for c in result.comparisons} == {Verdict.UNFIT}
    assert all("looked slower, and gave no figure in fresh pairs" in c.note for c in result.comparisons)
    assert judge(result, RULES)[0] is Exit.UNFIT

    class One(Failing):
        def measure(self, name):
            m = super(Failing, self).measure(name) if name != "case/3" else super().measure(name)
            if self.label == "candidate" and name != "case/3":
                m.metrics["time_us"].value /= 1.05
            return m

    machine = machines.Machine(5)
    result = judge_sides([One("base", machine, cases=9), One("candidate", machine, 0.05, cases=9)], Plan(), RULES).result
    code, said = judge(result, RULES)
    assert code is Exit.CANNOT_TELL and "cannot tell about case/3: it may be slower by" in said


# --- neighbours and throttling: never red --------------------------------------------------------------------------


def beside_others(m, started):
    m.metrics["time_us"].value *= 1.1
    m.flags = ["shared_gpu"]


@pytest.mark.parametrize("first", [2, 9, 14])
def test_a_noisy_neighbour_is_never_red(first):
    def disturb(m, started):
        if started >= first:
            beside_others(m, started)

    both = {"disturb": disturb}
    # Even where it keeps away from the base. In two rounds of eight it is too many, and nothing more is measured.
    for base in (both, None):
        with pytest.raises(CannotMeasure, match="another process computed on this GPU in 2 of [2-8] rounds"):
            campaign(0.0, base=base, candidate=both)

    def one_case(m, started):
        if m.name == "case/7":
            disturb(m, started)

    code, said = judge(campaign(0.0, candidate={"disturb": one_case}), RULES)
    assert code is Exit.UNFIT and "case/7: another process used the GPU" in said


def test_a_neighbour_of_one_round_costs_that_pair():
    def disturb(m, started):
        if started == 9:
            beside_others(m, started)

    result = campaign(0.0, base={"disturb": disturb}, candidate={"disturb": disturb})
    assert judge(result, RULES)[0] is Exit.OK and {c.dropped for c in result.comparisons} == {1}


@pytest.mark.parametrize("reason", ["hw_slowdown", "sw_thermal_slowdown", "sw_power_cap"])
def test_throttling_of_both_sides_is_a_condition(reason):
    held = {"throttle": (reason,), "domain": "power"}
    same, slower = (campaign(s, base=held, candidate=held) for s in (0.0, 0.03))
    assert {c.verdict for c in same.comparisons} <= {Verdict.EQUIVALENT, Verdict.INCONCLUSIVE}
    assert {c.verdict for c in slower.comparisons} == {Verdict.SLOWER}
    assert all(f"both sides under {reason}" in c.note and c.gated for c in slower.comparisons)


def test_throttling_of_one_side_drops_the_pair_and_says_so():
    def disturb(m, started):
        if started in (6, 7):  # of one block: one process of each side
            m.conditions["throttle"] = ["hw_slowdown"]
            m.metrics["time_us"].value *= 1.3

    one = campaign(0.0, candidate={"disturb": disturb})
    assert all(c.dropped in (1, 2) and c.processes == 8 - c.dropped for c in one.comparisons)
    assert all("hw_slowdown on one side only" in c.note for c in one.comparisons)
    assert not one.of(Verdict.SLOWER)


def test_a_power_limit_that_moved_no_clock_held_nothing_back():
    def disturb(m, started):
        if started % 3 == 0:
            m.conditions["throttle"] = ["sw_power_cap"]
            m.conditions["sm_clock_mhz"] *= factor

    for factor, dropped in ((0.999, False), (0.95, True)):
        quiet = {"drift_sd": 0.0}
        result = campaign(0.0, candidate={"disturb": disturb}, **quiet)
        assert all((c.dropped > 0) == dropped for c in result.comparisons)


def test_a_latency_has_no_cycle_to_spare_where_its_noise_is_known():
    from assay.gate.ab.command import PAIRED

    assert PAIRED["latency_cycles"] == 0 and Rules().latency_cycles == 1


def test_throttling_of_one_side_in_most_pairs_is_unfit():
    def disturb(m, started):
        if started % 4 in (0, 3):
            m.conditions["throttle"] = ["hw_thermal_slowdown"]
            m.metrics["time_us"].value *= 1.3

    for side in ("base", "candidate"):
        result = campaign(0.0, **{side: {"disturb": disturb}})
        assert judge(result, RULES)[0] is not Exit.SLOWER


def test_a_memory_clock_of_its_own_is_unfit():
    def disturb(m, started):
        m.conditions["memory_clock_mhz"] = 2619

    result = campaign(0.0, candidate={"disturb": disturb})
    assert judge(result, RULES)[0] is Exit.UNFIT and result.comparisons[0].note == "the memory clock differs"


# --- power ---------------------------------------------------------------------------------------------------------

LIMITED = {"domain": "power", "throttle": ("sw_power_cap",)}


@pytest.mark.parametrize(
    "candidate, verdict, cause",
    [
        ({"cycles": 1.03}, Verdict.SLOWER, "slower per clock"),
        ({"clock": 0.95}, Verdict.SLOWER, "same cycles but more power, hence slower"),
        ({"cycles": 0.97, "clock": 0.92}, Verdict.SLOWER, "fewer cycles but more power, hence slower"),
        ({"cycles": 1.03, "clock": 0.90}, Verdict.SLOWER, "more cycles and more power, hence slower"),
        ({"cycles": 0.97}, Verdict.FASTER, "faster per clock"),
        ({"clock": 1.05}, Verdict.FASTER, "same cycles but less power, hence faster"),
        ({"cycles": 1.03, "clock": 1.09}, Verdict.FASTER, "more cycles but less power, hence faster"),
        ({"clock": 0.95, "watts": 0.9}, Verdict.UNFIT, "slower clock, cause outside"),
    ],
)
def test_a_change_under_the_power_limit_is_named_by_its_cause(candidate, verdict, cause):
    result = campaign(0.0, base=LIMITED, candidate={**LIMITED, **candidate}, cases=3)
    for c in result.comparisons:
        assert c.verdict is verdict and c.cause.startswith(f"{cause}: "), c
    assert judge(result, RULES)[0] is {Verdict.SLOWER: Exit.SLOWER, Verdict.UNFIT: Exit.UNFIT}.get(verdict, Exit.OK)


UNSTEADY = {**LIMITED, "clock_sd": 0.02}  # as a GPU at its limit is from process to process


def unsteady(campaigns, candidate, **noise):
    noise = {"process_sd": 0.0005, "drift_sd": 0.0, **noise}
    found = [
        campaign(0.0, seed, base=UNSTEADY, candidate={**UNSTEADY, **candidate}, **noise) for seed in range(campaigns)
    ]
    return [c for result in found for c in result.comparisons]


def test_cycles_are_a_witness_where_the_clock_hides_the_time():
    found = unsteady(5, {"cycles": 1.02})
    assert sum(c.verdict is Verdict.SLOWER for c in found) >= 0.7 * len(found)  # by time alone: none
    assert not any(c.verdict is Verdict.FASTER for c in found)
    assert all(c.cause.startswith("slower per clock") for c in found if c.verdict is Verdict.SLOWER)


def test_two_witnesses_raise_no_alarm():
    found = unsteady(15, {})
    assert not any(c.verdict in (Verdict.SLOWER, Verdict.FASTER) for c in found) and len(found) == 300


def test_more_cycles_at_a_higher_clock_that_take_as_long_are_not_slower():
    noise = {"process_sd": 0.0005, "drift_sd": 0.0}
    steady = [
        campaign(0.0, s, base=LIMITED, candidate={**LIMITED, "cycles": 1.03, "clock": 1.03}, **noise) for s in range(3)
    ]
    assert {c.verdict for result in steady for c in result.comparisons} == {Verdict.EQUIVALENT}


def test_only_the_candidate_reaches_the_limit_and_that_is_its_own_doing():
    base = {**LIMITED, "throttle": (), "watts": 0.9}
    result = campaign(0.0, base=base, candidate={**LIMITED, "clock": 0.95}, cases=3)
    for c in result.comparisons:
        assert c.verdict is Verdict.SLOWER and c.cause.startswith("same cycles but more power, hence slower: ")
        assert "only the candidate reaches the power limit" in c.note and c.dropped == 0


def test_a_clock_that_is_lower_without_the_limit_is_no_verdict_on_the_code():
    free = {"domain": "power", "throttle": ()}
    result = campaign(0.0, base=free, candidate={**free, "clock": 0.95}, cases=3)
    assert {c.verdict for c in result.comparisons} == {Verdict.UNFIT}
    assert all(c.cause.startswith("slower clock, cause outside") for c in result.comparisons)
    assert judge(result, RULES)[0] is Exit.UNFIT


def test_a_clock_that_is_merely_noisy_excuses_nothing():
    rng = np.random.default_rng(3)

    def disturb(m, started):  # a reading of the clock that says nothing of the time
        m.conditions["sm_clock_mhz"] = 1700 * (1 + rng.normal(0, 0.03))

    noisy = {"disturb": disturb}
    result = campaign(0.04, base=noisy, candidate=noisy, cases=40)
    assert sum(c.verdict is Verdict.SLOWER for c in result.comparisons) >= 36  # 5% of the intervals miss the truth


def test_energy_stands_beside():
    result = campaign(0.0, base=LIMITED, candidate={**LIMITED, "clock": 0.95}, cases=1)
    (c,) = result.comparisons
    assert c.cycles.value == pytest.approx(1, abs=0.01) and c.clock.value == pytest.approx(0.95, abs=0.01)
    assert c.joules.value == pytest.approx(c.ratio.value * c.watts.value, rel=1e-6)
