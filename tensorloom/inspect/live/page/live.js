"use strict";
// Draws the state of a cluster anew whenever the server sends one.

const VIEWS = {
  tasks: showTasks, sessions: showSessions, waits: showWaits, traffic: showTraffic,
  variables: showVariables, errors: showErrors,
};
const LONG_S = 5;  // a wait that is shown as long
let state = { tasks: [] };
let chosen = "tasks";

function make(tag, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) {
    element.setAttribute(name, value);
  }
  return element;
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) { count /= 1024; unit += 1; }
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`;
}

const seconds = (s) => (s < 100 ? `${s.toFixed(1)} s` : `${Math.round(s)} s`);
const each = (field) => state.tasks.flatMap(
  (task) => (task[field] || []).map((entry) => ({ task: task.name, ...entry })));
const sum = (values) => values.reduce((a, b) => a + b, 0);

// A table; a cell is a text, or [text, class].
function table(caption, heads, rows, nothing) {
  const section = document.createDocumentFragment();
  section.append(make("h3", caption));
  const element = make("table");
  const head = element.createTHead().insertRow();
  for (const text of heads) head.append(make("th", text, { scope: "col" }));
  const body = element.createTBody();
  for (const cells of rows) {
    const row = body.insertRow();
    for (const cell of cells) {
      const [text, kind] = Array.isArray(cell) ? cell : [cell, ""];
      row.append(make("td", text, kind ? { class: kind } : {}));
    }
  }
  if (!rows.length) {
    const row = body.insertRow();
    row.className = "empty";
    row.append(make("td", nothing, { colspan: heads.length }));
  }
  section.append(element);
  return section;
}

const long = (s) => [seconds(s), s >= LONG_S ? "number bad" : "number"];

function showTasks() {
  const sessions = each("sessions");
  const waits = each("waits");
  const tiles = make("div");
  const facts = {
    "tasks that answer": `${state.tasks.filter((t) => !t.unreachable).length} of ${
      state.tasks.length}`,
    "steps a second": sum(sessions.map((s) => s.steps_per_s)).toFixed(1),
    sessions: sessions.length,
    "tensors waited for": waits.length,
    "variables": bytes(sum(each("variables").map((v) => v.bytes))),
    errors: each("errors").length,
  };
  for (const [name, value] of Object.entries(facts)) {
    const tile = make("div", null, { class: "tile" });
    tile.append(make("b", value), make("span", name));
    tiles.append(tile);
  }
  const rows = state.tasks.map((task) => task.unreachable
    ? [task.name, ["does not answer", "bad"], "", "", "", task.unreachable]
    : [task.name, task.address, String(task.process), seconds(task.up_s),
      String(task.sessions.length),
      task.devices.map((d) => d.name.split("/device:").pop()).join(", ")]);
  return [tiles, table("Tasks",
    ["task", "address", "process", "up", "sessions of its master", "devices"], rows,
    "There are no tasks")];
}

function showSessions() {
  const sessions = each("sessions");
  const running = sessions.flatMap((s) => s.running.map(
    (step) => [s.task, s.session, step.step, long(step.for_s)]));
  return [
    table("Sessions", ["master", "session", "steps", "steps a second", "failed", "nodes",
      "prepared steps", "tasks"],
    sessions.map((s) => [s.task, s.session, [String(s.steps), "number"],
      [s.steps_per_s.toFixed(1), "number"], [String(s.failed), "number"],
      [String(s.nodes), "number"], [String(s.prepared), "number"],
      String(s.tasks.length)]), "No session is open"),
    table("Steps that run now", ["master", "session", "fetches and targets", "for"],
      running, "No step runs"),
  ];
}

// Who stands in line at a queue: a step's number is that of its waits for tensors.
function waiting(queue) {
  const all = queue.waiting_to_enqueue + queue.waiting_to_dequeue;
  const told = (queue.waiting || []).map((w) => `${w.node || "?"} of step ${w.step}`);
  const more = all - told.length;
  return told.join(", ") + (told.length && more > 0 ? ` and ${more} more` : "");
}

// Who has a lock or waits for it: a node of a step of a session, or a process.
function user(of) {
  if (of.process) return of.process;
  const step = of.step ? ` of step ${of.step}` : "";
  return (of.node || "?") + step + (of.session ? `, session ${of.session}` : "");
}

const heldFor = (lock) => (lock.holder ? lock.holder.for_s : 0);

function showWaits() {
  const waits = each("waits").sort((a, b) => b.for_s - a.for_s);
  const queues = each("queues").sort((a, b) => b.for_s - a.for_s);
  const locks = each("locks").sort((a, b) => heldFor(b) - heldFor(a));
  return [
    table("Tensors that somebody waits for",
      ["waits", "for", "tensor", "from", "frame:iteration", "step"],
      waits.map((w) => [w.to, long(w.for_s), w.tensor, w.from,
        `${w.frame}:${w.iteration}`, String(w.step)]), "Nobody waits for a tensor"),
    table("Queues", ["task", "queue", "kind", "elements", "capacity", "wait to enqueue",
      "wait to dequeue", "for", "who waits"],
    queues.map((q) => [q.task, q.name, q.kind + (q.closed ? " (closed)" : ""),
      [String(q.size), "number"], [q.capacity < 0 ? "any" : String(q.capacity), "number"],
      [String(q.waiting_to_enqueue), "number"], [String(q.waiting_to_dequeue), "number"],
      q.for_s ? long(q.for_s) : "", waiting(q)]), "There are no queues"),
    table("Locks of variables, critical sections and of the lock service",
      ["task", "lock", "kind", "held by", "for", "who waits"],
      locks.map((l) => [l.task, l.name, l.kind,
        l.holder ? user(l.holder) : "nobody", l.holder ? long(l.holder.for_s) : "",
        l.waiting.map((w) => `${user(w)} for ${seconds(w.for_s)}`).join(", ")]),
      "No lock is held"),
  ];
}

function showTraffic() {
  const rows = state.tasks.flatMap((task) => Object.entries(task.sent_bytes || {}).map(
    ([way, count]) => [task.name, way, [bytes(count), "number"],
      [seconds((task.sending_s || {})[way] || 0), "number"],
      [`${bytes(Math.round(task.bytes_per_s[way]))}/s`, "number"]]));
  return [table("Bytes sent, by the way that they went",
    ["task's process", "way", "since it began", "took", "now"], rows, "Nobody answers")];
}

function showVariables() {
  const found = each("variables").sort((a, b) => b.bytes - a.bytes);
  const total = sum(found.map((v) => v.bytes));
  return [table(`${found.length} variables, ${bytes(total)}`,
    ["variable", "task", "device", "dtype", "shape", "size"],
    found.slice(0, 1000).map((v) => [v.name, v.task, v.device, v.dtype, v.shape,
      v.bytes ? [bytes(v.bytes), "number"] : ["not initialized", "number"]]),
    "There are no variables")];
}

function showErrors() {
  const found = each("errors").sort((a, b) => b.time - a.time);
  const lost = state.tasks.filter((t) => t.unreachable);
  return [
    table("Last errors of steps", ["when", "master", "step", "error", "message"],
      found.map((e) => [new Date(e.time * 1000).toLocaleTimeString(), e.task, e.step,
        [e.error, "bad"], [e.message, "code"]]), "No step has failed"),
    table("Tasks that do not answer", ["task", "why"],
      lost.map((t) => [t.name, [t.unreachable, "bad"]]), "All tasks answer"),
  ];
}

function draw() {
  const view = document.getElementById("view");
  view.replaceChildren(...VIEWS[chosen]());
  for (const tab of document.querySelectorAll('[role="tab"]')) {
    const is = tab.dataset.view === chosen;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
  }
}

function choose(name, focus) {
  chosen = name;
  draw();
  if (focus) document.querySelector(`[data-view="${name}"]`).focus();
}

function begin() {
  const tabs = document.getElementById("tabs");
  const names = Object.keys(VIEWS);
  for (const name of names) {
    const tab = make("button", name, { role: "tab", "data-view": name, type: "button" });
    tab.addEventListener("click", () => choose(name));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      choose(names[(names.indexOf(name) + by + names.length) % names.length], true);
    });
    tabs.append(tab);
  }
  draw();
  const token = new URLSearchParams(location.search).get("token") || "";
  const events = new EventSource(`events?token=${encodeURIComponent(token)}`);
  const status = document.getElementById("signature");
  events.onmessage = (event) => {
    state = JSON.parse(event.data);
    status.textContent = `as of ${new Date(state.time * 1000).toLocaleTimeString()}`;
    document.body.dataset.number = state.number;
    draw();
  };
  events.onerror = () => { status.textContent = "The server of this page is gone"; };
}

begin();
