# SPDX-License-Identifier: Apache-2.0
"""Packed weights of skinny products: what is packed stands for about what it was made of, byte by byte as documented.
The product itself where there is a GPU."""

import dataclasses
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "reports"), str(ROOT / "kernels" / "torch")]

from assay_torch import skinny  # noqa: E402
from assay_torch.library import KernelError  # noqa: E402

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


@pytest.mark.parametrize("kind", skinny.BITS)
def test_rows_of_weights_stand_for_rows_of_what_all_do(kind, monkeypatch):
    monkeypatch.setattr(skinny, "ROWS_AT_ONCE", 4)
    packed = skinny.quantize(torch.randn(11, 384), kind)
    assert (skinny.whole(packed) == skinny.expand(packed).to(torch.bfloat16)).all()
    rows = torch.tensor([7, 0, 10])
    assert (skinny.expand(skinny.rows_of(packed, rows)) == skinny.expand(packed)[rows]).all()


def test_a_wrong_output_is_found():
    packed = skinny.quantize(torch.randn(40, 256), "s4")
    x = torch.randn(3, 256).to(torch.bfloat16)
    out = (x.double() @ skinny.expand(packed).T).to(torch.bfloat16)
    skinny.require_right("ours", out, x, packed, 1, False)
    rounded = (x.double() @ skinny.whole(packed).double().T).to(torch.bfloat16)
    skinny.require_right("theirs", rounded, x, packed, 1, True)
    for wrong in (out * 1.05, torch.where(torch.arange(40) == 3, torch.nan, out)):
        with pytest.raises(KernelError, match="ours: wrong result"):
            skinny.require_right("ours", wrong, x, packed, 1, False)


class Called:
    """In the library's place: it would read what lies behind a tensor that is too small."""

    def __init__(self):
        self.times = 0

    def skinny(self, *_):
        self.times += 1


@pytest.mark.parametrize("kind", skinny.BITS)
def test_weights_that_are_none_are_refused_before_they_are_read(kind):
    kernels, x = Called(), torch.zeros(2, 384, dtype=torch.bfloat16)
    packed = skinny.quantize(torch.randn(5, 384), kind)
    skinny.skinny(kernels, x, packed)
    skinny.skinny(kernels, x, dataclasses.replace(packed, data=packed.data.view(torch.int8)) if kind == "s8" else packed)
    assert kernels.times == 2
    parts = [name for name in ("data", "scales", "scale") if getattr(packed, name) is not None]
    wrong = [{"n": 6}, {"type": "s3"}, *({name: getattr(packed, name)[:-1]} for name in parts)]
    wrong += [{name: getattr(packed, name).to(torch.float64)} for name in parts]
    wrong += [{name: None} for name in parts if name != "data"]
    for change in wrong:
        with pytest.raises(KernelError, match="^skinny: "):
            skinny.skinny(kernels, x, dataclasses.replace(packed, **change))
    assert kernels.times == 2


def test_torchs_own_packing_of_four_bits(monkeypatch):
    """A code of 0 to 15 is 8 more than ours, the first of a byte lies high, and groups come before rows."""
    monkeypatch.setattr(torch, "_convert_weight_to_int4pack", lambda data, tiles: data, raising=False)
    packed = skinny.quantize(torch.randn(5, 384), "s4")
    data, scales = skinny.to_tinygemm(packed)
    assert data.shape == (5, 192) and scales.shape == (3, 5, 2)
    codes = torch.stack([data >> 4, data & 15], 2).flatten(1).double() - 8
    each = scales[:, :, 0].double().T.repeat_interleave(128, 1)
    assert (codes * each + scales[:, :, 1].double().T.repeat_interleave(128, 1) == skinny.expand(packed)).all()


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
    bound = 2.0**-8 * reference.abs() + (2.0**-22 * 80 + 2.0**-24 * 260) * magnitude  # kernels/skinny/reference.hpp
    assert ((out.double() - reference).abs() <= bound).all()
