"use strict";
// Shows an explanation of a step. The data are tables (see html_page.py): texts and
// records of nodes by number, and stages that say what they changed.

const WAYS = ["kept", "changed", "folded", "fused", "merged", "replaced", "moved",
  "unread", "fed", "pruned", "taken out", "not known"];
const DARK = new Set(["moved", "pruned", "changed"]);  // want dark letters
const RECEIVES = new Set(["_Recv", "_HostRecv"]);  // they wait for what they receive
const MOST_BOXES = 160;     // of one scope in a drawing; the rest is a list
const MOST_ROWS = 400;
const MOST_LINES = 3000;    // of a program at a time
const NAME = 0, OP = 1, INPUTS = 2, WAITS = 3, OUTPUTS = 4, LINE = 5, DEVICE = 6,
  VALUE = 7;

let D, S;                   // the data, and their texts
let numberOf;               // by text: its number
const state = { tab: "summary", graph: 0, stage: 0, open: new Set(), chosen: null,
  part: "", zoom: null, fit: true, from: 0 };

const $ = (id) => document.getElementById(id);

const colour = (way) => "var(--" + way.replace(" ", "-") + ")";
const colours = (way) => "background:" + colour(way) + ";color:" +
  (DARK.has(way) ? "#000" : "#fff");

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child != null) element.append(child);
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.flat());
  return element;
}

async function read() {
  const packed = Uint8Array.from(atob($("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(
    new DecompressionStream("gzip"));
  D = JSON.parse(await new Response(stream).text());
  S = D.strings;
  numberOf = new Map(S.map((text, i) => [text, i]));
}

// --- graphs ------------------------------------------------------------------------

// The graph after `stage` stages, by number of name: a Map to records.
const played = new Map();
function graphAfter(graph, stage) {
  const key = graph + "/" + stage;
  if (!played.has(key)) {
    const source = D.graphs[graph];
    let nodes;
    if (stage === 0) {
      nodes = new Map(source.build.map((r) => [D.records[r][NAME], D.records[r]]));
    } else {
      nodes = new Map(graphAfter(graph, stage - 1));
      const change = source.stages[stage - 1];
      for (const name of change.removed) nodes.delete(name);
      for (const r of change.set) nodes.set(D.records[r][NAME], D.records[r]);
    }
    if (played.size > 6) played.clear();
    played.set(key, nodes);
  }
  return played.get(key);
}

function currentNodes() {
  if (state.part) {
    return new Map(D.parts[state.part].map((r) => [D.records[r][NAME], D.records[r]]));
  }
  return graphAfter(state.graph, state.stage);
}

// The box in which a node is drawn: itself, or the outermost scope that is closed.
function boxOf(name, names) {
  const parts = name.split("/");
  let path = "";
  for (let i = 0; i < parts.length - 1; i++) {
    path = path ? path + "/" + parts[i] : parts[i];
    if (!state.open.has(path)) return { id: "scope:" + path, scope: path };
  }
  // A node may be called as its scope is.
  return { id: "node:" + name, scope: null };
}

function drawing() {
  const nodes = currentNodes();
  const boxes = new Map(), edges = new Map(), box = new Map();
  for (const [number, record] of nodes) {
    const name = S[number], place = boxOf(name);
    box.set(number, place.id);
    let known = boxes.get(place.id);
    if (!known) {
      boxes.set(place.id, known = { id: place.id, scope: place.scope, name,
        record, count: 0, parent: parentOf(place.scope ?? name) });
    }
    known.count++;
  }
  for (const [number, record] of nodes) {
    for (const [inputs, wait] of [[record[INPUTS], false], [record[WAITS], true]]) {
      for (const input of inputs) {
        const from = box.get(input), to = box.get(number);
        if (from === undefined || from === to) continue;
        const key = from + "\n" + to;
        const edge = edges.get(key) || { from, to, count: 0, wait: true };
        edge.count++;
        edge.wait = edge.wait && wait;
        edges.set(key, edge);
      }
    }
  }
  return { boxes, edges };
}

function parentOf(name) {
  const at = name.lastIndexOf("/");
  const parent = at < 0 ? "" : name.slice(0, at);
  return parent && state.open.has(parent) ? parent : "";
}

function graphView(view) {
  view.append(graphControls());
  const { boxes, edges } = drawing();
  const byParent = new Map();
  for (const one of boxes.values()) {
    if (!byParent.has(one.parent)) byParent.set(one.parent, []);
    byParent.get(one.parent).push(one);
  }
  const shownIds = new Set(), hidden = [];
  for (const list of byParent.values()) {
    // Scopes first: they hold most.
    list.sort((a, b) => (b.scope !== null) - (a.scope !== null) || b.count - a.count);
    list.slice(0, MOST_BOXES).forEach((one) => shownIds.add(one.id));
    hidden.push(...list.slice(MOST_BOXES));
  }
  const shown = [...boxes.values()].filter((one) => shownIds.has(one.id));
  view.append(draw(shown, edges, shownIds));
  if (hidden.length) {
    view.append(make("h3", {}, hidden.length + " more nodes of these scopes"));
    const list = make("ul", {});
    for (const one of hidden.slice(0, MOST_ROWS)) {
      list.append(make("li", {}, nodeLink(numberOf.get(one.name)), " " +
        S[one.record[OP]]));
    }
    view.append(list);
    if (hidden.length > MOST_ROWS) {
      view.append(make("p", {}, "and " + (hidden.length - MOST_ROWS) +
        " more: find them by name"));
    }
  }
}

function graphControls() {
  const graph = D.graphs[state.graph];
  const names = ["build", ...graph.stages.map((s) => s.name)];
  const label = make("output", { id: "stage-name" });
  const tell = () => {
    const change = state.stage ? graph.stages[state.stage - 1] : null;
    label.textContent = state.stage + ": " + names[state.stage] + ", " +
      graphAfter(state.graph, state.stage).size + " nodes" + (change ?
        " (" + change.removed.length + " removed, " + change.added + " added, " +
        (change.set.length - change.added) + " changed)" : "");
  };
  tell();
  const slider = make("input", { type: "range", min: 0, max: names.length - 1,
    value: state.stage, id: "slider", "aria-label": "Stage",
    oninput: (e) => { state.stage = +e.target.value; tell(); },
    onchange: () => { state.part = ""; show(); $("slider").focus(); } });
  const graphs = make("select", { "aria-label": "Graph",
    onchange: (e) => { state.graph = +e.target.value; state.stage = 0; state.part = "";
      show(); } },
    D.graphs.map((g, i) => make("option", { value: i, selected: i === state.graph },
      g.name ? "function " + g.name : "the step")));
  const parts = make("select", { "aria-label": "Part",
    onchange: (e) => { state.part = e.target.value; show(); } },
    make("option", { value: "" }, "whole graph"),
    Object.keys(D.parts).map((device) => make("option",
      { value: device, selected: device === state.part }, "part of " + short(device))));
  const close = make("button", { type: "button", id: "close-all",
    onclick: () => { state.open.clear(); show(); } }, "Close all scopes");
  const fit = make("label", {}, make("input", { type: "checkbox", checked: state.fit,
    onchange: (e) => { state.fit = e.target.checked; show(); } }), " fit the width");
  return make("div", { class: "controls" }, graphs, slider, label, parts, fit, close);
}

function draw(boxes, edges, shownIds) {
  const layout = new dagre.graphlib.Graph({ compound: true });
  layout.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 34, marginx: 8, marginy: 8 });
  layout.setDefaultEdgeLabel(() => ({}));
  const scopes = new Set();
  for (const one of boxes) {
    const text = label(one);
    const width = Math.min(260, 22 + 6.3 * Math.max(text[0].length, text[1].length));
    layout.setNode(one.id, { width, height: 38, one, text });
    for (let parent = one.parent, child = one.id; parent;) {
      const id = "open:" + parent;
      if (!scopes.has(parent)) {
        scopes.add(parent);
        layout.setNode(id, { scope: parent, paddingTop: 20 });
      }
      layout.setParent(child, id);
      child = id;
      parent = parentOf(parent);
    }
  }
  for (const edge of edges.values()) {
    if (shownIds.has(edge.from) && shownIds.has(edge.to)) {
      layout.setEdge(edge.from, edge.to, { edge });
    }
  }
  dagre.layout(layout);
  const { width = 10, height = 10 } = layout.graph();
  // As wide as the view, but readable; what is wider can be scrolled.
  const scale = state.fit ? Math.max(0.5, Math.min(1, ($("view").clientWidth - 34) /
    width)) : 1;
  const picture = svg("svg", { class: "graph", role: "group",
    "aria-label": boxes.length + " boxes", viewBox: "0 0 " + width + " " + height,
    width: width * scale, height: height * scale });
  for (const id of layout.nodes()) {
    const place = layout.node(id);
    if (place.scope) picture.append(openScope(place));
  }
  for (const e of layout.edges()) picture.append(edgeLine(layout.edge(e)));
  for (const id of layout.nodes()) {
    const place = layout.node(id);
    if (place.one) picture.append(box(place));
  }
  return picture;
}

function label(one) {
  if (one.scope !== null) {
    return [last(one.scope), one.count + (one.count === 1 ? " node" : " nodes")];
  }
  return [last(one.name), S[one.record[OP]]];
}

function box(place) {
  const { one, text } = place;
  const isScope = one.scope !== null;
  const number = numberOf.get(one.name);
  const act = () => {
    if (isScope) { state.open.add(one.scope); show(); } else choose(number);
  };
  const chosen = !isScope && number === state.chosen;
  const group = svg("g", { class: "box" + (isScope ? " scope" : "") +
      (chosen ? " chosen" : ""),
    tabindex: 0, role: "button", "data-name": isScope ? one.scope : one.name,
    "aria-label": (isScope ? "open the scope " : "") + text.join(", "),
    onclick: act,
    onkeydown: (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault();
      act(); } } });
  const x = place.x - place.width / 2, y = place.y - place.height / 2;
  group.append(svg("rect", { x, y, width: place.width, height: place.height }));
  const title = svg("title", {});
  title.textContent = isScope ? one.scope : one.name + ": " + S[one.record[OUTPUTS]];
  group.append(title);
  text.forEach((line, i) => {
    const element = svg("text", { x: x + 8, y: y + 15 + 15 * i });
    element.textContent = line.length > 38 ? line.slice(0, 36) + "…" : line;
    group.append(element);
  });
  const fate = !isScope && state.graph === 0 && D.fates[number];
  if (fate) {
    group.append(svg("rect", { x: x + place.width - 12, y: y + 5, width: 7, height: 7,
      style: "fill: " + colour(S[fate[0]]) }));
  }
  return group;
}

function openScope(place) {
  const x = place.x - place.width / 2, y = place.y - place.height / 2;
  const close = () => {
    for (const scope of [...state.open]) {
      if (scope === place.scope || scope.startsWith(place.scope + "/")) {
        state.open.delete(scope);
      }
    }
    show();
  };
  const group = svg("g", { class: "box open", tabindex: 0, role: "button",
    "aria-label": "close the scope " + place.scope, onclick: close,
    onkeydown: (e) => { if (e.key === "Enter") close(); } });
  group.append(svg("rect", { x, y, width: place.width, height: place.height }));
  const text = svg("text", { x: x + 6, y: y + 12 });
  text.textContent = "− " + place.scope;
  group.append(text);
  return group;
}

function edgeLine(line) {
  const path = line.points.map((p, i) => (i ? "L" : "M") + p.x + " " + p.y).join("");
  return svg("path", { d: path, class: line.edge.wait ? "wait" : "data",
    style: "stroke-width:" + Math.min(4, 1 + Math.log2(line.edge.count) / 2) });
}

// --- tables -------------------------------------------------------------------------

function summaryView(view) {
  const total = Object.values(D.counts).reduce((a, b) => a + b, 0);
  for (const note of D.notes) view.append(make("p", { class: "note" }, note));
  view.append(make("h2", {}, "What became of the " + total + " nodes of the graph"));
  const bar = make("div", { class: "bar", role: "img", "aria-label": WAYS.map((way) =>
    D.counts[way] + " " + way).join(", ") });
  for (const way of WAYS) {
    if (D.counts[way]) {
      bar.append(make("span", { style: "flex:" + D.counts[way] +
        ";" + colours(way), title: D.counts[way] + " " + way }, way + " " + D.counts[way]));
    }
  }
  view.append(bar);
  const rows = D.graphs[0].stages.map((stage, i) => ({ stage, i }));
  view.append(make("h3", {}, "Stages"), table(
    ["stage", "#nodes", "#removed", "#added", "#changed", "#ms"],
    [{ cells: ["build", D.graphs[0].build.length, "", "", "", ""], go: 0 },
      ...rows.map(({ stage, i }) => ({
        cells: [stage.name, graphSize(i + 1), stage.removed.length, stage.added,
          stage.set.length - stage.added, (stage.seconds * 1e3).toFixed(2)],
        empty: !stage.removed.length && !stage.set.length, go: i + 1 }))]
      .map((row) => ({ ...row, cells: [make("button", { class: "link", type: "button",
        onclick: () => { state.stage = row.go; state.graph = 0; state.part = "";
          select("graph"); } }, row.cells[0]), ...row.cells.slice(1)] }))));
  for (const way of WAYS) {
    const names = Object.keys(D.fates).filter((n) => S[D.fates[n][0]] === way);
    if (!names.length) continue;
    const details = make("details", {}, make("summary", {}, names.length + " " + way));
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      details.append(table(["node", "stage", "rule", "by", "why"],
        names.slice(0, MOST_ROWS).map((n) => {
          const fate = D.fates[n];
          return { cells: [nodeLink(+n), S[fate[1]], S[fate[2]],
            fate[3].map((b) => nodeLink(b)), S[fate[4]]] };
        })));
      if (names.length > MOST_ROWS) {
        details.append(make("p", {}, "and " + (names.length - MOST_ROWS) + " more"));
      }
    });
    view.append(details);
  }
}

const sizes = new Map();
function graphSize(stage) {
  if (!sizes.size) {
    let count = D.graphs[0].build.length;
    D.graphs[0].stages.forEach((s, i) => {
      count += s.added - s.removed.length;
      sizes.set(i + 1, count);
    });
  }
  return sizes.get(stage);
}

function passesView(view) {
  view.append(make("h2", {}, "What each pass did"));
  for (const graph of D.graphs) {
    for (const stage of graph.stages) {
      if (!stage.removed.length && !stage.set.length && !stage.rewrites.length) continue;
      const details = make("details", { "data-stage": stage.name }, make("summary", {},
        stage.name + (graph.name ? " in " + graph.name : "") + ": " +
        stage.removed.length + " removed, " + stage.added + " added, " +
        (stage.set.length - stage.added) + " changed"));
      details.addEventListener("toggle", () => {
        if (details.childElementCount === 1) details.append(...stageTables(stage));
      });
      view.append(details);
    }
  }
}

function stageTables(stage) {
  const why = new Map();
  for (const [kind, node, by, rule] of stage.rewrites) {
    why.set(node, [S[kind] + (S[rule] ? " (" + S[rule] + ")" : "") + " by ",
      ...by.map((b) => nodeLink(b))]);
  }
  const removed = stage.removed.slice(0, MOST_ROWS).map((n) =>
    ({ cells: ["−", nodeLink(n), why.get(n) || ""] }));
  const changed = stage.changes.slice(0, MOST_ROWS).map(([n, texts]) =>
    ({ cells: ["~", nodeLink(n), texts.join("; ")] }));
  return [table(["", "node", "how"], [...removed, ...changed])];
}

function devicesView(view) {
  view.append(make("h2", {}, "Where nodes run, and what crosses"));
  view.append(table(["device", "#nodes"], Object.entries(D.parts).map(([d, nodes]) =>
    ({ cells: [d, nodes.length] }))));
  view.append(make("h3", {}, D.transfers.length + " transfers, the largest first"));
  const ranked = [...D.transfers].sort((a, b) => (b[5] || 0) - (a[5] || 0));
  view.append(table(["tensor", "from", "to", "dtype", "shape", "#bytes", "#us"],
    ranked.slice(0, MOST_ROWS).map((t) => ({ cells: [make("button", { class: "link",
      type: "button", onclick: () => choose(t[7]) }, t[0]), short(t[1]), short(t[2]),
      t[3], t[4], t[5] == null ? "?" : t[5],
      t[6] == null ? "" : (t[6] * 1e6).toFixed(1)] }))));
  const reasons = new Map();
  for (const [node, device, reason] of D.placements) {
    const key = S[device] + "\n" + S[reason];
    if (!reasons.has(key)) reasons.set(key, []);
    reasons.get(key).push(node);
  }
  view.append(make("h3", {}, "Why"));
  view.append(table(["device", "reason", "#nodes", "such as"],
    [...reasons].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_ROWS)
      .map(([key, nodes]) => ({ cells: [short(key.split("\n")[0]), key.split("\n")[1],
        nodes.length, nodes.slice(0, 3).map((n) => nodeLink(n))] }))));
}

function programView(view) {
  view.append(make("h2", {}, "The generated program, beside the program's lines"));
  for (const program of D.programs) {
    view.append(make("h3", {}, program.device));
    const pre = make("pre", { class: "program" });
    const first = program.lines.length > MOST_LINES ? firstLine(program) : 0;
    const lines = program.lines.slice(first, first + MOST_LINES);
    lines.forEach(([text, node, source], at) => {
      const i = first + at;
      const row = make("span", { class: "row" + (node && node === state.chosen ?
        " chosen" : "") }, make("span", { class: "n" }, String(i + 1)),
        make("span", {}, text), S[node] ? make("span", {}, nodeLink(node),
          " " + S[source].split("/").pop()) : "");
      pre.append(row);
    });
    view.append(pre);
    if (program.lines.length > lines.length) {
      view.append(make("p", {}, "Lines " + (first + 1) + " to " + (first +
        lines.length) + " of " + program.lines.length + ". "), ...[-1, 1].map((by) =>
        make("button", { type: "button", onclick: () => {
          state.chosen = null;
          state.from = first + by * MOST_LINES;
          show();
        } }, by < 0 ? "Earlier lines" : "Later lines")));
    }
  }
}

// From where a long program is shown: around the chosen node, or as one went on.
function firstLine(program) {
  const chosen = program.lines.findIndex(([, node]) => node && node === state.chosen);
  const from = chosen >= 0 ? chosen - 100 : state.from;
  return Math.max(0, Math.min(program.lines.length - MOST_LINES, from));
}

function showChosenLine() {
  document.querySelector("span.row.chosen")?.scrollIntoView({ block: "center" });
}

function memoryView(view) {
  view.append(make("h2", {}, "Memory of the step's values"));
  if (!D.memory.devices.length) {
    view.append(make("p", {}, "The step was not run: nothing was measured."));
    return;
  }
  for (const one of D.memory.devices) {
    view.append(make("h3", {}, one.device));
    view.append(make("p", {}, "peak " + bytes(one.peak) + " after ",
      nodeLink(one.peak_node), "; " + bytes(one.held) +
      " of variables, feeds and constants beside it"));
    view.append(memoryChart(one));
    view.append(table(["at the peak", "#bytes"], one.peak_values.map(([name, size]) =>
      ({ cells: [nodeLink(numberOf.get(name.slice(0, name.lastIndexOf(":"))), name),
        size] }))));
  }
  const largest = [...D.memory.values].sort((a, b) => b[6] - a[6]).slice(0, 100);
  view.append(make("h3", {}, "The largest values"));
  view.append(table(["value", "memory", "dtype", "shape", "#bytes", "variable", "#made",
    "#dropped"], largest.map((v) => ({ cells: [nodeLink(v[0], S[v[0]] + ":" + v[1]),
    v[3] || "none", v[4], "[" + v[5] + "]", v[6], v[7], v[8] || "",
    v[9] || (v[8] ? "end" : "")] }))));
}

function memoryChart(one) {
  const canvas = make("canvas", { height: 140, role: "img",
    "aria-label": "bytes over the step; peak " + one.peak });
  requestAnimationFrame(() => {
    const draw2d = sized(canvas, 140), width = canvas.clientWidth;
    const end = one.timeline.at(-1)[0] || 1;
    draw2d.fillStyle = "#0072b2";
    let before = 0, size = 0;
    for (const [at, , now] of [...one.timeline, [end, 0, 0]]) {
      const height = size / (one.peak || 1) * 120;
      draw2d.fillRect(before, 138 - height, Math.max(1, at / end * width - before),
        height);
      before = at / end * width;
      size = now;
    }
    draw2d.fillStyle = "#1b1b1b";
    draw2d.fillText(bytes(one.peak), 4, 12);
  });
  return canvas;
}

// --- timeline -----------------------------------------------------------------------

function timelineView(view) {
  view.append(make("h2", {}, "The traced step"));
  if (!D.trace.length) {
    view.append(make("p", {}, "The step was not run: nothing was traced."));
    return;
  }
  const rows = [], rowOf = new Map();
  for (const run of D.trace) {
    const key = run[2] + "/" + run[3];
    if (!rowOf.has(key)) { rowOf.set(key, rows.length); rows.push(run); }
  }
  const end = Math.max(...D.trace.map((run) => run[4] + run[5]), 1);
  const [from, to] = state.zoom || [0, end];
  const height = 40 + rows.length * 44;
  const canvas = make("canvas", { height, tabindex: 0, role: "img",
    "aria-label": D.trace.length + " runs of nodes in " + end.toFixed(0) +
      " microseconds; arrow keys move, plus and minus zoom" });
  const zoom = (middle, factor) => {
    const length = Math.min(end, (to - from) * factor);
    const start = Math.max(0, Math.min(end - length,
      middle - (middle - from) * factor));
    state.zoom = [start, start + length];
    show();
    document.querySelector("canvas").focus();
  };
  const at = (x) => from + x / canvas.clientWidth * (to - from);
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom(at(e.offsetX), e.deltaY > 0 ? 1.3 : 1 / 1.3);
  });
  canvas.addEventListener("keydown", (e) => {
    const step = (to - from) / 5;
    if (e.key === "+") zoom((from + to) / 2, 0.5);
    else if (e.key === "-") zoom((from + to) / 2, 2);
    else if (e.key === "ArrowRight") move(step);
    else if (e.key === "ArrowLeft") move(-step);
  });
  const move = (by) => {
    const start = Math.max(0, Math.min(end - (to - from), from + by));
    state.zoom = [start, start + to - from];
    show();
    document.querySelector("canvas").focus();
  };
  canvas.addEventListener("click", (e) => {
    const row = Math.floor((e.offsetY - 30) / 44), time = at(e.offsetX);
    const hit = D.trace.filter((run) => rowOf.get(run[2] + "/" + run[3]) === row &&
      run[4] <= time && time <= run[4] + Math.max(run[5], (to - from) / 400));
    if (hit.length) choose(hit.at(-1)[0]);
  });
  requestAnimationFrame(() => drawTimeline(canvas, height, rows, rowOf, from, to));
  view.append(canvas);
  const slow = new Map();
  for (const run of D.trace) {
    const known = slow.get(run[0]) || { name: run[0], op: S[run[1]], runs: 0, us: 0 };
    known.runs++;
    known.us += run[5];
    slow.set(run[0], known);
  }
  const ranked = [...slow.values()].sort((a, b) => b.us - a.us);
  const waits = ranked.filter((one) => RECEIVES.has(one.op));
  const work = ranked.filter((one) => !RECEIVES.has(one.op));
  const sum = (list) => list.reduce((us, one) => us + one.us, 0), busy = sum(work);
  const row = (one) => [nodeLink(one.name), one.op, one.runs, one.us.toFixed(1)];
  view.append(make("h3", {}, "The step took " + end.toFixed(1) + " us; its nodes " +
    busy.toFixed(1) + " us in all"));
  view.append(table(["node", "op", "#runs", "#us", "#share"], work.slice(0, 200).map(
    (one) => ({ cells: [...row(one), (100 * one.us / busy).toFixed(1) + " %"] }))));
  if (waits.length) {
    view.append(make("h3", {}, "Waits for other devices, " + sum(waits).toFixed(1) +
      " us in all"));
    view.append(table(["node", "op", "#runs", "#us"], waits.slice(0, 200).map((one) =>
      ({ cells: row(one) }))));
  }
}

function sized(canvas, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = height * scale;
  const draw2d = canvas.getContext("2d");
  draw2d.scale(scale, scale);
  draw2d.font = "11px system-ui, sans-serif";
  return draw2d;
}

function drawTimeline(canvas, height, rows, rowOf, from, to) {
  const draw2d = sized(canvas, height), width = canvas.clientWidth;
  canvas.style.height = height + "px";
  const x = (time) => (time - from) / (to - from) * width;
  draw2d.fillStyle = "#5a5a5a";
  for (let i = 0; i <= 8; i++) {
    const time = from + (to - from) * i / 8;
    draw2d.fillText(time.toFixed(to - from < 20 ? 2 : 0) + " us", i / 8 * width + 2, 11);
    draw2d.fillRect(i / 8 * width, 14, 1, height);
  }
  rows.forEach((run, i) => draw2d.fillText(short(S[run[2]]) + ", thread " + run[3], 4,
    27 + i * 44));
  const colours = ["#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00"];
  const ends = new Map();
  for (const run of D.trace) {
    ends.set(run[0] + "@" + run[2], run);
    const left = x(run[4]), right = Math.max(left + 1, x(run[4] + run[5]));
    if (right < 0 || left > width) continue;
    const top = 32 + rowOf.get(run[2] + "/" + run[3]) * 44;
    draw2d.fillStyle = run[0] === state.chosen ? "#000" : colours[run[1] % 6];
    draw2d.fillRect(left, top, right - left, 24);
    if (right - left > 40) {
      draw2d.fillStyle = "#fff";
      draw2d.fillText(last(S[run[0]]).slice(0, (right - left) / 6.5), left + 3, top + 16);
    }
  }
  // Transfers: from the end of what is sent to the end of its receipt.
  draw2d.strokeStyle = "#000";
  for (const t of D.transfers) {
    const recv = ends.get(t[7] + "@" + (numberOf.get(t[2]) ?? -1));
    const send = ends.get((numberOf.get(S[t[7]].replace(/_recv$/, "")) ?? -1) + "@" +
      (numberOf.get(t[1]) ?? -1));
    if (!recv || !send) continue;
    const y = (run) => 44 + rowOf.get(run[2] + "/" + run[3]) * 44;
    draw2d.beginPath();
    draw2d.moveTo(x(send[4] + send[5]), y(send));
    draw2d.lineTo(x(recv[4] + recv[5]), y(recv));
    draw2d.stroke();
    draw2d.fillStyle = "#000";
    draw2d.fillRect(x(recv[4] + recv[5]) - 2, y(recv) - 2, 5, 5);
  }
}

// --- one node -----------------------------------------------------------------------

function life(number) {
  const events = [];
  const tell = (stage, ...text) => events.push([stage, text]);
  for (const graph of D.graphs) {
    const built = graph.build.map((r) => D.records[r]).find((r) => r[NAME] === number);
    const where = graph.name ? " in " + graph.name : "";
    if (built && !graph.name) {
      tell("build", S[built[OP]], "(", links(built[INPUTS]), S[built[VALUE]], ") -> ",
        S[built[OUTPUTS]]);
      if (built[WAITS].length) tell("build", "waits for ", links(built[WAITS]));
      if (S[built[LINE]]) tell("build", "made at " + S[built[LINE]]);
      if (S[built[DEVICE]]) tell("build", "its device field is " + S[built[DEVICE]]);
    }
    for (const stage of graph.stages) {
      for (const [kind, node, by, rule] of stage.rewrites) {
        const how = S[kind] + (S[rule] ? " by the rule " + S[rule] : "");
        if (node === number) tell(stage.name + where, how + ": ", links(by),
          " stands in for it");
        else if (by.includes(number)) tell(stage.name + where, "stands in for ",
          nodeLink(node), " (" + how + ")");
      }
      if (stage.removed.includes(number)) tell(stage.name + where, "removed");
      for (const [node, texts] of stage.changes) {
        if (node === number) texts.forEach((text) => tell(stage.name + where, text));
      }
    }
  }
  for (const [node, device, reason] of D.placements) {
    if (node === number) tell("place", "on " + S[device] + ": " + S[reason]);
  }
  for (const t of D.transfers) {
    if (t[7] === number) tell("partition", t[0] + " from " + short(t[1]) + " to " +
      short(t[2]) + ", " + t[3] + " " + t[4] + ", " + (t[5] ?? "?") + " bytes");
  }
  D.programs.forEach((program) => program.lines.forEach(([text, node], i) => {
    if (node === number) tell("compile", short(program.device) + " line " + (i + 1) +
      ": ", make("code", {}, text.trim()));
  }));
  for (const v of D.memory.values) {
    if (v[0] === number) tell("run", "output " + v[1] + ": " + v[4] + "[" + v[5] + "], " +
      bytes(v[6]) + " in " + (v[3] === "?" ? "untold" : v[3] || "no") + " memory" + (v[7] ? ", " + v[7] +
      " made in line " + v[8] + (v[9] ? ", dropped in line " + v[9] :
        ", kept to the end") : ""));
  }
  let runs = 0, us = 0;
  for (const run of D.trace) if (run[0] === number) { runs++; us += run[5]; }
  if (runs) tell("run", "took " + us.toFixed(1) + " us in " + runs + " run" +
    (runs > 1 ? "s" : ""));
  return events;
}

function links(numbers) {
  return numbers.flatMap((n, i) => i ? [", ", nodeLink(n)] : [nodeLink(n)]);
}

function choose(number) {
  if (number == null) return;
  state.chosen = number;
  const aside = $("node"), fate = D.fates[number];
  aside.replaceChildren(make("h2", {}, S[number]));
  if (fate) {
    const way = S[fate[0]];
    aside.append(make("p", {}, make("span", { class: "chip", style: colours(way) },
      way), " ",
      S[fate[1]] ? "by " + S[fate[1]] + (S[fate[2]] ? " (" + S[fate[2]] + ") " : " ") : "",
      fate[3].length ? ["into ", ...links(fate[3]), " "] : "", S[fate[4]]));
  }
  const list = make("ul", { class: "life" });
  for (const [stage, text] of life(number)) {
    list.append(make("li", {}, make("b", {}, stage + "  "), ...text.flat()));
  }
  aside.append(list, make("p", {}, make("button", { type: "button",
    onclick: () => reveal(number) }, "Show in the graph")));
  aside.scrollTop = 0;
  document.querySelectorAll("g.box.chosen").forEach((g) => g.classList.remove("chosen"));
  document.querySelectorAll("g.box").forEach((g) => {
    if (g.dataset.name === S[number] && !g.classList.contains("scope")) {
      g.classList.add("chosen");
    }
  });
}

// Opens the scopes around a node, at the last stage that has it.
function reveal(number) {
  const parts = S[number].split("/");
  for (let i = 1; i < parts.length; i++) state.open.add(parts.slice(0, i).join("/"));
  state.part = "";
  if (!graphAfter(state.graph, state.stage).has(number)) {
    for (let g = 0; g < D.graphs.length; g++) {
      for (let i = D.graphs[g].stages.length; i >= 0; i--) {
        if (graphAfter(g, i).has(number)) {
          state.graph = g;
          state.stage = i;
          select("graph");
          return;
        }
      }
    }
  }
  select("graph");
}

// --- page ---------------------------------------------------------------------------

function nodeLink(number, text) {
  if (number == null || !S[number]) return text || "";
  return make("button", { class: "link", type: "button", onclick: () => choose(number) },
    text || S[number]);
}

function table(head, rows) {
  const isNumber = head.map((h) => h.startsWith("#"));
  const cell = (tag, content, i) => make(tag, { class: isNumber[i] ? "number" : null },
    Array.isArray(content) ? content.flatMap((c, k) => k && c instanceof Node ?
      [" ", c] : [c]) : content instanceof Node ? content : String(content));
  return make("table", {},
    make("thead", {}, make("tr", {}, head.map((h, i) => cell("th",
      isNumber[i] ? h.slice(1) : h, i)))),
    make("tbody", {}, rows.map((row) => make("tr", { class: row.empty ? "empty" : null },
      row.cells.map((c, i) => cell("td", c, i))))));
}

const last = (name) => name.slice(name.lastIndexOf("/") + 1);
const short = (device) => device.replace("/job:localhost/replica:0/task:0", "")
  .replace("/replica:0", "").replace("/device:", "");
const bytes = (n) => n < 10000 ? n + " bytes" : n < 1e7 ? (n / 1e3).toFixed(1) + " kB" :
  (n / 1e6).toFixed(1) + " MB";

const VIEWS = { summary: summaryView, graph: graphView, passes: passesView,
  devices: devicesView, program: programView, timeline: timelineView,
  memory: memoryView };

function show() {
  const view = $("view");
  view.replaceChildren();
  VIEWS[state.tab](view);
  for (const tab of $("tabs").children) {
    const chosen = tab.id === "tab-" + state.tab;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  view.setAttribute("aria-labelledby", "tab-" + state.tab);
  document.body.dataset.tab = state.tab;
  if (state.tab === "program") showChosenLine();
}

function select(tab) {
  state.tab = tab;
  show();
}

function makeTabs() {
  const names = Object.keys(VIEWS);
  for (const name of names) {
    $("tabs").append(make("button", { role: "tab", type: "button", id: "tab-" + name,
      "aria-controls": "view", onclick: () => select(name),
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        const next = names[(names.indexOf(name) + step + names.length) % names.length];
        select(next);
        $("tab-" + next).focus();
      } }, name));
  }
}

let names = null;
function search() {
  const text = $("query").value.toLowerCase(), found = $("found");
  found.replaceChildren();
  if (!names) {
    const all = new Map();
    for (const record of D.records) if (!all.has(record[NAME])) all.set(record[NAME], record);
    names = [...all].map(([n, r]) => [n, S[n].toLowerCase(), S[r[OP]].toLowerCase(), r]);
  }
  if (text) {
    let count = 0;
    for (const [number, name, op, record] of names) {
      if (!name.includes(text) && op !== text) continue;
      if (++count > 50) break;
      found.append(make("li", { role: "option", "data-number": number,
        "aria-selected": count === 1, onmousedown: (e) => { e.preventDefault();
          pick(number); } }, S[number] + "  (" + S[record[OP]] + ")"));
    }
    if (!count) found.append(make("li", {}, "no node of that name or op"));
    if (count > 50) found.append(make("li", {}, "more: type more of the name"));
  }
  found.hidden = !text;
}

function pick(number) {
  $("found").hidden = true;
  choose(number);
}

function makeSearch() {
  const query = $("query");
  query.addEventListener("input", search);
  query.addEventListener("blur", () => { $("found").hidden = true; });
  $("search").addEventListener("submit", (e) => e.preventDefault());
  query.addEventListener("keydown", (e) => {
    const items = [...$("found").querySelectorAll("[role=option]")];
    const now = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    if (e.key === "Enter" && items[now]) pick(+items[now].dataset.number);
    else if (e.key === "Escape") $("found").hidden = true;
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      const next = Math.max(0, Math.min(items.length - 1,
        now + (e.key === "ArrowDown" ? 1 : -1)));
      items.forEach((item, i) => item.setAttribute("aria-selected", i === next));
      items[next]?.scrollIntoView({ block: "nearest" });
    }
  });
}

// `#graph&node=NAME&stage=2&open=a,a/b` shows that at once.
function fromAddress() {
  const [tab, ...rest] = decodeURIComponent(location.hash.slice(1)).split("&");
  const options = Object.fromEntries(rest.map((one) => one.split("=")));
  if (VIEWS[tab]) state.tab = tab;
  if (options.part) state.part = options.part;
  if (options.stage) state.stage = Math.min(+options.stage, D.graphs[0].stages.length);
  for (const scope of (options.open || "").split(",")) if (scope) state.open.add(scope);
  return numberOf.get(options.node);
}

read().then(() => {
  $("signature").textContent = [...D.fetches, ...D.targets].join(", ") +
    (D.feeds.length ? " from " + D.feeds.join(", ") : "");
  makeTabs();
  makeSearch();
  const node = fromAddress();
  if (node !== undefined) choose(node);
  show();
  window.addEventListener("resize", show);
  document.body.dataset.ready = "yes";
}).catch((error) => {
  $("loading").textContent = "The data of this page cannot be read: " + error;
});
