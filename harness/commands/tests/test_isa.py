# SPDX-License-Identifier: Apache-2.0
"""`assay isa`: the instruction x target matrix from the command line."""

import json
import os
import re
import subprocess
import time

import pytest

from command_line import built


@pytest.fixture
def isa(tmp_path):
    """Runs `assay isa` with a cache of its own; the exit status must be `code`."""
    def run(*arguments, code=0):
        done = subprocess.run([built("assay"), "isa", *arguments], text=True, cwd=tmp_path,
                              capture_output=True, timeout=300,
                              env={**os.environ, "ASSAY_CACHE_DIR": str(tmp_path)})
        assert done.returncode == code, done.stdout + done.stderr
        return done
    return run


def test_json_says_all_there_is(isa):
    done = isa("--json", "--targets", "sm_90a,sm_100f", "--ptx",
               "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
               "{%f[0:4]}, {%r[0:4]}, {%r[4:6]}, {%f[0:4]};\nwgmma.fence.sync.aligned;")
    matrix = json.loads(done.stdout)
    assert matrix["schema"] == "assay.isa/1"
    assert matrix["targets"] == ["sm_90a", "sm_100f"]
    mma, fence = matrix["forms"]
    assert mma["group"] == "ptx"
    assert mma["ptx"].endswith("{%r4, %r5}, {%f0, %f1, %f2, %f3};")
    hopper = mma["targets"]["sm_90a"]
    assert hopper["status"] == "emulated"
    assert hopper["opcodes"]["HMMA.16816.F32"] == 2
    assert hopper["count"] == sum(hopper["opcodes"].values())
    assert fence["targets"]["sm_90a"]["status"] == "native"
    rejected = fence["targets"]["sm_100f"]
    assert rejected["status"] == "rejected" and rejected["count"] == 0
    assert "sm_100f" in rejected["words"]


def test_forms_from_a_file(isa, tmp_path):
    (tmp_path / "forms.txt").write_text(
        "add.(f32|f64) %f0, %f1, %f2;\n\n.reg .f16x2 a, b; tanh.approx.f16x2 a, b;\n")
    forms = json.loads(isa("--json", "--target", "sm_90a", "--ptx", "forms.txt").stdout)["forms"]
    assert [(f["group"], f["name"], f["targets"]["sm_90a"]["status"]) for f in forms] == [
        ("forms.txt", "add.f32", "native"), ("forms.txt", "add.f64", "rejected"),
        ("forms.txt", "tanh.approx.f16x2", "split")]


MODULE = """.version 8.0
.target sm_70
.address_size 64
.visible .entry square(.param .u64 p) {
  .reg .b64 %a; .reg .f32 %x;
  ld.param.u64 %a, [p];
  ld.global.f32 %x, [%a];
  sqrt.approx.ftz.f32 %x, %x;
  st.global.f32 [%a], %x;
  ret;
}
"""


def test_a_module_gets_the_target_asked_for(isa, tmp_path):
    (tmp_path / "square.ptx").write_text(MODULE)
    form, = json.loads(isa("--json", "--ptx", "square.ptx").stdout)["forms"]
    assert len(form["targets"]) >= 12
    assert {v["status"] for v in form["targets"].values()} == {"native"}
    assert all("MUFU.SQRT" in v["opcodes"] for v in form["targets"].values())


def test_a_module_without_a_kernel_is_refused(isa, tmp_path):
    (tmp_path / "none.ptx").write_text(".version 8.0\n.target sm_70\n.address_size 64\n.func f() { ret; }\n")
    said = isa("--ptx", "none.ptx", code=2).stderr
    assert said.startswith("assay: none.ptx: is a module without a kernel (.entry): ") and said.count("\n") == 1


def test_unknown_names_suggest_near_ones(isa):
    said = isa("mma.sink", code=2).stderr
    assert said.count("\n") == 1
    assert "no instruction matches 'mma.sink'" in said and "mma.s" in said.split("nearest are")[1]
    assert "not a regular expression" in isa("mma(", code=2).stderr


@pytest.mark.parametrize("arguments, words", [
    (["--targets", "hopper", "mma"], "unknown target 'hopper'"),
    (["--targets", "sm_42", "--ptx", "exit;"], "unknown target 'sm_42'"),
    (["--ptx", "\n \n"], "--ptx holds no PTX"),
    (["--ptx", "missing.txt"], "cannot read 'missing.txt'"),
    (["--ptx", "."], "cannot read .: it is a folder"),
])
def test_mistakes_get_one_line(isa, arguments, words):
    done = isa(*arguments, code=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and words in done.stderr


def test_formats_show_the_same_forms(isa):
    text = isa("cp.async.wait", "--targets", "sm_89").stdout
    markdown = isa("cp.async.wait", "--targets", "sm_89", "--markdown").stdout
    page = isa("cp.async.wait", "--targets", "sm_89", "--html").stdout
    assert "cp.async.wait_all" in text and "native" in text
    assert "| `cp.async.wait_all` | N |" in markdown
    assert page.startswith("<!doctype html>") and page.rstrip().endswith("</html>")
    assert "http://" not in page and "https://" not in page
    data = page.split('id="data">')[1].split("</script>")[0]
    names = [f["name"] for f in json.loads(data.replace("<\\/", "</"))["forms"]]
    assert "cp.async.wait_all" in names


# Of later PTX, or against its rules: kept in the tables to show that the assembler says no.
NOWHERE = [r"^convert later/", r"e2m1x2\.bf16x2$", r"scale_vec::2X\..*ue4m3$", r"scale_vec::4X\..*ue8m0$",
           r"ignore_oob", r"^mma.sp .*mma\.sp\.sync.*\.f16\.e[45]m[23]\.e[45]m[23]\.f16$",
           r"227 KiB \+ 16 B"]


@pytest.mark.quiet
def test_every_form_exists_somewhere_and_the_second_time_is_quick():
    command = [built("assay"), "isa", "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)  # fills the cache
    start = time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    assert time.monotonic() - start < 2
    assert done.stderr == ""
    matrix = json.loads(done.stdout)
    assert len(matrix["forms"]) > 900 and len(matrix["targets"]) >= 12
    nowhere = [form["name"] for form in matrix["forms"]
               if all(v["status"] == "rejected" for v in form["targets"].values())]
    assert [name for name in nowhere if not any(re.search(p, name) for p in NOWHERE)] == []
    unread = [(form["name"], target) for form in matrix["forms"] for target, verdict in form["targets"].items()
              if "nvdisasm cannot read" in verdict.get("advice", "")]
    # Words for this target that nvdisasm 13 does not know; of all else there is a verdict.
    assert {re.sub(r"(acquire|release)\.(cta|gpu|sys)$", "*", name) for name, _ in unread} <= {"fences/fence.*"}
    assert {target for _, target in unread} <= {"sm_89"}
    for form in matrix["forms"]:
        for verdict in form["targets"].values():
            assert "assay" not in verdict.get("words", "") + verdict.get("advice", ""), form
            assert verdict["status"] != "rejected" or verdict["words"], form
