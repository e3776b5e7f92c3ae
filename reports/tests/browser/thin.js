// SPDX-License-Identifier: Apache-2.0
// Leaves two of a kind, for an audit whose time grows with the page: of the elements that stand in the same kinds of
// elements, and have the same role, classes, colours and kinds of elements inside, those after the second are taken out.
// What gives an element its name stays, and so do the cells of a row.
(() => {
  const compared = ["class", "role", "fill", "stroke", "type", "scope", "rowspan", "colspan", "tabindex", "aria-hidden"];
  const named = ["href", "title", "aria-label"];
  const numbers = new Map();  // of descriptions: a kind's holds the numbers of those inside, and so stays short
  const number = (said) => {
    if (!numbers.has(said)) numbers.set(said, numbers.size);
    return numbers.get(said);
  };
  const own = (element) => {
    const style = (element.getAttribute("style") ?? "").replace(/(width|left|top|height):[^;]*;?/g, "");
    return number([element.localName, ...compared.map((name) => element.getAttribute(name)), style].join("|"));
  };
  const kinds = new Map();
  const kind = (element) => {
    if (kinds.has(element)) return kinds.get(element);
    const has = named.map((name) => element.hasAttribute(name)).join();
    const worded = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const inner = [...new Set([...element.children].map(kind))].sort().join();
    const found = number(`<${own(element)} ${has} ${worded}>${inner}</>`);
    kinds.set(element, found);
    return found;
  };
  const whole = new Set(["tr", "select", "summary", "a", "button", "label", "caption", "figcaption", "form", "dl"]);
  const kept = new Set(["title", "desc", "caption", "thead", "summary", "h1", "h2", "h3", "h4"]);
  const count = new Map();
  const walk = (parent, path) => {
    for (const child of [...parent.children]) {
      const key = `${path} ${kind(child)}`, before = count.get(key) ?? 0;
      count.set(key, before + 1);
      if (before >= 2 && !kept.has(child.localName)) child.remove();
      else if (!whole.has(child.localName)) walk(child, number(`${path}>${own(child)}`));
    }
  };
  walk(document.body, 0);
})()
