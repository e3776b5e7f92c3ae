# SPDX-License-Identifier: Apache-2.0
"""Instructions written for a test alone, and a second opinion on each.

Forms are drawn from the grammar of PTX: an instruction, types, modifiers, state spaces and shapes at random, legal or
not. The second opinion shares nothing with `assay isa`: it writes a kernel of its own around each, asks ptxas and
nvdisasm, and counts what the kernel has more than the same one without the instruction.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
CLASS = {16: "%h", 32: "%r", 64: "%rd"}
INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]
FLOATS = ["f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "f32x2"]
BITS = ["b16", "b32", "b64"]


def bits(kind: str) -> int:
    digits = re.search(r"\d+", kind).group()
    return int(digits) * (2 if kind.endswith("x2") else 1)


def register(kind: str) -> str:
    if kind == "pred":
        return "%p"
    if kind in ("f32", "f64"):
        return {"f32": "%f", "f64": "%fd"}[kind]
    return CLASS[bits(kind)]


@dataclass(frozen=True)
class Draft:
    """An instruction: its opcode with modifiers, and its operands, the first written: "r:u32", "[gmem]", "i:3"."""

    opcode: str
    operands: tuple[str, ...]

    def text(self) -> str:
        """With registers numbered from 0 in each class."""
        used: Counter = Counter()

        def one(operand: str) -> str:
            kind, _, value = operand.partition(":")
            if kind == "r":
                name = register(value)
                used[name] += 1
                return f"{name}{used[name] - 1}"
            if kind == "v":  # "v:4:b32": a vector
                count, of = value.split(":")
                return "{" + ", ".join(one(f"r:{of}") for _ in range(int(count))) + "}"
            return value if kind == "i" else operand

        return f"{self.opcode} {', '.join(one(operand) for operand in self.operands)};"


def drafts(rng: random.Random) -> Draft:
    """One instruction."""
    some = rng.choice

    def maybe(*modifiers: str) -> str:
        return some(["", *modifiers])

    def regs(*kinds: str) -> tuple[str, ...]:
        return tuple(f"r:{kind}" for kind in kinds)

    def integer() -> Draft:
        t = some(INTEGERS)
        op = some(["add", "sub", "min", "max", "abs", "neg", "div", "rem", "sad"])
        count = {"abs": 1, "neg": 1, "sad": 3}.get(op, 2)
        return Draft(f"{op}{maybe('.sat')}.{t}" if rng.random() < 0.3 else f"{op}.{t}", regs(*[t] * (count + 1)))

    def multiply() -> Draft:
        t, op, part = some(INTEGERS), some(["mul", "mad"]), some(["lo", "hi", "wide"])
        wide = t[0] + str(min(64, 2 * bits(t))) if part == "wide" else t
        return Draft(f"{op}.{part}.{t}", regs(wide, t, t, *([wide] if op == "mad" else [])))

    def floating() -> Draft:
        t = some(FLOATS)
        op = some(["add", "sub", "mul", "fma", "min", "max", "abs", "neg"])
        rounding = maybe(".rn", ".rz", ".rm", ".rp") if op in ("add", "sub", "mul", "fma") else ""
        if op == "fma" and not rounding:
            rounding = ".rn"
        more = maybe(".ftz") + maybe(".sat", ".relu") if op not in ("min", "max") else maybe(".ftz") + maybe(".NaN")
        count = {"abs": 1, "neg": 1, "fma": 3}.get(op, 2)
        return Draft(f"{op}{rounding}{more}.{t}", regs(*[t] * (count + 1)))

    def convert() -> Draft:
        kinds = INTEGERS + ["f16", "bf16", "f32", "f64"]
        to, of = some(kinds), some(kinds)
        rounding = maybe(".rn", ".rz", ".rni", ".rzi", ".rmi", ".rpi")
        return Draft(f"cvt{rounding}{maybe('.ftz')}{maybe('.sat')}.{to}.{of}", regs(to, of))

    def pack() -> Draft:
        to, of = some(["f16x2", "bf16x2", "e4m3x2", "e5m2x2"]), some(["f32", "f16x2", "bf16x2"])
        wide = {"e4m3x2": "b16", "e5m2x2": "b16"}.get(to, "b32")
        sources = ["f32", "f32"] if of == "f32" else ["b32"]
        return Draft(f"cvt{some(['.rn', '.rz'])}{maybe('.satfinite')}{maybe('.relu')}.{to}.{of}", regs(wide, *sources))

    def logic() -> Draft:
        t, op = some(BITS), some(["and", "or", "xor", "not", "cnot", "shl", "shr"])
        if op in ("not", "cnot"):
            return Draft(f"{op}.{t}", regs(t, t))
        return Draft(f"{op}.{t}", regs(t, t, "b32" if op in ("shl", "shr") else t))

    def bitwise() -> Draft:
        t = some(["b32", "b64", "u32", "s32", "u64", "s64"])
        op = some(["popc", "clz", "brev", "bfe", "bfi", "bfind", "szext", "bmsk", "fns", "prmt", "lop3", "shf"])
        if op in ("popc", "clz", "bfind"):
            return Draft(f"{op}.{t}", regs("b32", t))
        if op == "brev":
            return Draft(f"{op}.{t}", regs(t, t))
        if op == "bfe":
            return Draft(f"{op}.{t}", regs(t, t, "b32", "b32"))
        if op == "bfi":
            return Draft(f"{op}.{t}", regs(t, t, t, "b32", "b32"))
        if op in ("szext", "bmsk"):
            return Draft(f"{op}.{some(['clamp', 'wrap'])}.{t}", regs(t, t, "b32"))
        if op == "fns":
            return Draft(f"{op}.{t}", regs(t, t, t, "s32"))
        if op == "prmt":
            return Draft(f"{op}.{t}{maybe('.f4e', '.b4e', '.rc8', '.ecl', '.rc16')}", regs(t, t, t, "b32"))
        if op == "lop3":
            return Draft(f"{op}.{t}", (*regs(t, t, t, t), f"i:{rng.randrange(1, 255)}"))
        return Draft(f"shf.{some(['l', 'r'])}.{some(['clamp', 'wrap'])}.{t}", regs(t, t, t, "b32"))

    def compare() -> Draft:
        t = some(INTEGERS + ["f16", "bf16", "f32", "f64"])
        how = some(["eq", "ne", "lt", "ge", "lo", "hs", "equ", "num", "nan"])
        return Draft(f"setp.{how}{maybe('.ftz')}.{t}", regs("pred", t, t))

    def special() -> Draft:
        op, t = some(["ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"]), some(["f16", "f16x2", "bf16", "f32", "f64"])
        return Draft(f"{op}.{some(['approx', 'approx.ftz', 'rn', 'rz'])}.{t}", regs(t, t))

    def memory() -> Draft:
        space, t = some(["global", "shared", "shared::cta", "local", "const"]), some(["b8", "u16", "b32", "u64", "f32", "f64"])
        address = {"global": "[%gmem]", "shared": "[%smem]", "shared::cta": "[%smem]"}.get(space, "[%gmem]")
        how = maybe(".ca", ".cg", ".cs", ".cv", ".nc", ".volatile", ".relaxed.gpu", ".acquire.cta", ".acquire.sys")
        count = some([1, 1, 2, 4, 8])
        wide = "b16" if t == "b8" else t
        value = f"r:{wide}" if count == 1 else f"v:{count}:{wide}"
        vector = "" if count == 1 else f".v{count}"
        if rng.random() < 0.5:
            order = ".".join(p for p in [how.strip(".")] if p)
            return Draft(".".join(p for p in ["ld", order, space] if p) + f"{vector}.{t}", (value, address))
        how = maybe(".wb", ".cg", ".wt", ".volatile", ".relaxed.sys", ".release.gpu")
        return Draft(f"st{how}.{space}{vector}.{t}", (address, value))

    def atomic() -> Draft:
        space, t = some(["global", "shared"]), some(["u32", "s32", "u64", "b32", "b64", "f16x2", "bf16x2", "f32", "f64", "b16"])
        op = some(["add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"])
        order = maybe(".relaxed", ".acquire", ".release", ".acq_rel") + maybe(".cta", ".gpu", ".sys")
        name = some(["atom", "red"])
        address = "[%gmem]" if space == "global" else "[%smem]"
        noftz = ".noftz" if "16x2" in t and rng.random() < 0.8 else ""
        values = regs(t, t) if op == "cas" else regs(t)
        return Draft(f"{name}{order}.{space}.{op}{noftz}.{t}", (*(regs(t) if name == "atom" else ()), address, *values))

    def warp() -> Draft:
        op = some(["shfl", "vote", "match", "redux"])
        if op == "shfl":
            how = some(["up", "down", "bfly", "idx"])
            return Draft(f"shfl.sync.{how}.{some(['b32', 'b64'])}", (*regs("b32", "b32", "b32"), "i:31", "i:-1"))
        if op == "vote":
            how = some(["all", "any", "uni", "ballot"])
            kind = some(["pred", "b32"])
            return Draft(f"vote.sync.{how}.{kind}", (*regs(kind, "pred"), "i:-1"))
        if op == "match":
            how, t = some(["any", "all"]), some(["b32", "b64"])
            return Draft(f"match.{how}.sync.{t}", (*regs("b32", t), "i:-1"))
        t, how = some(["u32", "s32", "b32", "f32"]), some(["add", "min", "max", "and", "or", "xor"])
        return Draft(f"redux.sync.{how}{maybe('.abs') if t == 'f32' else ''}.{t}", (*regs(t, t), "i:-1"))

    def matrix() -> Draft:
        shape, a, b, c, parts = some(
            [
                ("m16n8k16", "f16", "f16", "f32", "4:b32 2:b32 4:f32"),
                ("m16n8k16", "bf16", "bf16", "f32", "4:b32 2:b32 4:f32"),
                ("m16n8k8", "tf32", "tf32", "f32", "4:b32 2:b32 4:f32"),
                ("m16n8k8", "f16", "f16", "f16", "2:b32 1:b32 2:b32"),
                ("m16n8k32", "e4m3", "e5m2", "f32", "4:b32 2:b32 4:f32"),
                ("m16n8k32", "s8", "u8", "s32", "4:b32 2:b32 4:b32"),
                ("m16n8k64", "s4", "u4", "s32", "4:b32 2:b32 4:b32"),
                ("m8n8k4", "f64", "f64", "f64", "1:f64 1:f64 2:f64"),
                ("m16n8k16", "e4m3", "e4m3", "f16", "2:b32 1:b32 2:b32"),
                ("m16n8k8", "bf16", "f16", "f32", "2:b32 1:b32 4:f32"),
            ]
        )
        of_a, of_b, of_c = parts.split()
        vectors = tuple(f"v:{of}" for of in (of_c, of_a, of_b, of_c))
        return Draft(f"mma.sync.aligned.{shape}.row.col{maybe('.satfinite')}.{c}.{a}.{b}.{c}", vectors)

    def load_matrix() -> Draft:
        count = some([1, 2, 4])
        return Draft(
            f"ldmatrix.sync.aligned.{some(['m8n8', 'm16n16', 'm8n16'])}.x{count}{maybe('.trans')}.shared{maybe('::cta')}.b16",
            (f"v:{count}:b32", "[%smem]"),
        )

    kinds = [integer, multiply, floating, floating, convert, convert, pack, logic, bitwise, compare, special]
    return some([*kinds, memory, memory, atomic, atomic, warp, matrix, load_matrix])()


def forms(count: int, seed: int = 20261122) -> list[Draft]:
    """So many different ones."""
    rng, found = random.Random(seed), {}
    while len(found) < count:
        draft = drafts(rng)
        found.setdefault(draft.text(), draft)
    return list(found.values())


def kernel(draft: Draft, name: str, with_it: bool) -> str:
    """Loads every register the form names, executes it, and stores every one of them."""
    text = draft.text()
    names = list(dict.fromkeys(re.findall(r"%(?:p|h|rd|r|fd|f)\d+", text)))
    lines = [f".visible .entry {name}(.param .u64 in) {{", ".reg .b64 %gmem, %base; .reg .b32 %smem, %t;"]
    types = {"%p": "pred", "%h": "b16", "%r": "b32", "%rd": "b64", "%f": "f32", "%fd": "f64"}
    for name in names:
        lines.append(f".reg .{types[name.rstrip('0123456789')]} {name};")
    lines += ["mov.u32 %t, %tid.x; cvt.u64.u32 %base, %t; mov.b32 %smem, %t; mov.b64 %gmem, {%t, %t};"]
    for i, name in enumerate(names):
        kind = types[name.rstrip("0123456789")]
        if kind == "pred":
            lines.append(f"{{ .reg .b32 x; ld.volatile.global.b32 x, [%base+{16 * i}]; setp.ne.b32 {name}, x, 0; }}")
        else:
            lines.append(f"ld.volatile.global.{kind} {name}, [%base+{16 * i}];")
    lines.append(text if with_it else "")
    for i, name in enumerate(names):
        kind = types[name.rstrip("0123456789")]
        if kind == "pred":
            lines.append(f"@{name} st.volatile.global.b32 [%base+{16 * i}], %t;")
        else:
            lines.append(f"st.volatile.global.{kind} [%base+{16 * i}], {name};")
    return "\n".join([*lines, "ret;", "}", ""])


@cache
def tool(name: str) -> str:
    """Where set-up puts CUDA's tools, and where the build found nvcc."""
    nvcc = re.search(r"=(/\S*)/nvcc\n", (BUILD / "CMakeCache.txt").read_text())
    folders = [ROOT / ".toolchain/nvidia/cu13/bin", ROOT / ".toolchain/cuda/bin", Path("/usr/local/cuda/bin")]
    for folder in [*folders, *([Path(nvcc.group(1))] if nvcc else [])]:
        if (folder / name).exists():
            return str(folder / name)
    return shutil.which(name) or name


def assemble(drafts_: dict[int, Draft], target: str, folder: Path) -> dict[int, tuple[Counter, Counter] | str]:
    """What each becomes: opcodes with it and without, or "rejected" or "unknown". Those that ptxas complains about are
    taken out by the lines it names, and the rest assembled again; a module it crashes on is halved."""
    if not drafts_:
        return {}
    lines, owner = [".version 9.0", f".target {target}", ".address_size 64"], {}
    for number, draft in drafts_.items():
        begin = len(lines)
        lines += kernel(draft, f"with_{number}", True).split("\n") + kernel(draft, f"frame_{number}", False).split("\n")
        owner.update({line + 1: number for line in range(begin, len(lines))})
    source, cubin = folder / f"{target}.ptx", folder / f"{target}.cubin"
    source.write_text("\n".join(lines))
    done = subprocess.run(
        [tool("ptxas"), f"-arch={target}", source, "-o", cubin], capture_output=True, text=True, errors="replace"
    )
    if done.returncode == 0:
        listing = subprocess.run([tool("nvdisasm"), "-c", cubin], capture_output=True, text=True)
        if listing.returncode == 0:
            found = functions(listing.stdout)
            return {number: (found[f"with_{number}"], found[f"frame_{number}"]) for number in drafts_}
    blamed = {owner.get(int(line)) for line in re.findall(r"line (\d+); (?:error|fatal)", done.stdout + done.stderr)}
    rejected = dict.fromkeys(blamed & drafts_.keys(), "rejected") if done.returncode > 0 else {}
    rest = {number: draft for number, draft in drafts_.items() if number not in rejected}
    if rejected:
        return rejected | assemble(rest, target, folder)
    if len(rest) == 1:
        return dict.fromkeys(rest, "rejected" if done.returncode > 0 else "unknown")
    numbers = list(rest)
    half = len(numbers) // 2
    return {
        **assemble({n: rest[n] for n in numbers[:half]}, target, folder),
        **assemble({n: rest[n] for n in numbers[half:]}, target, folder),
    }


def functions(listing: str) -> dict[str, Counter]:
    """The opcodes of each function."""
    found: dict[str, Counter] = {}
    name = ""
    for line in listing.split("\n"):
        if head := re.match(r"\s*\.text\.(\w+):", line):
            name = head.group(1)
            found[name] = Counter()
        elif opcode := re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)", line):
            found[name][opcode.group(1)] += 1
    return found


# What prepares, packs and branches; the same work may come as one of two opcodes.
LIGHT = "NOP MOV UMOV CS2R R2UR LDC LDCU ULDC S2R S2UR EXIT BRA PRMT BSSY BSYNC P2R R2P PLOP3 UPRMT RET STL LDL WARPSYNC"
MOVES = ("HFMA2.MMA", "IMAD.MOV")  # also of constants
# What prepares an operand or finishes a result of other instructions, but is also work of its own.
ARITHMETIC = """
IADD3 IADD UIADD3 VIADD IMAD UIMAD LOP3 ULOP3 SHF USHF SHL SHR SEL USEL LEA ULEA ISETP UISETP BMSK SGXT IABS IMNMX VIMNMX
VABSDIFF FADD FMUL FFMA FMNMX FSETP FSEL FSET HADD2 HMUL2 HFMA2 HMNMX2 HSETP2 HSET2 VOTEU ERRBAR CGAERRBAR CCTL MEMBAR
"""


def opinion(seen: tuple[Counter, Counter] | str) -> str:
    """ "rejected"; "unknown"; what the opcodes tell: "native" (one instruction), "split" (several of one opcode),
    "emulated" (a routine is called, or the work is of two units), "nothing"; or "mixed": they do not tell."""
    if isinstance(seen, str):
        return seen
    with_it, without, light = *seen, set(LIGHT.split())
    if any(opcode.startswith("CALL") for opcode in with_it):
        return "emulated"
    more, lost = with_it - without, without - with_it
    # Where the instruction writes a register, nobody loads it before. All else the frame has in both kernels.
    heavy = [opcode for opcode in lost if opcode.split(".")[0] not in light]
    if any(not opcode.startswith(("LDG.", "ISETP.NE.U32.AND", *MOVES)) for opcode in heavy):
        return "mixed"
    bases = {opcode.split(".")[0] for opcode in more if not opcode.startswith("IMAD.MOV")} - light
    if not bases:
        return "nothing"
    if len(bases) == 1:
        count = sum(n for opcode, n in more.items() if opcode.split(".")[0] in bases and "IMAD.MOV" not in opcode)
        return "native" if count == 1 else "split"
    return "emulated" if len(bases - set(ARITHMETIC.split())) > 1 else "mixed"


def verdicts(drafts_: list[Draft], targets: list[str], folder: Path) -> dict[tuple[str, str], dict]:
    """Those of `assay isa`, by text and target."""
    file = folder / "forms.txt"
    file.write_text("\n".join(draft.text() for draft in drafts_))
    command = [BUILD / "assay", "isa", "--json", "--targets", ",".join(targets), "--ptx", file]
    environment = {**os.environ, "ASSAY_CACHE_DIR": str(folder / "cache")}
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return {
        (form["ptx"], target): form["targets"][target] for form in json.loads(answer.stdout)["forms"] for target in targets
    }


def compare(count: int, targets: list[str], folder: Path) -> list[tuple[str, str, dict, str]]:
    """Text, target, our verdict and the second opinion, for each."""
    drawn = forms(count)
    ours = verdicts(drawn, targets, folder)

    rows = []
    for target in targets:
        for number, seen in sorted(assemble(dict(enumerate(drawn)), target, folder).items()):
            text = drawn[number].text()
            rows.append((text, target, ours[text, target], opinion(seen)))
    return rows
