"use strict";
// The run as a table with one column for each process, and the tree of all branches.

HP.stepLabel = (step) => {
  if (step.kind === "flush") return "buffer";
  if (step.kind === "mishap") return step.mishap;
  if (step.before.section === "critical") return "in";
  return step.before.label ? step.before.label.short : "";
};

HP.stepBox = (step) => HP.el("span", {
  class: "step" + (step.access ? "" : " local") + (step.cc ? " cc" : "") + (step.dsm ? " dsm" : ""), title: step.does,
}, HP.el("b", {}, HP.stepLabel(step)), " " + (step.access ? step.does.split("; ")[0] : step.does));

HP.branchName = (view) => view.stop !== null && view.stop !== undefined ? "stop " + view.stop
  : view.step.kind === "step" ? "process " + view.step.process : view.step.kind + " " + view.step.process;

HP.drawLanes = () => {
  const path = HP.path(HP.current);
  const later = HP.later(HP.current);
  const all = [...path, ...later];
  const tip = all[all.length - 1];
  const looped = HP.looped(all);
  const processes = tip.processes.map((process) => process.process);
  const rows = all.map((view, index) => {
    const isLater = index >= path.length;
    const from = all[index - 1];
    const cells = processes.map((p) => {
      const stand = (from || view).processes[p];
      const [section] = HP.SECTIONS[stand.section];
      let content = null;
      if (view.step && view.step.process === p) content = HP.stepBox(view.step);
      else if (view.stop === p) content = HP.el("span", { class: "stopmark" }, "\u271d stops forever");
      const stopped = stand.stopped ? " stoppedcard" : "";
      return HP.el("td", { class: "lane " + section + stopped }, content || "");
    });
    const siblings = from ? from.children.filter((id) => id !== view.node && HP.nodes.has(id)) : [];
    const branches = siblings.map((id) => HP.el("button", { type: "button", "data-branch": id, title: "Another continuation of this state", onclick: (event) => { event.stopPropagation(); HP.go(HP.end(id)); } },
      "\u2387 " + HP.branchName(HP.nodes.get(id))));
    const enters = view.step && view.step.enters ? HP.el("span", { class: "note" }, view.step.process + " enters") : null;
    const classes = [view.node === HP.current ? "now" : "", isLater ? "later" : "", looped.has(view.node) ? "loop" : ""].join(" ").trim();
    return HP.el("tr", { class: classes, "data-node": view.node, onclick: () => HP.go(view.node) },
      HP.el("th", { class: "no", scope: "row" }, index === 0 ? "start" : view.step ? String(view.steps) : "\u271d"),
      cells, HP.el("td", { class: "branches" }, branches, branches.length ? " " : null, enters));
  });
  HP.fill("lanes", HP.el("table", { class: "lanes" },
    HP.el("thead", {}, HP.el("tr", {}, HP.el("th", { class: "no" }, "step"), processes.map((p) => HP.el("th", { scope: "col" }, HP.pid(p), " process " + p)), HP.el("th", {}, ""))),
    HP.el("tbody", {}, rows)));
  const now = HP.$("lanes").querySelector("tr.now");
  if (now) {
    const box = HP.$("lanes");
    const below = now.offsetTop + now.offsetHeight - box.clientHeight;
    if (box.scrollTop < below + 40) box.scrollTop = below + 40;
    if (now.offsetTop < box.scrollTop + 40) box.scrollTop = now.offsetTop - 60;
  }
  const branches = [...HP.nodes.values()].filter((view) => view.children.length > 1).length;
  HP.$("where").textContent = "step " + HP.view().steps + (later.length ? " of " + tip.steps : "") + (branches ? ", " + HP.plural(branches, "branching") : "") + "; click a row to go there";
};

// The nodes of the loop that the shown run closes.
HP.looped = (all) => {
  const nodes = new Set();
  const closing = all.slice().reverse().find((view) => view.loop);
  if (!closing) return nodes;
  let inside = false;
  for (const view of all) {
    if (inside) nodes.add(view.node);
    if (view.node === closing.loop.from) inside = true;
    if (view.node === closing.node) inside = false;
  }
  return nodes;
};

// The end of the branch that begins with a node: along the children that were followed last.
HP.end = (id) => {
  let at = id;
  for (;;) {
    const known = HP.nodes.get(at).children.filter((child) => HP.nodes.has(child));
    const followed = HP.follow.get(at);
    const next = followed !== undefined ? followed : known[0];
    if (next === undefined) return at;
    at = next;
  }
};

HP.drawTree = () => {
  const known = (view) => view.children.filter((id) => HP.nodes.has(id));
  if (![...HP.nodes.values()].some((view) => known(view).length > 1)) { HP.fill("tree"); return; }
  const width = 15, height = 16;
  const dots = [], lines = [];
  const onPath = new Set(HP.path(HP.current).map((view) => view.node));
  let row = 0, deepest = 0;
  // A branch goes to the right; further branches begin below it.
  const root = HP.path(HP.current)[0];
  const todo = [[root.node, 0, 0, null]];
  const place = new Map();
  while (todo.length) {
    const [start, depth, minimum, from] = todo.pop();
    if (from !== null) row = Math.max(row + 1, minimum);
    let at = start, x = depth;
    while (at !== undefined) {
      const view = HP.nodes.get(at);
      place.set(at, [x, row]);
      const parent = place.get(view.parent);
      if (parent) lines.push([parent, [x, row]]);
      dots.push([view, x, row]);
      deepest = Math.max(deepest, x);
      const [first, ...others] = known(view);
      others.reverse().forEach((id) => todo.push([id, x + 1, row + 1, at]));
      at = first;
      x += 1;
    }
  }
  const px = (x) => 12 + x * width, py = (y) => 12 + y * height;
  const svg = HP.svg("svg", { width: px(deepest) + 12, height: py(row) + 12, role: "img", "aria-label": "All branches of the run" });
  lines.forEach(([[x1, y1], [x2, y2]]) => svg.append(HP.svg("path", { d: `M${px(x1)} ${py(y1)} C${px(x1) + 8} ${py(y1)} ${px(x2) - 8} ${py(y2)} ${px(x2)} ${py(y2)}` })));
  dots.forEach(([view, x, y]) => {
    const process = view.step ? view.step.process : view.stop;
    const classes = ["c" + process, view.node === HP.current ? "now" : "", onPath.has(view.node) ? "" : "off", view.node === HP.pinned ? "pinned" : ""].join(" ");
    const dot = HP.svg("circle", { cx: px(x), cy: py(y), r: 5.5, class: classes, "data-node": view.node, onclick: () => HP.go(view.node) });
    dot.append(HP.svg("title", {}));
    dot.firstChild.textContent = view.parent === null ? "start" : "step " + view.steps + ": " + HP.branchName(view);
    svg.append(dot);
  });
  HP.fill("tree", svg);
};
