// SPDX-License-Identifier: Apache-2.0
// The matrix as one page of HTML: data, style and script in the file, nothing fetched.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "harness/instruction/ptx_text.hpp"
#include "harness/isa/render.hpp"

namespace assay::isa {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Instructions by target</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --line: #d8d8d8; --soft: #f4f4f4;
  --native: #1b7f3b; --split: #9a6700; --emulated: #bc4c00; --rejected: #8a8a8a; }
@media (prefers-color-scheme: dark) { :root { --back: #14171a; --text: #e6e6e6; --line: #363b40;
  --soft: #1e2226; --native: #4ac26b; --split: #d4a72c; --emulated: #f0883e; --rejected: #6e7681; } }
body { margin: 1.5rem; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .3rem; }
p { margin: .3rem 0; max-width: 60rem; }
form { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; position: sticky; top: 0;
  background: var(--back); padding: .6rem 0; z-index: 2; }
input[type=search] { width: 24rem; max-width: 90vw; }
input, select { font: inherit; padding: .25rem .4rem; color: inherit; background: var(--soft);
  border: 1px solid var(--line); border-radius: 4px; }
table { border-collapse: collapse; }
th, td { padding: .12rem .45rem; border-bottom: 1px solid var(--line); text-align: center; }
th { background: var(--soft); position: sticky; top: 3.2rem; z-index: 1; }
th select { padding: 0; width: 3.4rem; font-size: .75rem; }
td:first-child, th:first-child { text-align: left; }
td:first-child { font-family: ui-monospace, monospace; font-size: .85rem; cursor: pointer;
  min-width: 24rem; overflow-wrap: anywhere; }
tr.group td { background: var(--soft); font: bold 1rem system-ui, sans-serif; cursor: default; }
tr.more td { text-align: left; background: var(--soft); overflow-wrap: anywhere; }
.N { color: var(--native); font-weight: 600; } .x { color: var(--split); font-weight: 600; }
.E { color: var(--emulated); font-weight: 600; } .r { color: var(--rejected); }
.more code { font-size: .85rem; }
.more li { margin: .1rem 0; }
</style>
</head>
<body>
<h1>Instructions by target</h1>
)";

constexpr std::string_view kBody = R"(<p><b class="N">N</b> native: one instruction.
<b class="x">xK</b> split into K of one kind.
<b class="E">E</b> emulated: becomes something else. <b class="r">.</b> rejected by the assembler.
<b>!</b> accepted with advice or a warning. A click on a name shows what it becomes and why.</p>
<form onsubmit="return false">
<input type="search" id="text" placeholder="name or PTX, a regular expression" aria-label="search" autofocus>
<select id="group" aria-label="group"><option value="">all groups</option></select>
<label><input type="checkbox" id="differ"> only where targets differ</label>
<span id="shown"></span>
</form>
<table><thead><tr id="head"><th>instruction</th></tr></thead><tbody id="rows"></tbody></table>
<noscript>The table is drawn by a script; `assay isa --markdown` needs none.</noscript>
<script type="application/json" id="data">)";

constexpr std::string_view kScript = R"(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const make = (tag, text, kind) => {
  const node = document.createElement(tag);
  if (text !== undefined) node.textContent = text;
  if (kind) node.className = kind;
  return node;
};
const kinds = {N: "native", x: "split", E: "emulated", ".": "rejected"};
const filters = data.targets.map(target => {
  const head = $("head").appendChild(make("th", target));
  head.append(document.createElement("br"));
  const pick = head.appendChild(make("select"));
  pick.setAttribute("aria-label", "filter " + target);
  for (const [value, text] of [["", "any"], ["+", "accepted"], ...Object.entries(kinds)])
    pick.add(new Option(text, value));
  pick.onchange = draw;
  return pick;
});
for (const group of new Set(data.forms.map(form => form.group)))
  $("group").add(new Option(group, group));

const verdict = index => data.verdicts[index];
function matches(form, expression) {
  if ($("group").value && form.group !== $("group").value) return false;
  if (!expression.test(form.group + "/" + form.name) && !expression.test(form.ptx)) return false;
  if ($("differ").checked && new Set(form.on.map(i => verdict(i).cell)).size === 1) return false;
  return form.on.every((index, t) => {
    const wanted = filters[t].value, kind = verdict(index).cell[0];
    return !wanted || (wanted === "+" ? kind !== "." : kind === wanted);
  });
}
function more(form) {
  const row = make("tr", undefined, "more"), cell = row.appendChild(make("td"));
  cell.colSpan = data.targets.length + 1;
  cell.append(make("code", form.ptx));
  if (form.timed) cell.append(make("div", "measured by assay run '^" + form.timed + "$'"));
  const list = cell.appendChild(make("ul")), said = new Map();
  form.on.forEach((index, t) => said.set(index, [...(said.get(index) || []), data.targets[t]]));
  for (const [index, targets] of said) {
    const item = list.appendChild(make("li"));
    item.append(make("b", verdict(index).cell), " " + verdict(index).text + " ",
                make("small", "[" + targets.join(" ") + "]"));
  }
  return row;
}
function draw() {
  let expression;
  try {
    expression = new RegExp($("text").value, "i");
  } catch {
    expression = new RegExp($("text").value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
  const rows = document.createDocumentFragment();
  let group, count = 0;
  for (const form of data.forms) {
    if (!matches(form, expression)) continue;
    ++count;
    if (form.group !== group) {
      const cell = rows.appendChild(make("tr", undefined, "group")).appendChild(make("td", form.group));
      cell.colSpan = data.targets.length + 1;
      group = form.group;
    }
    const row = rows.appendChild(make("tr")), name = row.appendChild(make("td", form.name));
    name.onclick = () => {
      if (row.nextSibling && row.nextSibling.className === "more") row.nextSibling.remove();
      else row.after(more(form));
    };
    for (const index of form.on) {
      const v = verdict(index);
      row.append(make("td", v.cell, v.cell[0] === "." ? "r" : v.cell[0]));
      row.lastChild.title = v.text;
    }
  }
  $("rows").replaceChildren(rows);
  $("shown").textContent = count + " of " + data.forms.length + " forms";
}
$("text").oninput = $("group").onchange = $("differ").onchange = draw;
draw();
</script>
</body>
</html>
)";

// Verdicts repeat: each different one once, forms point to them.
Json data_of(const Matrix& matrix) {
  Json verdicts = Json::array(), forms = Json::array();
  std::map<std::string, std::size_t> known;
  for (std::size_t f = 0; f < matrix.forms.size(); ++f) {
    const Form& form = matrix.forms[f];
    Json entry = {{"group", form.group}, {"name", short_name(form)}, {"ptx", form.ptx}};
    if (!form.timed.empty()) entry["timed"] = form.timed;
    for (const Verdict& verdict : matrix.verdicts[f]) {
      Json shown = {{"cell", cell(verdict)}, {"text", remark(verdict)}};
      const auto [index, is_new] = known.emplace(shown.dump(), verdicts.size());
      if (is_new) verdicts.push_back(std::move(shown));
      entry["on"].push_back(index->second);
    }
    forms.push_back(std::move(entry));
  }
  Json targets = Json::array();
  for (const std::string& target : matrix.targets) targets.push_back(column(target));
  return {{"targets", targets}, {"verdicts", verdicts}, {"forms", forms}};
}

}  // namespace

std::string to_html(const Matrix& matrix) {
  const std::string data = data_of(matrix).dump(-1, ' ', false, Json::error_handler_t::replace);
  return fmt::format("{}<p>{}.</p>\n{}{}{}", kHead, summary(matrix), kBody,
                     replace_all(data, "</", "<\\/"), kScript);
}

}  // namespace assay::isa
