// SPDX-License-Identifier: Apache-2.0
// Looks at all text that a page shows now, in HTML and in pictures: what is cut off, what is printed over other text, and
// which numbers have their unit, or the rest of a shape, on another line.
//
// A text's place is the box of its letters: a line's box less a sixth above and below, where fonts keep room for accents
// and tails. Two texts overlap if these boxes share more than kSlack pixels both ways. A text is clipped if it leaves the
// page, the picture it is drawn in, an ancestor that hides what overflows, or the path that a picture cuts it with. Not looked at: closed folds, what a script
// has hidden, what is there for screen readers alone (a box of a pixel), and what a reader can scroll to.
(() => {
  const root = document.documentElement, body = document.body ?? root;  // a picture has no body
  const kSlack = 1.5;
  const kSmallest = 7;  // pixels that the letters of a picture must have at least
  const kMargin = 1 / 6;
  const kCell = 96;
  const silent = "script, style, noscript, option, title, desc, template, .skip:not(:focus)";

  const overflow = (element) => {
    const style = getComputedStyle(element);
    return style.overflowX + style.overflowY;
  };
  const kNone = "visiblevisible";  // of nearly all
  const scrolls = (said) => said !== kNone && /auto|scroll/.test(said);
  const clips = (said) => said !== kNone && /hidden|clip/.test(said);

  const boxes = new Map();
  const box = (element) => {
    if (!boxes.has(element)) boxes.set(element, element.getBoundingClientRect());
    return boxes.get(element);
  };

  // The box, on the screen, of what the clip-path of a part of a picture leaves of it.
  function cutBy(element) {
    const id = /url\("?#([^")]+)/.exec(getComputedStyle(element).clipPath)?.[1], shape = id && document.getElementById(id)?.firstElementChild;
    if (!shape) return null;
    const b = shape.getBBox(), matrix = element.getScreenCTM();
    const corners = [[b.x, b.y], [b.x + b.width, b.y], [b.x + b.width, b.y + b.height], [b.x, b.y + b.height]];
    return bounds(corners.map(([x, y]) => new DOMPoint(x, y).matrixTransform(matrix)));
  }

  // The nearest ancestor that scrolls, and those within it that cut off. Kept by element: neighbours share them.
  const surroundings = new Map();
  function around(element) {
    if (!element || element === document.body) return {scroller: null, clippers: []};
    if (surroundings.has(element)) return surroundings.get(element);
    const said = overflow(element);
    let found;
    if (element instanceof SVGSVGElement) {
      const outer = around(element.parentElement);
      found = {...outer, clippers: [...outer.clippers, element]};
    } else if (element instanceof SVGElement) {
      const outer = around(element.parentElement), path = cutBy(element);
      found = path ? {...outer, clippers: [...outer.clippers, element]} : outer;
      if (path) boxes.set(element, path);
    } else if (scrolls(said)) {
      found = {scroller: element, clippers: []};
    } else {
      const outer = around(element.parentElement);
      found = clips(said) ? {...outer, clippers: [...outer.clippers, element]} : outer;
    }
    surroundings.set(element, found);
    return found;
  }

  const bounds = (corners) => ({
    left: Math.min(...corners.map((p) => p.x)), right: Math.max(...corners.map((p) => p.x)),
    top: Math.min(...corners.map((p) => p.y)), bottom: Math.max(...corners.map((p) => p.y)),
  });

  // Text of a picture by the corners of its box, which may be turned.
  function drawn(element) {
    const b = element.getBBox(), matrix = element.getScreenCTM(), trim = b.height * kMargin;
    const at = (x, y) => new DOMPoint(x, y).matrixTransform(matrix);
    const corners = [at(b.x, b.y + trim), at(b.x + b.width, b.y + trim), at(b.x + b.width, b.y + b.height - trim),
      at(b.x, b.y + b.height - trim)];
    const turned = Math.abs(matrix.b) > 1e-6 && Math.abs(matrix.a) > 1e-6;
    const size = parseFloat(getComputedStyle(element).fontSize) * Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c));
    return [{...bounds(corners), corners: turned ? corners : null, size}];
  }

  // A number and what must stay on its line: its unit, or the rest of a shape.
  const kWhole = /\d[\s\u202f](?:[kMGT]?B\/s|B\/clk(?:\/SM)?|[GT]?F?L?OP\/s|[KMGT]iB|B|cycles?|[nµm]s|[MG]Hz|W|pJ|%)(?![\w/])|\d+(?:×\d+)+/g;

  const range = document.createRange();  // one for all: a document keeps every range up to date with each change
  function written(node) {
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter((r) => r.width > 0 && r.height > 0).map((r) => ({
      left: r.left, right: r.right, top: r.top + r.height * kMargin, bottom: r.bottom - r.height * kMargin, corners: null,
    }));
  }

  function* shown() {
    const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
    const visible = new Map();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement, said = node.data.trim();
      if (!said) continue;
      if (!visible.has(parent)) {
        visible.set(parent, !parent.closest(silent) && parent.checkVisibility({visibilityProperty: true, opacityProperty: true}));
      }
      if (!visible.get(parent)) continue;
      const {scroller, clippers} = around(parent);
      if (clippers.some((element) => box(element).width <= 1 && box(element).height <= 1)) continue;
      const inPicture = parent.localName === "text" && parent instanceof SVGElement;
      for (const place of inPicture ? drawn(parent) : written(node)) {
        yield {said, place, parent, scroller, clippers, node};
      }
    }
  }

  const beyond = (inner, outer) =>
    inner.left < outer.left - kSlack || inner.right > outer.right + kSlack || inner.top < outer.top - kSlack ||
    inner.bottom > outer.bottom + kSlack;

  function clipped(text) {
    const cut = text.clippers.find((element) => beyond(text.place, box(element)));
    if (cut) return cut.localName;
    if (text.scroller) return null;
    return text.place.left < -kSlack || text.place.right > root.clientWidth + kSlack ? "page" : null;
  }

  const shared = (a, b) => Math.min(
    Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

  // Of boxes that are turned: is there a line between them, along an edge of either?
  function apart(a, b) {
    const corners = (place) => place.corners ?? [
      {x: place.left, y: place.top}, {x: place.right, y: place.top}, {x: place.right, y: place.bottom},
      {x: place.left, y: place.bottom}];
    const [p, q] = [corners(a), corners(b)];
    for (const of of [p, q]) {
      for (const [i, j] of [[0, 1], [1, 2]]) {
        const x = of[j].y - of[i].y, y = of[i].x - of[j].x, length = Math.hypot(x, y) || 1;
        const along = (points) => points.map((point) => (point.x * x + point.y * y) / length);
        const [s, t] = [along(p), along(q)];
        if (Math.min(Math.max(...s), Math.max(...t)) - Math.max(Math.min(...s), Math.min(...t)) <= kSlack) return true;
      }
    }
    return false;
  }

  // What of a text can be seen without scrolling its box.
  function seen(text) {
    const place = text.place, outer = text.scroller && box(text.scroller);
    return outer ? {...place, left: Math.max(place.left, outer.left), right: Math.min(place.right, outer.right),
      top: Math.max(place.top, outer.top), bottom: Math.min(place.bottom, outer.bottom)} : place;
  }

  function overlapping(texts) {
    const cells = new Map(), found = [];
    texts.forEach((text, index) => {
      const p = text.place;
      for (let x = Math.floor(p.left / kCell); x <= Math.floor(p.right / kCell); ++x) {
        for (let y = Math.floor(p.top / kCell); y <= Math.floor(p.bottom / kCell); ++y) {
          const key = x * 1e6 + y, before = cells.get(key);
          if (before) before.push(index); else cells.set(key, [index]);
        }
      }
    });
    const pairs = new Set();
    for (const inCell of cells.values()) {
      for (let i = 0; i < inCell.length; ++i) {
        for (let j = i + 1; j < inCell.length; ++j) {
          const [a, b] = [texts[inCell[i]], texts[inCell[j]]];
          const same = a.scroller === b.scroller, [p, q] = same ? [a.place, b.place] : [seen(a), seen(b)];
          if (a.said === b.said && Math.abs(p.left - q.left) + Math.abs(p.top - q.top) < 1) continue;  // a halo
          if (shared(p, q) <= kSlack || ((p.corners || q.corners) && apart(p, q))) continue;
          const key = inCell[i] * texts.length + inCell[j];
          if (!pairs.has(key)) found.push([a, b]);
          pairs.add(key);
        }
      }
    }
    return found;
  }

  // The numbers of a text that stand on another line than what belongs to them.
  function parted(node) {
    return [...node.data.matchAll(kWhole)].filter((whole) => {
      range.setStart(node, whole.index);
      range.setEnd(node, whole.index + whole[0].length);
      const tops = [...range.getClientRects()].filter((r) => r.width > 0.5).map((r) => r.top);
      return Math.max(...tops) - Math.min(...tops) > 8;
    }).map(([said]) => said);
  }

  const where = (text) => {
    const near = text.parent.closest("figure, table, section, [id]");
    const name = near?.id || near?.querySelector("caption, figcaption strong, h2, h3")?.textContent || near?.localName || "";
    return `${text.parent.localName} in ${name.trim().slice(0, 60)}`;
  };
  const short = (text) => text.said.replace(/\s+/g, " ").slice(0, 40);

  const texts = [...shown()];
  const byNode = new Map(texts.filter((text) => !(text.parent instanceof SVGElement)).map((text) => [text.node, text]));
  const cut = texts.map((text) => [text, clipped(text)]).filter(([, by]) => by);
  return {
    count: texts.length,
    clipped: cut.map(([text, by]) => `"${short(text)}" is cut off by the ${by} (${where(text)})`),
    small: texts.filter((text) => text.place.size < kSmallest).map(
      (text) => `"${short(text)}" is ${text.place.size.toFixed(1)} pixels high (${where(text)})`),
    overlapping: overlapping(texts).map(([a, b]) => `"${short(a)}" is printed over "${short(b)}" (${where(a)})`),
    parted: [...byNode.values()].flatMap((text) => parted(text.node).map((said) => `"${said}" is on two lines (${where(text)})`)),
    width: root.clientWidth,
    height: root.scrollHeight,
    overflow: root.scrollWidth - root.clientWidth,
  };
})()
