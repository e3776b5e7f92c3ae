# SPDX-License-Identifier: Apache-2.0
"""The answers as they are read: what they say of the committed runs, how long they are, how many figures they hold."""

import re
from pathlib import Path

import data_runs
import machine_runs
import pytest
import report_runs

from assay.files import load, sass_file
from assay.files.isa_file import Isa
from assay.report import said
from assay.report.__main__ import load_published
from assay.report.answer.questions import PARTS, by_number
from assay.report.block.kinds import Table
from assay.report.book import model
from assay.report.book.text import THIN
from assay.report.family.launch.workers import saturation
from assay.report.page import sections
from assay.report.page.answers import in_sentences
from assay.report.said import write

RESULTS = Path(__file__).parents[2] / "results"
RUNS = ["h200/2026-11-22-full", "h100/2026-11-22-most"]
NEWEST = ["h200/2026-11-22-complete", "h100/2026-11-22-complete"]
MOST_WORDS, MOST_SENTENCES = 1600, 2  # "8 192", with a thin space, is one word
# Of "L2", "bf16", "m64n256", "64×8192×2048", "sm_90" and the name "cuBLASLt's best of 32" the digits are no figures; of "N = 64"
# and "1 024" they are one.
FIGURE = re.compile(rf"(?<![\w.×-])(?<!'s best of )(?!\d+×)[−-]?\d[\d.,{THIN}]*(?![\w-]*[a-z]\d)")


def book_of(name):
    runs = [load(RESULTS / one) for one in name.split("+")]
    return model.build(runs, load_published(RESULTS / "published"), loops=[loop for run in runs for loop in sass_file.load_with(run.path)])


@pytest.fixture(scope="module", params=[*NEWEST, "+".join(RUNS)])
def sentences(request):
    """Question -> what each run says, of real runs."""
    book = book_of(request.param)
    found = {number: in_sentences(book, question) for number, question in by_number().items()}
    return {n: [["".join(t for t, _ in s) for s in lines] for _, lines in runs] for n, runs in found.items() if runs}


def test_the_answers_are_short(sentences):
    words = sum(len(s.split(" ")) for runs in sentences.values() for lines in runs for s in lines)
    assert len(sentences) >= 20 and words <= MOST_WORDS


def test_a_sentence_has_a_subject_an_end_and_few_figures(sentences):
    for number, runs in sentences.items():
        for lines in runs:
            assert 1 <= len(lines) <= MOST_SENTENCES, (number, lines)
            for sentence in lines:
                assert re.match(r"[A-Z]", sentence) and sentence.endswith("."), (number, sentence)
                assert len(FIGURE.findall(sentence)) <= write.MOST_NUMBERS, (number, sentence)
                assert not re.search(r"±|nan|None|found:|[_/]{2,}(?!sync)|  ", sentence), (number, sentence)


def test_every_figure_leads_to_its_measurement():
    book = book_of(RUNS[0])
    for number, question in by_number().items():
        for _, lines in in_sentences(book, question):
            parts = [part for line in lines for part in line]
            assert number in (19, 12, 15, 22) or any(anchor for _, anchor in parts), (number, parts)


def test_what_the_committed_runs_say():
    h200, h100 = (book_of(name) for name in RUNS)

    def says(book, number):
        _, lines = in_sentences(book, by_number()[number])[0]
        return " ".join("".join(t for t, _ in line) for line in lines).replace(THIN, " ")

    assert says(h200, 1).startswith(
        "In fp8, wgmma does 8 192 FLOP per clock and SM, 100 % of its limit, and sustains 1 676"
    )
    assert says(h200, 13).startswith(
        "A load takes 34 cycles from L1, 280 from the near part of L2, and 694 from memory."
    )
    assert "267 in that of the GPU" in says(h200, 41) and "662 in that of the GPU" in says(h100, 41)
    assert "1 180 measured loops" in says(h100, 12)
    for name, meet in zip(NEWEST, ("339 with", "744 with")):
        assert says(book_of(name), 20).startswith(
            "A full CTA meets in 76.2 cycles by __syncthreads or a named barrier, 88.2 if its number is in a register, and "
            "201 by an mbarrier. Two CTAs of a cluster meet in 66.5 cycles relaxed, " + meet + " release and acquire"
        )
        assert says(book_of(name), 11).endswith("a two-stage pipeline of both reaches 66.3 % of the speed that one alone would allow.")


def test_forms_are_counted_on_the_target_that_a_run_was_built_for():
    """On sm_90a, which has wgmma, not on sm_90, which lists before it."""
    on = {"sm_90": {"status": "rejected"}, "sm_90a": {"status": "native"}}
    forms = {"wgmma": [{"name": "wgmma.bf16", "ptx": "wgmma", "targets": on}]}
    run = report_runs.measured()
    run.gpu["target"] = "sm_90a"
    book = model.build([run], isa=Isa("ptxas 13.0", ["sm_90", "sm_90a"], forms))
    ((_, (line,)),) = in_sentences(book, by_number()[32])
    assert "".join(t for t, _ in line).startswith("The assembler makes 1 of 1 forms native instructions of sm_90a")


def test_up_to_where_the_size_of_an_all_gather_does_not_matter():
    book = book_of("h200/2026-11-21-collectives-4gpus")
    said_of = " ".join("".join(t for t, _ in line) for line in in_sentences(book, by_number()[29])[0][1]).replace(THIN, " ")
    assert said_of.endswith(
        "Up to 2 MiB an all-gather takes 20 to 23.1 µs, whatever its size: as many elements of fp8 take as long as of bf16."
    )
    times = {m.name: m.value("time_us") for _, m in book.measurements}
    for size in (512, 4096, 32768, 262144, 2097152):  # what it says of fp8
        fp8, bf16 = (times[f"collective/all_gather/{kind}/{size}/4gpus"] for kind in ("e4m3", "bf16"))
        assert abs(fp8 / bf16 - 1) < 0.05


@pytest.mark.parametrize("run", [report_runs.measured(), machine_runs.machine(), data_runs.data()], ids=["a", "b", "c"])
def test_runs_that_lack_figures_say_less_and_never_break(run):
    book = model.build([run])
    for question in by_number().values():
        for _, lines in in_sentences(book, question):
            for line in lines:
                said_of = "".join(t for t, _ in line)
                assert said_of.endswith(".") and "{" not in said_of and len(FIGURE.findall(said_of)) <= 3, said_of


def test_nothing_is_said_of_a_run_without_measurements():
    book = model.build([report_runs.Run(report_runs.gpu(), [])])
    said_of = {n: in_sentences(book, q) for n, q in by_number().items()}
    assert not any(lines for n, lines in said_of.items() if n != 15)  # whether it has tensor memory is known without


def test_every_question_is_answered_or_says_what_would_answer_it():
    for part in PARTS:
        for question in part.questions:
            assert question.number in said.SENTENCES or question.otherwise
            assert question.cases or question.otherwise or question.number in (12, 33), question


def test_each_part_shows_the_picture_and_the_table_that_it_names():
    """Of a run that has all of them: none falls back to the first there is."""
    book = book_of(RUNS[0])
    made = sections.blocks(book)
    for part in PARTS:
        every = [b for key in part.families for b in made.get(key, []) if b]
        pictures = [f.key for b in every for f in getattr(b, "figures", [])]
        captions = [t.name for b in every for t in (b.tables if hasattr(b, "tables") else [b]) if isinstance(t, Table)]
        assert not part.pictures or any(key.startswith(part.pictures) for key in pictures), part.key
        assert not part.table or any(caption.startswith(part.table) for caption in captions), part.key


def test_runs_that_say_the_same_say_it_once():
    book = model.build([report_runs.measured(), report_runs.measured()])
    ((tags, _),) = in_sentences(book, by_number()[12])
    assert tags == ""
    two = model.build([report_runs.measured(), report_runs.measured(2)])
    assert [tag for tag, _ in in_sentences(two, by_number()[13])] == ["A", "B"]


def test_a_sentence_is_its_pieces_or_nothing():
    assert write.say("A {b} c.", b=("1", "x")) == [("A ", ""), ("1", "x"), (" c.", "")]
    assert write.say("A {b} {c}.", b=("1", "x"), c=None) is None
    assert write.first(None, [("a", "")]) == [("a", "")] and write.first(None) is None
    assert write.short(8192.0) == f"8{THIN}192" and write.short(4.0547) == "4.05" and write.short(0.6829) == "0.683"
    assert write.percent(1.0) == f"100{THIN}%" and write.percent(0.0927) == f"9.27{THIN}%"
    assert write.million(5_528_704) == "5.53 million" and write.million(309_123) == f"309{THIN}000"


@pytest.mark.parametrize("name", NEWEST)
def test_answers_and_findings_name_as_many_workers(name):
    """45, where 95% of the most is reached between 44 and 45: 44 are not enough."""
    book = model.build([load(RESULTS / name)])
    workers = by_number()[21]
    said = " ".join("".join(t for t, _ in line) for _, lines in in_sentences(book, workers) for line in lines)
    (least,) = re.findall("Graphs of .*?nearly all with ([0-9]+) workers", said)
    measured = book.measurement(book.columns[0], "launch/workers/graphs/5us")
    assert 0 <= int(least) - measured.value("workers_at_95_percent") < 1
    found = [t for t, _ in saturation(book, book.columns[0], "5us")]
    assert f"95 % of it with {least} workers" in next(t for t in found if t.startswith("graphs"))


def test_power_and_clock_are_of_the_load_whose_throughput_stands_beside_them():
    """Another measurement, of the load over time, drew 741 W at 1,559 MHz: with 851.6 TFLOP/s these do not go together."""
    book = model.build([load(RESULTS / "h100/2026-11-22-complete")])
    said = " ".join("".join(t for t, _ in line) for _, lines in in_sentences(book, by_number()[5]) for line in lines)
    assert "852 on normally distributed numbers. On the latter it draws 707 W, and runs at 1\u202f574 of" in said
