# SPDX-License-Identifier: Apache-2.0
"""Power curves as a picture: the chance that a slowdown is found, of the noisiest and of the median case of each group."""

from __future__ import annotations

import io
from collections.abc import Sequence

from assay import plotting
from assay.gate.self_test import figures
from assay.gate.self_test.trial import Trial

STEPS = [i / 2000 for i in range(121)]  # to 6%


def chances(trials: Sequence[Trial]) -> dict[str, tuple[list[float], list[float]]]:
    """Group -> the chances at every step, of its noisiest case and of its median one, by their worst trials."""
    worst: dict[tuple[str, str], tuple[float, Trial]] = {}
    for trial in trials:
        key, least = (trial.group, trial.comparison.name), figures.detectable(trial.comparison)
        if least is not None and least > worst.get(key, (-1.0,))[0]:
            worst[key] = (least, trial)
    found = {}
    for group in dict.fromkeys(t.group for t in trials):
        ranked = sorted((v for (name, _), v in worst.items() if name == group), key=lambda v: v[0])
        if ranked:
            chosen = ranked[-1][1], ranked[len(ranked) // 2][1]
            noisiest, median = ([figures.power(t.comparison, s) or 0.0 for s in STEPS] for t in chosen)
            found[group] = noisiest, median
    return found


def svg(trials: Sequence[Trial]) -> bytes | None:
    """The picture; None where no case has noise that is known."""
    curves = chances(trials)
    if not curves:
        return None
    plotting.load()  # here, for it takes long
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "assay", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = pyplot.subplots(figsize=(7.2, 4), layout="constrained")
        for number, (group, (noisiest, median)) in enumerate(curves.items()):
            axes.plot([100 * s for s in STEPS], noisiest, f"C{number}-", label=f"{group}: noisiest case")
            axes.plot([100 * s for s in STEPS], median, f"C{number}:", label=f"{group}: median case")
        axes.set(xlabel="slowdown, %", ylabel="chance that it is called slower", xlim=(0, 6), ylim=(0, 1.02))
        axes.axhline(figures.CHANCE, color="#bbb", lw=0.8)
        axes.legend(fontsize=7, ncols=2)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
        pyplot.close(figure)
    return out.getvalue()
