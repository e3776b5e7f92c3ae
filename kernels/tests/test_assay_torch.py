# SPDX-License-Identifier: Apache-2.0
"""The torch runner, as far as it goes without a GPU and without torch."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "kernels" / "torch")]

from assay.files import Run, load, save  # noqa: E402
from assay_torch import __main__ as command  # noqa: E402
from assay_torch.library import VARIABLE, KernelError, Kernels, find_library  # noqa: E402
from assay_torch.turns import Contender, take_turns, to_measurement  # noqa: E402


def simulated_turns(rounds: int = 40, seed: int = 1):
    """Two contenders on a clock that drifts: the baseline takes 5% longer at every moment."""
    log = []
    drift = random.Random(seed)

    def time_round(launches):
        speed = drift.uniform(0.8, 1.2)
        return [1e6 * speed * launch() for launch in launches]

    def contender(name, cost):
        return Contender(name, lambda chosen: (log.append((name, chosen)), cost)[1])

    times = take_turns([contender("ours", 1.0), contender("theirs", 1.05)], 3, rounds, seed, time_round)
    return times, log


def test_everybody_runs_once_a_round_on_the_same_rotating_set():
    times, log = simulated_turns()
    assert all(len(samples) == 40 for samples in times.values())
    for number in range(40):
        pair = log[2 * number:2 * number + 2]
        assert {name for name, _ in pair} == {"ours", "theirs"}
        assert [chosen for _, chosen in pair] == [number % 3] * 2
    firsts = [log[2 * number][0] for number in range(40)]
    assert 8 < firsts.count("ours") < 32


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


@pytest.mark.parametrize("arguments", [["--rounds", "5"], ["--no-such-option"]])
def test_usage_errors_exit_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err
