"use strict";
// The graph of states on a canvas: drag to move, wheel or + and - to zoom, click a state to go there.

HP.graph = { drawing: null, x: 0, y: 0, zoom: 1, places: [] };

HP.drawGraph = async () => {
  const drawing = await HP.call({ do: "graph", node: HP.current });
  HP.graph.drawing = drawing;
  const rows = new Map();
  drawing.states.forEach((state, index) => rows.set(state.level, [...(rows.get(state.level) || []), index]));
  const widest = Math.max(...[...rows.values()].map((row) => row.length));
  HP.graph.places = [];
  rows.forEach((row, level) => row.forEach((index, i) => {
    HP.graph.places[index] = [(i - (row.length - 1) / 2) * Math.max(14, Math.min(60, 14 * widest / row.length)), level * 34];
  }));
  const text = drawing.whole ? "All " + drawing.states.length + " explored states, the initial ones on top."
    : "The " + drawing.states.length + " states nearest to this one, which is on top.";
  const canvas = HP.el("canvas", { id: "canvas", tabindex: "0", role: "img", "aria-label": text });
  const swatch = (colour, name) => { const i = HP.el("i", {}); i.style.background = colour; return HP.el("span", {}, i, name); };
  const colours = HP.graphColours();
  HP.fill("graph", canvas, HP.el("div", { class: "key" }, swatch(colours.broken, "\u25c6 a property is broken"),
    swatch(colours.doomed, "\u25b2 a process can be kept out"), swatch(colours.full, "\u25a0 k processes in the critical section"), swatch(colours.plain, "\u25cf other"), swatch(colours.now, "ring: current state")),
  HP.el("p", { class: "quiet" }, text + " Drag to move, wheel or + and \u2212 to zoom, click a state to go there."));
  HP.graphEvents(canvas);
  HP.centreGraph(canvas);
  HP.paintGraph();
};

HP.graphColours = () => {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  return { broken: get("--bad"), doomed: get("--p1"), full: get("--p2"), plain: get("--p0"), now: get("--ink"), edge: get("--edge") };
};

HP.centreGraph = (canvas) => {
  const graph = HP.graph;
  const current = graph.drawing.current;
  const [x, y] = current === null ? [0, 0] : graph.places[current];
  const depth = Math.max(...graph.places.map((place) => place[1])) + 40;
  graph.zoom = graph.drawing.whole && graph.drawing.states.length < 150 ? Math.min(1, canvas.clientHeight / depth) : 1;
  graph.x = canvas.clientWidth / 2 - x * graph.zoom;
  graph.y = canvas.clientHeight / 3 - y * graph.zoom;
};

HP.shape = (context, colour, x, y, r) => {
  context.beginPath();
  if (colour === "broken") { context.moveTo(x, y - r * 1.3); context.lineTo(x + r * 1.3, y); context.lineTo(x, y + r * 1.3); context.lineTo(x - r * 1.3, y); }
  else if (colour === "doomed") { context.moveTo(x, y - r * 1.2); context.lineTo(x + r * 1.1, y + r); context.lineTo(x - r * 1.1, y + r); }
  else if (colour === "full") context.rect(x - r, y - r, 2 * r, 2 * r);
  else context.arc(x, y, r, 0, 7);
  context.closePath();
};

HP.paintGraph = () => {
  const canvas = HP.$("canvas");
  if (!canvas) return;
  const ratio = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const context = canvas.getContext("2d");
  const { drawing, places, x: dx, y: dy, zoom } = HP.graph;
  const colours = HP.graphColours();
  context.scale(ratio, ratio);
  const at = (index) => [places[index][0] * zoom + dx, places[index][1] * zoom + dy];
  const visible = ([x, y]) => x > -30 && y > -30 && x < canvas.clientWidth + 30 && y < canvas.clientHeight + 30;
  context.strokeStyle = colours.edge;
  context.lineWidth = Math.max(.4, zoom * .8);
  context.beginPath();
  for (const [from, to] of drawing.steps) {
    const one = at(from), other = at(to);
    if (!visible(one) && !visible(other)) continue;
    context.moveTo(...one);
    context.lineTo(...other);
  }
  context.stroke();
  drawing.states.forEach((state, index) => {
    const place = at(index);
    if (!visible(place)) return;
    context.fillStyle = colours[state.colour];
    HP.shape(context, state.colour, ...place, 5 * Math.max(.5, zoom));
    context.fill();
    if (index === drawing.current) {
      context.strokeStyle = colours.now;
      context.lineWidth = 3;
      context.beginPath();
      context.arc(...place, 10 * Math.max(.6, zoom), 0, 7);
      context.stroke();
    }
  });
};

HP.graphEvents = (canvas) => {
  const graph = HP.graph;
  let held = null, moved = false;
  const zoom = (factor, x, y) => {
    const next = Math.min(6, Math.max(.08, graph.zoom * factor));
    graph.x = x - (x - graph.x) * next / graph.zoom;
    graph.y = y - (y - graph.y) * next / graph.zoom;
    graph.zoom = next;
    HP.paintGraph();
  };
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.3 : 1 / 1.3, canvas.clientWidth / 2, canvas.clientHeight / 2);
    else if (by) { graph.x += by[0]; graph.y += by[1]; HP.paintGraph(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("pointerdown", (event) => { held = [event.offsetX, event.offsetY]; moved = false; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const [x, y] = [event.offsetX - held[0], event.offsetY - held[1]];
    if (Math.abs(x) + Math.abs(y) > 3) moved = true;
    if (!moved) return;
    graph.x += x; graph.y += y;
    held = [event.offsetX, event.offsetY];
    HP.paintGraph();
  });
  canvas.addEventListener("pointerup", async (event) => {
    held = null;
    if (moved) return;
    const near = graph.places.map(([x, y], index) => [Math.hypot(x * graph.zoom + graph.x - event.offsetX, y * graph.zoom + graph.y - event.offsetY), index]).sort((a, b) => a[0] - b[0])[0];
    if (!near || near[0] > 14) return;
    const state = graph.drawing.states[near[1]].id;
    if (state === null) { HP.say("The checker has not explored this model, so the page cannot go to that state."); return; }
    await HP.attempt(async () => {
      const { path } = await HP.call({ do: "go", node: HP.current, state });
      path.forEach(HP.remember);
      if (path.length) HP.go(path[path.length - 1].node);
      await HP.drawGraph();
    });
  });
};
