"use strict";
// What the buttons and keys do, and how the page opens.

// Returns a selector for the element that has the focus. Drawing replaces the elements, and the selector
// finds the new one.
HP.focused = () => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const key = ["data-p", "data-other", "data-stop", "data-branch", "data-cost"].find((name) => element.hasAttribute(name));
  return key ? `button[${key}="${element.getAttribute(key)}"]` : element.id ? "#" + element.id : null;
};

// Announces the last step to a screen reader.
HP.announce = (view) => {
  const text = view.step ? "Step " + view.steps + ", process " + view.step.process + ": " + view.step.does
    : view.stop !== null ? "Process " + view.stop + " stops forever" : "Start";
  if (HP.$("announce").textContent !== text) HP.$("announce").textContent = text;
};

HP.draw = () => {
  const focused = HP.focused();
  HP.drawPaper();
  HP.drawProcesses();
  HP.drawJudgement();
  HP.drawMemory();
  HP.drawFacts();
  HP.drawAsk();
  HP.drawChallenge();
  HP.drawTree();
  HP.drawLanes();
  const view = HP.view();
  HP.announce(view);
  const again = focused && document.querySelector(focused);
  if (again && again !== document.activeElement) again.focus({ preventScroll: true });
  HP.$("undo").disabled = view.parent === null;
  HP.$("start").disabled = view.parent === null;
  HP.$("redo").disabled = !HP.later(HP.current).length;
  // The address reproduces the run.
  if (!HP.exported) {
    HP.hash = "#" + view.replay;
    history.replaceState(null, "", HP.hash);
  }
};

// Runs an action and shows its error, if it has one.
HP.attempt = async (action) => {
  try {
    HP.say("");
    return await action();
  } catch (error) {
    HP.say(error.message);
    return null;
  }
};

HP.go = (id) => {
  HP.say("");
  HP.current = id;
  HP.path(id).forEach((view) => { if (view.parent !== null) HP.follow.set(view.parent, view.node); });
  HP.draw();
  HP.refresh();
};

// Fetches the checker's answers, if they were not ready when the node was seen.
HP.refresh = async () => {
  const view = HP.view();
  if (HP.exported || view.goals || !HP.progress || !HP.progress.result || HP.progress.result.error) return;
  await HP.attempt(async () => {
    HP.remember(await HP.call({ do: "view", node: view.node }));
    HP.progress = await HP.call({ do: "progress" });
    if (HP.current === view.node) HP.draw();
    if (!HP.view().goals && HP.progress.waiting) setTimeout(HP.refresh, 200);
  });
};

HP.act = (request) => HP.attempt(async () => {
  const view = HP.remember(await HP.call(request));
  HP.answer = "";
  HP.go(view.node);
  return view;
});
HP.step = (agent) => { HP.halt(); return HP.act({ do: "step", node: HP.current, agent }); };
HP.stop = (process) => { HP.halt(); return HP.act({ do: "stop", node: HP.current, process }); };

HP.undo = () => { HP.halt(); const { parent } = HP.view(); if (parent !== null) HP.go(parent); };
HP.redo = () => { HP.halt(); const [next] = HP.later(HP.current); if (next) HP.go(next.node); };
HP.toStart = () => {
  HP.halt();
  const [root] = HP.path(HP.current);
  HP.go(root.node);
};
// Goes to the row above or below in the run.
HP.row = (by) => {
  HP.halt();
  const shown = [...HP.path(HP.current), ...HP.later(HP.current)];
  const next = shown[shown.findIndex((view) => view.node === HP.current) + by];
  if (next) HP.go(next.node);
};
HP.pin = () => { HP.pinned = HP.pinned === HP.current ? null : HP.current; HP.draw(); };
HP.cost = (model) => { document.body.dataset.cost = model; };

// Asks for the way to the goal and returns its nodes.
HP.ask = () => HP.attempt(async () => {
  const answer = await HP.call({ do: "ask", node: HP.current, goal: HP.goal });
  answer.path.forEach(HP.remember);
  HP.answer = answer.text;
  return answer.path;
});

HP.way = async () => {
  HP.halt();
  const path = await HP.ask();
  if (path && path.length) HP.go(path[path.length - 1].node);
  else HP.drawAsk();
};

HP.adversary = async () => {
  const next = HP.plan.indexOf(HP.current) + 1;
  if (!next || next >= HP.plan.length) {
    const from = HP.current;
    const path = await HP.ask();
    if (!path || !path.length) { HP.halt(); HP.plan = []; HP.drawAsk(); return false; }
    HP.plan = [from, ...path.map((view) => view.node)];
    HP.go(HP.plan[1]);
  } else {
    HP.go(HP.plan[next]);
  }
  if (HP.plan.indexOf(HP.current) + 1 === HP.plan.length) { HP.halt(); HP.drawAsk(); return false; }
  return true;
};

HP.timer = null;
HP.halt = () => { if (HP.timer) { clearInterval(HP.timer); HP.timer = null; } };
HP.playOn = () => {
  if (HP.timer) { HP.halt(); HP.drawAsk(); return; }
  HP.timer = setInterval(HP.adversary, 600);
  HP.adversary();
};

// Repeats the loop until the user does something else.
HP.playLoop = () => {
  if (HP.timer) { HP.halt(); HP.draw(); return; }
  const closing = HP.view();
  if (!closing.loop) return;
  const nodes = HP.path(closing.node).map((view) => view.node);
  const round = nodes.slice(nodes.indexOf(closing.loop.from));
  let index = 0, rounds = 1;
  HP.timer = setInterval(() => {
    index += 1;
    if (index >= round.length) { index = 1; rounds += 1; }
    HP.current = round[index];
    HP.draw();
    HP.fill("where", "round " + rounds + " of the loop ", HP.el("button", { type: "button", id: "stop-loop", onclick: () => { HP.halt(); HP.draw(); } }, "Stop"));
  }, 500);
};

HP.copy = async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    HP.$("copy").textContent = "Copied";
  } catch {
    HP.$("copy").textContent = "The address bar has the link";
  }
  setTimeout(() => { HP.$("copy").textContent = "Copy link"; }, 1800);
};

HP.save = () => HP.attempt(async () => {
  const { page } = await HP.call({ do: "export", node: HP.current });
  const link = HP.el("a", { href: URL.createObjectURL(new Blob([page], { type: "text/html" })), download: HP.model.algorithm.replace(/[^\w.-]/g, "-") + ".html" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
});

HP.describe = (model) => {
  HP.model = model;
  document.title = model.algorithm + ", n = " + model.n + ", k = " + model.k + ": hallpass explorer";
  HP.$("title").textContent = model.algorithm;
  HP.$("about").textContent = [model.title, model.n + " processes, at most " + model.k + " in the critical section", model.memory_words].filter(Boolean).join(" \u00b7 ");
  HP.$("change").hidden = !model.change;
  HP.$("change").textContent = model.change ? (model.standing === "printed" ? "As printed, and wrong: " : "Wrong on purpose: ") + model.change : "";
  document.body.dataset.cost = model.cost_model;
};

HP.watch = async () => {
  const key = HP.model.key;
  for (;;) {
    const progress = await HP.attempt(() => HP.call({ do: "progress" }));
    if (!progress || HP.model.key !== key) return;
    HP.progress = progress;
    const count = (number) => number.toLocaleString("en");
    const { result } = progress;
    HP.$("progress").textContent = !result ? "The checker works in the background: " + progress.phase + ", " + count(progress.states) + " states so far."
      : result.error ? "The checker cannot explore this model, so it gives no answers: " + result.error
      : "The checker knows " + (result.all ? "all " : "the first ") + count(result.states) + " states" + (result.all ? "." : "; there are more, so what it does not find may still exist.");
    if (result) { HP.drawAsk(); HP.refresh(); return; }
    await new Promise((done) => setTimeout(done, 150));
  }
};

// Opens a model: by a replay string, by algorithm and size, or the one that the program was started with.
HP.open = (request, replay) => HP.attempt(async () => {
  HP.halt();
  const model = await HP.call({ do: "model", ...request });
  Object.assign(HP, { nodes: new Map(), follow: new Map(), pinned: null, goal: null, plan: [], progress: null, answer: "", solved: null });
  HP.describe(model);
  const { path } = replay ? await HP.call({ do: "open", replay }) : { path: [await HP.call({ do: "view", node: 0 })] };
  path.forEach(HP.remember);
  HP.go(path[path.length - 1].node);
  HP.watch();
});

HP.choose = () => HP.attempt(async () => {
  const { algorithms, challenges } = await HP.call({ do: "catalogue" });
  const dialog = HP.$("chooser");
  const filter = HP.el("input", { type: "search", placeholder: "Filter: a paper, a figure, a name", "aria-label": "Filter" });
  const n = HP.el("input", { type: "number", min: 2, max: 32, value: HP.model.n, "aria-label": "n" });
  const k = HP.el("input", { type: "number", min: 1, max: 31, value: HP.model.k, "aria-label": "k" });
  const tso = HP.el("input", { type: "checkbox", "aria-label": "store buffers" });
  const open = (request) => { dialog.close(); HP.open(request); };
  const list = HP.el("table", { class: "catalogue" });
  const show = () => {
    const text = filter.value.toLowerCase();
    const fits = (item) => (item.id + item.algorithm + item.title + item.paper + item.figure).toLowerCase().includes(text);
    list.replaceChildren(
      ...challenges.filter((item) => fits({ ...item, id: "challenge" })).map((item) => HP.el("tr", {},
        HP.el("td", {}, HP.el("button", { type: "button", "data-challenge": item.algorithm, onclick: () => open({ algorithm: item.algorithm, n: item.n, k: item.k }) }, "Challenge")),
        HP.el("td", {}, HP.el("code", {}, item.algorithm)), HP.el("td", {}, item.task + ", n = " + item.n + ", k = " + item.k))),
      ...algorithms.filter(fits).map((item) => HP.el("tr", {},
        HP.el("td", {}, HP.el("button", { type: "button", "data-algorithm": item.id, onclick: () => open({ algorithm: item.id, n: Number(n.value), k: Number(k.value), memory: tso.checked ? "tso" : "sc" }) }, "Open")),
        HP.el("td", {}, HP.el("code", {}, item.id)), HP.el("td", {}, item.paper + ", " + item.figure + ": " + item.title))));
  };
  filter.addEventListener("input", show);
  show();
  dialog.replaceChildren(HP.el("h2", { id: "chooser-title" }, "Models and challenges"),
    HP.el("div", { class: "row" }, filter, HP.el("label", {}, "n ", n), HP.el("label", {}, "k ", k), HP.el("label", {}, tso, " store buffers, as on x86"),
      HP.el("button", { type: "button", onclick: () => dialog.close() }, "Close")), list);
  dialog.showModal();
});

HP.prefix = "";
HP.key = (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (/^(INPUT|SELECT|TEXTAREA|CANVAS)$/.test(event.target.tagName)) return;
  const { key } = event;
  const prefix = HP.prefix;
  HP.prefix = "";
  const press = (selector) => { const button = document.querySelector(selector); if (button && !button.disabled) button.click(); };
  if (/^\d$/.test(key)) {
    press(prefix === "m" ? `[data-other="${key}"]` : prefix === "s" ? `[data-stop="${key}"]` : `.go[data-p="${key}"]`);
  } else if (key === "m" || key === "s") HP.prefix = key;
  else if (key === "u" || key === "ArrowLeft" || key === "Backspace") HP.undo();
  else if (key === "r" || key === "ArrowRight") HP.redo();
  else if (/^Arrow(Up|Down)$/.test(key) && event.target.id === "lanes") HP.row(key === "ArrowUp" ? -1 : 1);
  else if (key === "Home") HP.toStart();
  else if (key === "w") press("#way");
  else if (key === "a") press("#adversary");
  else if (key === "l") HP.playLoop();
  else if (key === "p") HP.pin();
  else if (key === "?") HP.$("helper").showModal();
  else { if (HP.timer && key.length === 1) { HP.halt(); HP.draw(); } return; }
  event.preventDefault();
};

HP.begin = async () => {
  const on = (id, action) => HP.$(id).addEventListener("click", action);
  on("undo", HP.undo); on("redo", HP.redo); on("start", HP.toStart);
  on("models", HP.choose); on("copy", HP.copy); on("export", HP.save);
  on("help", () => HP.$("helper").showModal());
  on("draw", () => HP.attempt(HP.drawGraph));
  addEventListener("keydown", HP.key);
  addEventListener("resize", () => HP.paintGraph());
  const data = document.getElementById("exported");
  if (data) {
    HP.exported = JSON.parse(data.textContent);
    HP.exported.nodes.forEach((view) => HP.nodes.set(view.node, view));
    HP.describe(HP.exported.describe);
    for (const id of ["models", "copy", "export", "draw"]) HP.$(id).hidden = true;
    HP.$("graph").closest(".panel").hidden = true;
    HP.$("progress").textContent = "A recorded run with its branches. Click a row or a dot to go there; buttons replay recorded steps.";
    HP.go(HP.exported.node);
    return;
  }
  const fromHash = () => decodeURIComponent(location.hash.slice(1));
  addEventListener("hashchange", () => { if (location.hash !== HP.hash) HP.open({ replay: fromHash() }, fromHash()); });
  const replay = fromHash();
  if (!replay || await HP.open({ replay }, replay) === null && !HP.model) {
    const shown = HP.$("message").textContent;
    await HP.open({});
    HP.say(shown);
  }
};
HP.begin();
