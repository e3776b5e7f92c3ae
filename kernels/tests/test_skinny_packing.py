# SPDX-License-Identifier: Apache-2.0
"""Packed weights of skinny products: what is packed stands for about what it was made of, byte by byte as documented.
The product itself where there is a GPU."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "kernels" / "torch")]

from assay_torch import skinny  # noqa: E402

# The greatest error of an element in units of what shares its scale at most: half a step of the codes, and of s2 that of
# three values. Where scales are rounded themselves (e8m0 up to twice as large), more.
WORST = {"bf16": 2**-8, "s8": 1 / 250, "e4m3": 1 / 16, "s4": 1 / 13, "s2": 0.52, "mxf4": 1 / 3, "nvf4": 1 / 4}


@pytest.mark.parametrize("kind", skinny.BITS)
def test_packed_weights_stand_for_what_they_were_made_of(kind):
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(5, 512, generator=generator)
    packed = skinny.quantize(weights, kind)
    block = skinny.BLOCK.get(kind, 512)
    largest = weights.reshape(5, -1, block).abs().amax(2).repeat_interleave(block, 1)
    assert ((skinny.expand(packed) - weights).abs() <= WORST[kind] * largest).all()
    if kind != "bf16":
        assert packed.data.shape == (5, 512 * skinny.BITS[kind] // 8)


def test_the_first_element_is_in_the_low_bits():
    assert skinny.pack_codes(torch.tensor([[1, 2, 3, 15]]), 4).tolist() == [[0x21, 0xF3]]
    assert skinny.pack_codes(torch.tensor([[1, 2, 3, 0]]), 2).tolist() == [[0b00111001]]


def test_rows_of_scales_begin_on_16_bytes():
    packed = skinny.quantize(torch.randn(3, 384), "s4")  # three scales a row, of 2 bytes
    assert packed.scales.shape == (3, 8)
    assert skinny.expand(packed).shape == (3, 384)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("kind", skinny.BITS)
@pytest.mark.parametrize("m", [1, 2, 8, 16, 33, 64])
def test_the_product_agrees_with_float64(kind, m):
    from assay_torch.library import Kernels

    generator = torch.Generator(device="cuda").manual_seed(m)
    x = torch.randn(m, 1280, device="cuda", generator=generator).to(torch.bfloat16)
    packed = skinny.quantize(torch.randn(777, 1280, device="cuda", generator=generator), kind)
    out = skinny.skinny(Kernels(), x, packed)
    weights = skinny.expand(packed)
    reference = x.double() @ weights.T
    magnitude = x.double().abs() @ weights.abs().T
    bound = 2.0**-8 * reference.abs() + (2.0**-22 * 80 + 2.0**-24 * 132) * magnitude  # kernels/skinny/reference.hpp
    assert ((out.double() - reference).abs() <= bound).all()
