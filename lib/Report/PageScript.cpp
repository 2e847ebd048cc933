//===- PageScript.cpp - The drawings of the page --------------------------===//

#include "PageScript.h"

static constexpr llvm::StringLiteral kStyle = R"css(
.drawing { display: grid; grid-template-columns: minmax(0, 1fr) 320px; }
.drawing aside { margin-left: 10px; }
.drawing .bar { grid-column: 1 / 3; display: flex; align-items: center; flex-wrap: wrap; }
.drawing .bar > * { margin-right: 6px; }
.drawing .bar input { width: 240px; }
.drawing svg { width: 100%; border: 1px solid var(--line); touch-action: none; cursor: grab; }
.drawing aside { border: 1px solid var(--line); padding: 8px; overflow: auto; }
.drawing aside pre { white-space: pre-wrap; overflow-wrap: anywhere; font: 12px monospace; margin: 4px 0; }
.drawing aside pre.grid { white-space: pre; overflow-x: auto; }
.drawing aside button { display: block; width: 100%; text-align: left; }
.drawing .node { cursor: pointer; }
.drawing .type { font-size: 10px; opacity: 0.75; }
.drawing .argument rect { fill: var(--argument); stroke: var(--argument-line); }
.drawing .flow rect { fill: var(--flow); stroke: var(--flow-line); }
.drawing .collective rect { fill: var(--collective); stroke: var(--collective-line); stroke-width: 2; }
.drawing .module rect { stroke-width: 2; }
.drawing .module text { font-weight: bold; }
.drawing .open rect { fill: none; stroke-dasharray: 4 3; }
.drawing path.collective { stroke: var(--collective-line); }
.drawing .chosen rect, .drawing .node:focus rect { stroke: var(--text); stroke-width: 3; }
.drawing .from rect, .drawing path.from { stroke: #2a9d4a; stroke-opacity: 1; }
.drawing .to rect, .drawing path.to { stroke: #2f6fde; stroke-opacity: 1; }
.drawing .dim { opacity: 0.25; }
)css";

// Each drawing has `nodes` (name, kind, module, type, times, details, layouts, row of a collective),
// `edges` [from, to, bytes, value] and `grids`, the layout drawings. Modules are a tree over
// runs of nodes; a closed one is one box. Boxes stand in rows below their operands, and rows wrap at
// the width of the drawing.
static constexpr llvm::StringLiteral kScript = R"js(
'use strict';
const SVG = 'http://www.w3.org/2000/svg';
const BOX = 148, HIGH = 34, SPACE = 10, ROW = 30, LIMIT = 60, SHOWN = 60;

function make(tag, attributes, parent, text) {
  const isSvg = ['svg', 'g', 'rect', 'path', 'text'].includes(tag);
  const e = isSvg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}
const shorten = (text, most) => text.length > most ? text.slice(0, most - 1) + '\u2026' : text;
function inUnits(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (bytes >= 1024 && i < 4) { bytes /= 1024; ++i; }
  return (i ? +bytes.toPrecision(4) : bytes) + ' ' + units[i];
}

// The tree of modules: consecutive nodes of one path are in one group.
function buildTree(nodes) {
  const root = { name: '', children: [], parent: null, open: true };
  let open = [root];
  nodes.forEach((node, i) => {
    const path = node.module ? node.module.split('/') : [];
    let depth = 0;
    while (depth < path.length && depth + 1 < open.length && open[depth + 1].name === path[depth]) ++depth;
    open.length = depth + 1;
    for (; depth < path.length; ++depth) {
      const group = { name: path[depth], children: [], parent: open[depth], open: false };
      open[depth].children.push(group);
      open.push(group);
    }
    open[depth].children.push({ index: i, parent: open[depth] });
  });
  simplify(root, nodes);
  return root;
}
// A group with one group in it is one; a group of one node is the node; long lists are split into stretches.
function simplify(group, nodes) {
  group.children = group.children.map(child => {
    if (!child.children) return child;
    simplify(child, nodes);
    if (child.children.length > 1) return child;
    const only = child.children[0];
    if (only.children) only.name = child.name + '/' + only.name;
    only.parent = group;
    return only;
  });
  const list = group.children;
  if (list.length <= LIMIT) return;
  const size = Math.ceil(list.length / Math.ceil(list.length / (LIMIT / 2)));
  group.children = [];
  for (let i = 0; i < list.length; i += size) {
    const inner = { name: '', children: list.slice(i, i + size), parent: group, open: false };
    inner.children.forEach(child => child.parent = inner);
    const named = inner.children.filter(child => child.children || nodes[child.index].kind !== 'argument');
    const nameOf = child => child.children ? child.name : nodes[child.index].name;
    inner.name = named.length ? nameOf(named[0]) + ' \u2026 ' + nameOf(named[named.length - 1]) : 'arguments';
    group.children.push(inner);
  }
  simplify(group, nodes);
}

function draw(section) {
  const data = JSON.parse(section.querySelector('script').textContent);
  const nodes = data.nodes, edges = data.edges;
  const tree = buildTree(nodes);
  const leaf = [];
  (function collect(item) {
    if (item.children) item.children.forEach(collect); else leaf[item.index] = item;
  })(tree);
  // The outer modules are open while there is space.
  let boxes = tree.children.length;
  for (let work = [...tree.children]; work.length; ) {
    const item = work.shift();
    if (!item.children || boxes + item.children.length - 1 > SHOWN) continue;
    item.open = true;
    boxes += item.children.length - 1;
    work.push(...item.children);
  }

  const box = make('div', { class: 'drawing' }, section);
  const bar = make('div', { class: 'bar' }, box);
  const search = make('input', { type: 'search', placeholder: 'search nodes, types, layouts', 'aria-label': 'search' }, bar);
  const button = (text, label, action) => {
    make('button', { type: 'button', 'aria-label': label, title: label }, bar, text).onclick = action;
  };
  const legend = make('span', {}, bar);
  const svg = make('svg', { tabindex: 0, role: 'group', 'aria-label': 'graph' });
  box.appendChild(svg);
  const panel = make('aside', { 'aria-live': 'polite' }, box);
  let chosen = null, view = null, size = { w: 1, h: 1 };

  // The visible box of a node: its outermost closed module, or itself.
  function visible(index) {
    let seen = leaf[index];
    for (let item = leaf[index].parent; item; item = item.parent) if (!item.open) seen = item;
    return seen;
  }
  const first = item => item.children ? first(item.children[0]) : item.index;

  // Sets the size of an item and the positions of the items in it.
  function layOut(item, width) {
    if (!item.children || !item.open) { item.w = BOX; item.h = HIGH; return; }
    const inner = Math.max(BOX, width - 2 * SPACE);
    item.children.forEach(child => { layOut(child, inner); child.level = 0; child.sources = []; });
    const childOf = index => {
      let child = leaf[index];
      while (child && child.parent !== item) child = child.parent;
      return child;
    };
    const order = new Map(item.children.map((child, i) => [child, i]));
    for (const [from, to] of item.edges) {
      const a = childOf(from), b = childOf(to);
      if (a !== b && order.get(a) < order.get(b)) b.sources.push(a);
    }
    const isArgument = child => !child.children && nodes[child.index].kind === 'argument';
    for (const child of item.children)
      for (const source of child.sources) child.level = Math.max(child.level, source.level + 1);
    for (const child of [...item.children].reverse()) { // arguments stand above their first user
      const uses = item.children.filter(user => isArgument(child) && user.sources.includes(child));
      if (uses.length) child.level = Math.max(0, Math.min(...uses.map(user => user.level)) - 1);
    }
    const levels = [];
    item.children.forEach(child => (levels[child.level] = levels[child.level] || []).push(child));
    let y = item.parent ? 26 : SPACE, most = BOX;
    const rows = [];
    for (const level of levels) {
      if (!level) continue;
      const middle = child => child.sources.length
        ? child.sources.reduce((sum, s) => sum + s.x + s.w / 2, 0) / child.sources.length : 0;
      level.forEach(child => child.goal = middle(child));
      level.sort((a, b) => a.goal - b.goal || order.get(a) - order.get(b));
      let row = [], x = SPACE, high = 0;
      const close = () => {
        rows.push([row, x]);
        most = Math.max(most, x - 2 * SPACE);
        y += high + ROW; row = []; x = SPACE; high = 0;
      };
      for (const child of level) {
        if (row.length && x + child.w > inner + SPACE) close();
        child.x = x; child.y = y;
        x += child.w + SPACE; high = Math.max(high, child.h); row.push(child);
      }
      close();
    }
    item.w = most + 2 * SPACE;
    item.h = y - ROW + SPACE;
    for (const [row, end] of rows) row.forEach(child => child.x += (item.w - end) / 2);
  }
  // Each edge belongs to the innermost module with both ends.
  (function clear(item) { if (item.children) { item.edges = []; item.children.forEach(clear); } })(tree);
  for (const edge of edges) {
    const above = new Set();
    for (let item = leaf[edge[0]].parent; item; item = item.parent) above.add(item);
    let item = leaf[edge[1]].parent;
    while (!above.has(item)) item = item.parent;
    item.edges.push(edge);
  }

  // All nodes that can be reached over edges, without the start.
  function reach(start, from, to) {
    const found = new Set(start), work = [...start], next = nodes.map(() => []);
    for (const edge of edges) next[edge[from]].push(edge[to]);
    while (work.length) for (const i of next[work.pop()]) if (!found.has(i)) { found.add(i); work.push(i); }
    return found;
  }
  const inside = item => item.children ? item.children.flatMap(inside) : [item.index];

  function render(keepView) {
    const width = Math.max(400, svg.getBoundingClientRect().width || 1000);
    layOut(tree, width);
    size = { w: Math.max(tree.w, width - 2), h: tree.h };
    const offset = (size.w - tree.w) / 2;
    svg.textContent = '';
    const high = Math.min(size.h, 900);
    svg.setAttribute('height', high);
    panel.style.maxHeight = Math.max(high, 300) + 'px';
    if (!keepView || !view) view = { x: 0, y: 0, w: size.w, h: high };
    show();
    const backgrounds = make('g', {}, svg), lines = make('g', {}, svg), boxes = make('g', {}, svg);
    const up = chosen && reach(inside(chosen), 1, 0), down = chosen && reach(inside(chosen), 0, 1);
    const shade = list => !chosen ? '' : list.some(i => up.has(i)) ? ' from' : list.some(i => down.has(i)) ? ' to' : ' dim';
    (function setPosition(item, x, y) {
      item.ax = x; item.ay = y;
      if (item.children && item.open) {
        if (item.parent) drawModule(item, backgrounds);
        item.children.forEach(child => setPosition(child, x + child.x, y + child.y));
        return;
      }
      drawBox(item, boxes, item === chosen ? ' chosen' : shade(inside(item)));
    })(tree, offset, 0);
    drawEdges(lines, up, down);
  }
  function drawModule(item, parent) {
    const g = make('g', { class: 'node module open', tabindex: 0, role: 'button', 'aria-expanded': true }, parent);
    make('rect', { x: item.ax, y: item.ay, width: item.w, height: item.h, rx: 6 }, g);
    make('text', { x: item.ax + 8, y: item.ay + 15 }, g, '\u25be ' + shorten(item.name, Math.floor((item.w - 24) / 7.5)));
    act(g, () => { item.open = false; render(true); });
  }
  function drawBox(item, parent, extra) {
    const node = item.children ? null : nodes[item.index];
    const kind = node ? node.kind : 'module';
    const g = make('g', { class: 'node ' + kind + extra, tabindex: 0, role: 'button', 'data-name': node ? node.name : item.name },
                   parent);
    make('rect', { x: item.ax, y: item.ay, width: item.w, height: item.h, rx: 4 }, g);
    let name = node ? node.name : '\u25b8 ' + item.name, below = node ? node.type : '';
    if (!node) {
      g.setAttribute('aria-expanded', false);
      const members = inside(item);
      const moves = members.filter(i => nodes[i].kind === 'collective').length;
      const times = Math.min(...members.map(i => nodes[i].times));
      if (times > 1) name += ' \u00d7' + times;
      below = members.filter(i => nodes[i].kind !== 'argument').length + ' ops' + (moves ? ', ' + moves + ' collectives' : '');
    } else if (node.times > 1) name += ' \u00d7' + node.times;
    make('text', { x: item.ax + 6, y: item.ay + 14 }, g, shorten(name, node ? 22 : 20));
    make('text', { class: 'type', x: item.ax + 6, y: item.ay + 28 }, g, shorten(below, 25));
    act(g, () => {
      if (node) { choose(item); return; }
      item.open = true;
      render(true);
    });
  }
  function act(g, action) {
    g.addEventListener('click', () => { if (!dragged) action(); });
    g.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); event.stopPropagation(); action(); }
    });
  }
  // Edges between the same boxes are one; the width is proportional to the bytes.
  function drawEdges(parent, up, down) {
    const merged = new Map();
    for (const [from, to, bytes, value] of edges) {
      const a = visible(from), b = visible(to);
      if (a === b) continue;
      const key = first(a) + ' ' + first(b);
      if (!merged.has(key)) merged.set(key, { a, b, values: new Map(), moves: false, from: false, to: false });
      const edge = merged.get(key);
      edge.values.set(value, bytes);
      edge.moves = edge.moves || nodes[from].kind === 'collective' || nodes[to].kind === 'collective';
      if (chosen && up.has(to)) edge.from = true;
      if (chosen && down.has(from)) edge.to = true;
    }
    let most = 1;
    for (const edge of merged.values()) {
      edge.bytes = [...edge.values.values()].reduce((sum, bytes) => sum + bytes, 0);
      most = Math.max(most, edge.bytes);
    }
    legend.textContent = 'Width of an edge: bytes on a device; 12 px are ' + inUnits(most) + '.';
    for (const edge of merged.values()) {
      const width = Math.max(0.5, 12 * edge.bytes / most);
      const x1 = edge.a.ax + edge.a.w / 2, y1 = edge.a.ay + edge.a.h, x2 = edge.b.ax + edge.b.w / 2, y2 = edge.b.ay;
      const bend = Math.max(14, Math.min(60, Math.abs(y2 - y1) / 2));
      const shade = !chosen ? '' : edge.from ? ' from' : edge.to ? ' to' : ' dim';
      const path = make('path', {
        d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`, 'data-bytes': edge.bytes,
        class: (edge.moves ? 'collective' : '') + shade, style: 'stroke-width:' + width.toFixed(2)
      }, parent);
      path.addEventListener('click', () => {
        panel.textContent = '';
        make('b', {}, panel, inUnits(edge.bytes) + ' on a device');
        for (const [value, bytes] of edge.values) make('pre', {}, panel, value + '\n' + inUnits(bytes));
      });
    }
  }
  function choose(item) {
    chosen = item;
    const node = nodes[item.index];
    render(true);
    panel.textContent = '';
    make('b', {}, panel, node.name + (node.module ? ' in ' + node.module.replaceAll('/', '.') : ''));
    make('pre', {}, panel, node.details);
    for (const grid of node.grids) make('pre', { class: 'grid' }, panel, data.grids[grid]);
    if (node.row) make('a', { href: '#' + node.row }, panel, 'row of the table');
    make('p', {}, panel, 'Green: where its values come from. Blue: where they go.');
  }
  function find(text) {
    panel.textContent = '';
    text = text.trim().toLowerCase();
    if (!text) { help(); return; }
    const found = nodes.map((node, i) => i).filter(i =>
      (nodes[i].name + ' ' + nodes[i].module + ' ' + nodes[i].details).toLowerCase().includes(text));
    make('p', {}, panel, found.length + ' found' + (found.length > 40 ? ', the first 40:' : ''));
    for (const i of found.slice(0, 40))
      make('button', { type: 'button' }, panel, nodes[i].name + ' \u00b7 ' + nodes[i].type + ' \u00b7 ' + nodes[i].module)
        .onclick = () => go(leaf[i]);
  }
  function go(item) {
    for (let above = item.parent; above; above = above.parent) above.open = true;
    choose(item);
    view.x = item.ax + item.w / 2 - view.w / 2;
    view.y = item.ay + item.h / 2 - view.h / 2;
    show();
  }
  function help() {
    panel.textContent = '';
    make('p', {}, panel, 'Click a module to open or close it, and a node for its layouts and the path of its values. ' +
      'Drag or use arrow keys to move, + and - or Ctrl and the wheel to zoom.');
  }
  function show() { svg.setAttribute('viewBox', `${view.x} ${view.y} ${view.w} ${view.h}`); }
  function zoom(factor) {
    view.x += view.w * (1 - factor) / 2; view.y += view.h * (1 - factor) / 2;
    view.w *= factor; view.h *= factor;
    show();
  }
  function setAll(open) {
    (function each(item) { if (item.children) { item.open = open || !item.parent; item.children.forEach(each); } })(tree);
    chosen = null; render(false);
  }
  let dragged = false, last = null;
  svg.addEventListener('pointerdown', event => { last = event; dragged = false; });
  window.addEventListener('pointerup', () => { last = null; });
  svg.addEventListener('pointermove', event => {
    if (!last) return;
    if (Math.abs(event.clientX - last.clientX) + Math.abs(event.clientY - last.clientY) < 4 && !dragged) return;
    const scale = view.w / svg.getBoundingClientRect().width;
    dragged = true;
    view.x -= (event.clientX - last.clientX) * scale; view.y -= (event.clientY - last.clientY) * scale;
    last = event;
    show();
  });
  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey) return;
    event.preventDefault(); zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15);
  }, { passive: false });
  svg.addEventListener('keydown', event => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) { view.x += step[0] * view.w / 10; view.y += step[1] * view.h / 10; show(); }
    else if (event.key === '+') zoom(1 / 1.25);
    else if (event.key === '-') zoom(1.25);
    else if (event.key === 'Escape') { chosen = null; help(); render(true); }
    else return;
    event.preventDefault();
  });
  search.addEventListener('input', () => find(search.value));
  search.addEventListener('keydown', event => {
    if (event.key === 'Enter' && panel.querySelector('button')) panel.querySelector('button').click();
  });
  button('+', 'zoom in', () => zoom(1 / 1.25));
  button('\u2212', 'zoom out', () => zoom(1.25));
  button('fit', 'show all', () => {
    const scale = Math.max(1, size.h / svg.getBoundingClientRect().height);
    view = { x: (size.w - size.w * scale) / 2, y: 0, w: size.w * scale, h: size.h };
    show();
  });
  button('open all', 'open all modules', () => setAll(true));
  button('fold all', 'fold all modules', () => setAll(false));
  bar.appendChild(legend);
  help();
  render(false);
}
document.querySelectorAll('section.function').forEach(draw);
document.documentElement.dataset.scrollWidth = document.documentElement.scrollWidth;
document.documentElement.dataset.clientWidth = document.documentElement.clientWidth;
)js";

llvm::StringRef mlir::spmd::getPageScript() { return kScript; }
llvm::StringRef mlir::spmd::getPageStyle() { return kStyle; }
