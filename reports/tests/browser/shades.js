// SPDX-License-Identifier: Apache-2.0
// Marks the elements that axe compares the colours of. It takes milliseconds for each, so of those that look alike, from the
// body down, two are marked. Pictures are left out: axe can tell nothing of text on a drawing.
(() => {
  const looks = ["color", "backgroundColor", "backgroundImage", "opacity", "filter", "textShadow", "fontSize", "fontWeight",
    "textDecorationLine", "borderBottomStyle", "borderBottomColor", "display", "position"];
  const numbers = new Map(), count = new Map();
  const walk = (element, outer) => {
    if (element.localName === "svg") return;
    const style = getComputedStyle(element);
    const worded = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const said = [outer, worded, element.hasAttribute("href"), element.matches("input, select, button, :disabled"),
      ...looks.map((name) => style[name])].join("|");
    if (!numbers.has(said)) numbers.set(said, numbers.size);
    const look = numbers.get(said), before = count.get(look) ?? 0;
    count.set(look, before + 1);
    element.toggleAttribute("data-shade", before < 2);
    for (const child of element.children) walk(child, look);
  };
  walk(document.body, 0);
})()
