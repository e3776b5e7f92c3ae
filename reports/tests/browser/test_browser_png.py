# SPDX-License-Identifier: Apache-2.0
"""Each picture can be saved as PNG: as a file beside the page, or made of the page's drawing by the browser."""

import io

import matplotlib.image
import numpy as np
import survey


def test_every_picture_is_offered_in_its_three_formats(surveyed):
    found = [picture for page in surveyed("report").values() for picture in page["pictures"]]
    assert len(found) > 50 and not [(name, files) for name, files in found if files != "CSV PNG SVG"]


def saved(page, key):
    """The picture as the browser saves it: its name, and its pixels (rows, columns, colours)."""
    with page.expect_download() as download:
        page.locator(f"[id='{key}'] .files button").dispatch_event("click")
    content = open(download.value.path(), "rb").read()
    return download.value.suggested_filename, matplotlib.image.imread(io.BytesIO(content), format="png")[..., :3]


def inked(pixels):
    """The share of the pixels that are not paper, and how many colours they have."""
    paper = pixels[0, 0]
    drawn = pixels[np.abs(pixels - paper).max(axis=-1) > 0.1]
    return len(drawn) / (pixels.shape[0] * pixels.shape[1]), len(np.unique((drawn * 8).astype(int), axis=0))


def test_the_browser_makes_a_png_of_a_curve_and_of_a_map(browser, pages):
    for of, kind in (("memory.html", "figure:not(:has(.cells))"), ("kernels.html", "figure:has(.cells)")):
        (path,) = [path for path in pages("report") if path.name == of]
        with survey.opened(browser, path.as_uri()) as (page, said):
            key = page.locator(f"{kind}:has(.files button)").first.get_attribute("id")
            view = page.evaluate("(key) => document.getElementById(key).querySelector('svg').viewBox.baseVal.width", key)
            name, pixels = saved(page, key)
            assert name.endswith(".png") and name.startswith(key[:10]) and not said
            assert pixels.shape[1] > 3 * view
            share, colours = inked(pixels)
            assert 0.005 < share < 0.9 and colours > 4
            assert np.abs(pixels[: pixels.shape[0] // 12] - pixels[0, 0]).max() > 0.3  # the title stands on it
