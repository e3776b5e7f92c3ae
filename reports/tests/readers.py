# SPDX-License-Identifier: Apache-2.0
"""Every Python reader of files, as one function from a `Random` to nothing: it raises `Broken` where the reader fails.

A reader may take a damaged file or refuse it in one line that names file and field. All else is a failure: a status
that is not documented, a traceback, a line too many, and of the gate a "nothing is slower" over a slowdown.
"""

import contextlib
import copy
import gzip
import io
import json
import os
import random
import re
import statistics
import tempfile
from pathlib import Path

import data_runs
import machine_runs
import report_runs
import runs
import test_documents

from assay import files
from assay.baseline import main as baseline_main
from assay.files import document_of, loop_text
from assay.files import history as histories
from assay.gate import main as gate_main
from assay.gate import recorded
from assay.program import Exit
from assay.report import documents
from assay.report.__main__ import main as report_main
from mutations import mutated, mutated_bytes

# "measurements[3].params["a b"] (its/name)", or the place in a file that is no JSON; "its/name: kind" of the gate.
FIELD = re.compile(
    r"line \d+|end of document|not text: byte|not an assay|nested too deeply|more than [\d,]+ values|larger than|"
    r"the document|"
    r"""(?:[\w.]|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+\.{0,3}[\w.\[\]]*( '[^']*')?( \(.*\))?:|[^\s:]+: [\w.]+:"""
)


class Broken(AssertionError):
    """What a reader did that none may do."""


def called(main, *arguments):
    """(status, output, errors) of a command that is called in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


def check_refusal(status, err, *paths):
    """One line that names one of the files and a field of it."""
    if status == Exit.DEFECT or "Traceback" in err:
        raise Broken(err)
    if status == Exit.USAGE:
        _, _, rest = err.partition(": ")
        path = next((path for path in paths if rest.startswith(f"{path}: ")), None)
        if err.count("\n") != 1 or path is None or not FIELD.match(rest[len(str(path)) + 2 :]):
            raise Broken(f"no line with file and field: {err}")


def _pool():
    """Small runs that together touch every kind of block: a few cases of one probe each."""
    found = {}
    for run in (report_runs.measured(), machine_runs.machine(), data_runs.data(), report_runs.offline()):
        document = document_of(run)
        for m in document["measurements"]:
            m["samples"] = {key: values[:5] for key, values in m.get("samples", {}).items()}
            found.setdefault("/".join(m["name"].split("/")[:2]), []).append(m)
    return list(found.values())


POOL = _pool()
ENVIRONMENT = report_runs.gpu()


def small_run(rng):
    groups = rng.sample(POOL, rng.choice([1, 1, 1, 2]))
    chosen = [m for group in groups for m in rng.sample(group, min(len(group), rng.choice([1, 2, 4])))]
    return {"schema": "assay.run/1", "environment": ENVIRONMENT, "measurements": chosen}


def report(rng: random.Random, folder: Path) -> str:
    """A report of one run, sometimes of two, or beside published figures; the earlier report stays if it fails."""
    paths = [folder / "run.json", folder / "other.json", folder / "published" / "x.json"]
    paths[2].parent.mkdir(exist_ok=True)
    document = small_run(rng)
    paths[0].write_bytes(mutated(rng, document))
    arguments = [paths[0]]
    if rng.random() < 0.1:
        paths[1].write_bytes(json.dumps(document).encode())
        arguments.append(paths[1])
    published = copy.deepcopy(document)
    for m in published["measurements"]:
        m["source"] = {"title": "A paper", "url": "https://example.org/x", "gpu": "NVIDIA H200"}
    paths[2].write_bytes(mutated(rng, published) if rng.random() < 0.2 else json.dumps(published).encode())
    out = folder / "out"
    before = (out / "index.html").read_bytes() if (out / "index.html").exists() else None
    beside = paths[2].parent if rng.random() < 0.3 else "none"
    status, _, err = called(report_main, *arguments, "--out", out, "--published", beside)
    check_refusal(status, err, *paths)
    if status != Exit.OK and before is not None and (out / "index.html").read_bytes() != before:
        raise Broken("the earlier report was lost")
    if status == Exit.OK:
        page = (out / "index.html").read_text()
        if "<script>alert" in page or 'href="javascript:' in page:
            raise Broken("markup of a file is on the page")
        return "left out" if "could not be made of these figures" in page else "written"
    return "refused"


SLOW = "memory/hbm/copy"


def _gate_side(factor, repetitions):
    def of(name, value, sha, **fields):
        code = {"sha256": sha, "verified": True, "target": "sm_90a"}
        return [
            runs.measurement(name, value * (1 + 0.0005 * i), repetition=i, sass=code, **fields)
            for i in range(repetitions)
        ]

    rate = {"metric": "bandwidth_gb_per_s", "unit": "GB/s", "better": "higher"}
    sha = "ab"[factor > 1] * 64
    return runs.run(
        *of(SLOW, 100 * factor, sha),
        *of("memory/hbm/read", 4000 / (1 + (factor - 1) / 1000), sha, **rate),
        *of("memory/l1/latency", 30, sha, metric="latency_cycles", unit="cycle", domain="sm"),
    )


PAIRS = {n: (_gate_side(1, n), _gate_side(1.2, n)) for n in (1, 3, 8)}


def slowdown_left(base, candidate) -> bool:
    """Whether the files, taken at their word, still measure the slow case on both sides and find it 20% slower."""
    values, code = [], set()
    for document in (base, candidate):
        found = [m for m in document["measurements"] if m["name"] == SLOW and m.get("source") is None]
        good = [m for m in found if m.get("status", "ok") == "ok"]
        if not good:
            return False  # in the candidate the gate must see that itself
        metrics = [m["metrics"].get("time_us") for m in good if m["primary"] == "time_us"]
        if None in metrics or len(metrics) < len(good):
            return False  # another headline on both sides
        if good[0]["kind"] == "baseline" or good[0].get("conditions", {}).get("clock_domain") in ("power", "sm"):
            return False  # on both sides, else they contradict each other
        values.append(statistics.median(m["value"] for m in metrics))
        code |= {json.dumps([m.get("sass"), m.get("params")]) for m in good}
    return len(code) > 1 and values[1] >= 1.199 * values[0]


def lost(base, candidate) -> bool:
    """Whether one side has the slow case and no figure of it, and the other has one. What is skipped never had one."""
    said = [
        {m.get("status", "ok") for m in d["measurements"] if m["name"] == SLOW and m.get("source") is None}
        for d in (base, candidate)
    ]
    return "ok" in said[0] and "ok" not in said[1] or bool(said[0]) and said[0] <= {"failed", "not_run"}


def gate(rng: random.Random, folder: Path) -> str:
    """The gate over a pair that hides a slowdown of 20%, one side or both damaged."""
    pair = PAIRS[rng.choice(list(PAIRS))]
    which = rng.choice([(True, False), (False, True), (False, True), (True, True)])
    paths = [folder / "base.json", folder / "candidate.json"]
    contents = [mutated(rng, d) if hit else json.dumps(d).encode() for d, hit in zip(pair, which)]
    for path, content in zip(paths, contents):
        path.write_bytes(content)
    status, out, err = called(gate_main, *paths)
    if not (status == Exit.USAGE and "missing in the candidate: " in out):
        check_refusal(status, err, *paths)
    if any(line.startswith("::") or "\x1b" in line for line in (out + err).splitlines()):
        raise Broken("a name gives a command")
    if status == Exit.OK:
        documents_read = [json.loads(content) for content in contents]
        if slowdown_left(*documents_read) or lost(*documents_read):
            raise Broken(f"exit 0 over a hidden slowdown: {out}")
    return Exit(status).name.lower()


LOOP = "\n".join(f"{16 * i:04x}  FFMA R{i}, R1, R2, R{i}" for i in range(20))


def loops(rng: random.Random, folder: Path) -> str:
    """The texts of loops beside a run."""
    name = loop_text.sha256(LOOP)
    content = loop_text.packed({name: LOOP, loop_text.sha256("NOP"): "NOP"})
    if rng.random() < 0.5:
        content = gzip.compress(mutated_bytes(rng, gzip.decompress(content)), mtime=0)
    else:
        content = mutated_bytes(rng, content)
    path = folder / "loops.txt.gz"
    path.write_bytes(content)
    try:
        said = loop_text.LoopTexts(path).text(name)
    except files.RunFileError as error:
        if "\n" in str(error) or not str(error).startswith(f"{path}: "):
            raise Broken(str(error)) from None
        return "refused"
    if said != LOOP:
        raise Broken("another text under the hash of a loop")
    return "read"


def journal(rng: random.Random, folder: Path) -> str:
    """The journal of a run that was killed, damaged: what the gate and the report make of it."""
    document = small_run(rng) if rng.random() < 0.5 else rng.choice(PAIRS[3])
    entries = [{key: value for key, value in document.items() if key != "measurements"}]
    entries += [{"measurement": m} for m in document["measurements"]]
    lines = [json.dumps(entry).encode() for entry in entries]
    for _ in range(rng.choice([1, 1, 2])):
        which = rng.randrange(len(lines))
        change = rng.random()
        if change < 0.6:
            lines[which] = mutated(rng, entries[which]).replace(b"\n", b" ")
        elif change < 0.8:
            lines[which] = mutated_bytes(rng, lines[which])  # line ends among them
        else:  # the same entry again, in another place
            lines.insert(rng.randrange(len(lines) + 1), lines[which])
            entries.insert(0, entries[which])
    path = folder / "journal.jsonl"
    content = b"\n".join(lines) + b"\n"
    path.write_bytes(content[: rng.randrange(len(content))] if rng.random() < 0.2 else content)
    status, out, err = called(gate_main, path, path)
    check_refusal(status, err, path)
    if any(line.startswith("::") or "\x1b" in line for line in (out + err).splitlines()):
        raise Broken("a name gives a command")
    try:
        files.load(path)
    except files.RunFileError as error:
        if status != Exit.USAGE or "\n" in str(error) or not str(error).startswith(f"{path}: "):
            raise Broken(f"{status}: {error}") from None
    return Exit(status).name.lower()


def _document(main, document):
    def read(rng: random.Random, folder: Path) -> str:
        path = folder / "document.json"
        path.write_bytes(mutated(rng, document))
        status, out, err = called(main, path)
        check_refusal(status, err, path)
        if "<script>alert" in out:
            raise Broken("markup of a file is on the page")
        return Exit(status).name.lower()

    return read


isa_page = _document(documents.isa_page, machine_runs.ISA)
sass_timeline = _document(documents.sass_timeline, test_documents.document(test_documents.STEPS))


def _google(factor):
    entries = [
        {
            "name": name,
            "run_name": name,
            "run_type": "iteration",
            "real_time": (9 + i / 100) * factor,
            "time_unit": "us",
        }
        for name in ("BM_A/8", "BM_B")
        for i in range(9)
    ]
    return {"context": {"num_cpus": 4, "library_build_type": "release"}, "benchmarks": entries}


def _nvbench(factor):
    value = {"name": "value", "type": "float64", "value": str(1e-6 * factor)}
    state = {"device": 0, "axis_values": [{"name": "N", "value": "8"}], "is_skipped": False,
             "summaries": [{"tag": "nv/cold/time/gpu/mean", "data": [value]}]}  # fmt: skip
    return {
        "devices": [{"id": n, "name": "NVIDIA H200", "sm_version": 900, "number_of_sms": 132} for n in (0, 1)],
        "benchmarks": [{"name": "copy", "states": [state, {**state, "device": 1, "is_skipped": True}]}],
    }


def foreign(rng: random.Random, folder: Path) -> str:
    """The gate over JSON of Google Benchmark or nvbench."""
    made = rng.choice([_google, _nvbench])
    paths = [folder / "base.json", folder / "candidate.json"]
    for path, factor in zip(paths, (1, 1.2)):
        path.write_bytes(mutated(rng, made(factor)) if rng.random() < 0.7 else json.dumps(made(factor)).encode())
    status, out, err = called(gate_main, *paths)
    if not (status == Exit.USAGE and "missing in the candidate: " in out):
        check_refusal(status, err, *paths)
    if any(line.startswith("::") or "\x1b" in line for line in (out + err).splitlines()):
        raise Broken("a name gives a command")
    return Exit(status).name.lower()


def history(rng: random.Random, folder: Path) -> str:
    """A history: its page, and the gate against its baseline."""
    path, run = folder / "h.jsonl", folder / "run.json"
    run.write_text(json.dumps(PAIRS[3][1]))
    lines = []
    for commit in range(8):
        entry = recorded.entry_of(files.load(run), f"c{commit}", "2026-01-01T00:00:00Z")
        entry.accepted = commit == 3
        lines.append(histories.line_of(entry).encode())
    which = rng.randrange(len(lines))
    lines[which] = mutated(rng, json.loads(lines[which])).replace(b"\n", b" ")
    path.write_bytes(b"\n".join(lines) + b"\n")
    for main, arguments in ((baseline_main, ["page", path, "--out", folder / "h.html"]), (gate_main, [path, run])):
        status, out, err = called(main, *arguments)
        known = "no run of this history was accepted" in err or "missing in the candidate: " in out
        if not (status == Exit.USAGE and known):
            check_refusal(status, err, path, run)
        if any(line.startswith("::") or "\x1b" in line for line in (out + err).splitlines()):
            raise Broken("a name gives a command")
    if (folder / "h.html").exists() and "<script>alert" in (folder / "h.html").read_text():
        raise Broken("markup of a file is on the page")
    return Exit(status).name.lower()


POLICY = """# what counts
[default]
threshold_percent = 2
[[rule]]
case = "memory/*"
metric = "*"
threshold_percent = 1.5
[[rule]]
case = 'host/*'
gated = false
"""
KEYS = ["case", "metric", "gated", "threshold_percent", "default", "rule", "x", '""', '"a\\nb"', "[rule]", "[[x]]"]
VALUES = [
    *("0", "-1", "1e999", "nan", "true", "'x'", "[]", "{}", "0x" + "f" * 5000, "9" * 400, "9" * 5000, "1979-13-01"),
    *("[" * 5000, "{a=" * 5000, r'"\ud800"', r'"\u001b[2J"', f"'{'[' * 5000}'", "'''", '"""', "1_", "'\x1b[2J'"),
]


def _changed_policy(rng: random.Random) -> bytes:
    lines = POLICY.split("\n")
    for _ in range(rng.choice([1, 1, 2, 4])):
        if sum(map(len, lines)) > 1 << 16:  # 500 times that is far more than a policy may hold
            break
        at = rng.randrange(len(lines))
        key, _, value = lines[at].partition(" = ")
        key = rng.choice([key, rng.choice(KEYS), key + ".a" * rng.choice([1, 5000]), ".".join([key] * 3)])
        lines[at] = f"{key} = {rng.choice([value, rng.choice(VALUES)])}" if rng.random() < 0.8 else key
        if rng.random() < 0.2:
            lines[at:at] = lines[rng.randrange(len(lines)) :] * rng.choice([1, 1, 500])
    content = "\n".join(lines).encode()
    return mutated_bytes(rng, content) if rng.random() < 0.2 else content


def policy(rng: random.Random, folder: Path) -> str:
    """A policy over a slowdown of 20%, which no rule may hide but one that says so."""
    paths = [folder / "base.json", folder / "candidate.json", folder / "gate.toml"]
    for path, document in zip(paths, PAIRS[3]):
        path.write_text(json.dumps(document))
    paths[2].write_bytes(_changed_policy(rng))
    status, out, err = called(gate_main, *paths[:2], "--policy", paths[2])
    check_refusal(status, err, paths[2])
    if any(line.startswith("::") or "\x1b" in line for line in (out + err).splitlines()):
        raise Broken("a name gives a command")
    said = paths[2].read_text(errors="replace")
    if status == Exit.OK and not re.search(r"gated = false|threshold_percent = .*\d\d", said):
        raise Broken(f"exit 0 over a hidden slowdown: {said}")
    return Exit(status).name.lower()


READERS = {
    **{"gate": gate, "report": report, "loops": loops, "isa_page": isa_page, "sass_timeline": sass_timeline},
    **{"foreign": foreign, "history": history, "journal": journal, "policy": policy},
}


MEMORY = Path("/dev/shm")  # to remove a file from a disk takes milliseconds, and there are thousands


def run_once(name: str, rng: random.Random) -> str:
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        return READERS[name](rng, Path(folder))
