# SPDX-License-Identifier: Apache-2.0
"""The colours of series can be told apart, also by people who see fewer, and read on the paper of either page."""

import itertools
import re

import numpy as np
import pytest

from assay.report.draw.svg import SERIES
from assay.report.site import TEMPLATES

# Machado, Oliveira and Fernandes 2009, "A Physiologically-based Model for Simulation of Color Vision Deficiency",
# severity 1, on linear RGB.
SIGHTS = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = [[0.4124564, 0.3575761, 0.180437], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
APART = 18  # CIE 1976 difference of any two: 2 is just seen side by side, 10 at a glance
READ = 4.5  # contrast of text, WCAG 2.2, 1.4.3


def palettes():
    css = (TEMPLATES / "style.css.j2").read_text()
    found = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    ]
    return {"light": found[0], "dark": found[1]}


def linear(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(light):
    xyz = np.array(XYZ) @ np.clip(light, 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_two_series_can_be_told_apart(theme, sight):
    palette = palettes()[theme]
    colors = [palette[f"series{i + 1}"] for i in range(len(SERIES))]
    seen = {color: lab(np.array(SIGHTS[sight]) @ linear(color)) for color in colors}
    for a, b in itertools.combinations(colors, 2):
        assert np.linalg.norm(seen[a] - seen[b]) >= APART, (a, b)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_in_the_colour_of_their_line_can_be_read(theme):
    palette = palettes()[theme]

    def luminance(name):
        return float(np.array(XYZ[1]) @ linear(palette[name]))

    for name in [f"series{i + 1}" for i in range(len(SERIES))] + ["ink", "muted"]:
        low, high = sorted((luminance(name), luminance("paper")))
        assert (high + 0.05) / (low + 0.05) >= READ, name
