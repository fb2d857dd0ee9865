"use strict";
// The panels around the run: pseudocode, processes, memory, properties, questions, challenge.

// A list of variables with their meanings.
HP.meanings = (title, list) => !list.length ? null : [HP.el("h4", {}, title),
  HP.el("dl", {}, list.flatMap(([name, says]) => [HP.el("dt", {}, name), HP.el("dd", {}, says)]))];

// The meaning of a private variable.
HP.meaning = (name) => {
  const found = HP.model.figures.flatMap((figure) => figure.private).find(([names]) => names.split(", ").includes(name));
  return found ? name + ": " + found[1] : null;
};

HP.drawPaper = () => {
  const view = HP.view();
  const lit = new Map();
  const light = (figure, line, process) => {
    const key = figure + ":" + line;
    lit.set(key, [...(lit.get(key) || []), process]);
  };
  const special = (process, at) => HP.model.figures.forEach((figure, f) => figure.lines.forEach((line, l) => {
    if (line.at === at) light(f, l, process);
  }));
  for (const process of view.processes) {
    if (process.label && process.label.at) light(process.label.at[0], process.label.at[1], process);
    if (process.section === "remainder") special(process, "-");
    if (process.section === "critical") special(process, "*");
  }
  const line = (f) => (text, l) => {
    const here = lit.get(f + ":" + l) || [];
    const [code, ...note] = text.text.split(/\s{2,}(?=\()/);
    const classes = [here.length ? "lit" : "", text.change || ""].join(" ").trim();
    return HP.el("li", { class: classes, "data-at": text.at },
      HP.el("span", { class: "at code" }, text.at.replace(/^\((.*)\)$/, "$1").replace(/^[-*]$/, "").replace(/@.*/, "").replace(/^.*\//, "")),
      HP.el("span", {}, HP.el("span", { class: "text code" }, code, note.length ? HP.el("span", { class: "note" }, "  " + note.join(" ")) : null),
        text.change ? HP.el("span", { class: "mark" }, " " + text.change + " in this variant") : null),
      HP.el("span", { class: "here" }, here.map((process) => {
        const pid = HP.pid(process.process, process.stopped);
        pid.title = "process " + process.process + (process.label && process.label.instance ? " at " + process.label.short : "") + (process.stopped ? ", stopped forever" : "");
        return pid;
      })));
  };
  const figures = HP.model.figures.map((figure, f) => HP.el("div", { class: "figure" },
    HP.el("h3", {}, figure.title),
    HP.meanings("Shared variables", figure.variables), HP.meanings("Private variables of each process", figure.private),
    HP.el("ol", { class: "lines" }, figure.lines.map(line(f)))));
  const instances = view.processes.map((process) => process.label).filter((label) => label && label.instance);
  if (instances.length) {
    const label = instances[0];
    figures.push(HP.el("p", { class: "quiet" }, "\u201c" + label.short + "\u201d is line " + label.line + (HP.model.figures.length && /^\d+$/.test(label.instance) ? " of level, block or loop index " : ", part ") + label.instance + "."));
  }
  if (!HP.model.figures.length) {
    const labels = view.processes.map((process) => HP.el("li", {}, HP.pid(process.process), " ",
      process.label ? process.label.figure + ", line " + process.label.short : HP.SECTIONS[process.section][1]));
    figures.push(HP.el("ul", {}, labels));
  }
  HP.fill("figures", figures);
};

HP.label = (stand) => stand.label ? "line " + stand.label.short : HP.SECTIONS[stand.section][1];

HP.choiceText = (choice) => {
  if (choice.before.section === "remainder") return "Start a passage";
  if (choice.before.section === "critical") return "Leave the critical section";
  return "Execute " + HP.label(choice.before);
};

HP.drawProcesses = () => {
  const view = HP.view();
  const n = HP.model.n;
  HP.fill("processes", view.processes.map((process) => {
    const p = process.process;
    const [section, name] = HP.SECTIONS[process.section];
    const choice = view.choices[p];
    const other = view.choices[n + p];
    const enabled = process.enabled === true ? "enabled: cannot be kept out" : process.enabled === false ? "can be kept out forever" : "";
    const remote = (step) => [step.cc && "cache miss", step.dsm && "remote in DSM"].filter(Boolean).join(", ");
    const go = choice.impossible
      ? HP.el("button", { class: "go", type: "button", disabled: true, "data-p": p }, HP.el("span", { class: "next" }, "Cannot take a step"), HP.el("span", { class: "will" }, choice.impossible))
      : HP.el("button", { class: "go", type: "button", "data-p": p, onclick: () => HP.step(p), title: "Key " + p },
        HP.el("span", { class: "next" }, HP.choiceText(choice)),
        HP.el("span", { class: "will" }, choice.before.label ? "will: " + choice.does : "then: " + HP.label(choice.after),
          remote(choice) ? HP.el("span", { class: "remote" }, " \u25cf " + remote(choice)) : null));
    const more = [];
    if (other && !other.impossible) {
      const text = other.kind === "flush" ? "Flush a store: " + other.does : ({ killed: "Kill it", "lease ends": "End its lease", "cut off": "Cut its connection", "request hangs": "Let its request hang", woken: "Wake it" }[other.mishap] || "Mishap: " + other.mishap);
      more.push(HP.el("button", { type: "button", "data-other": p, title: other.does, onclick: () => HP.step(n + p) }, text));
    }
    if (!process.stopped && process.section !== "remainder") {
      more.push(HP.el("button", { type: "button", "data-stop": p, title: "Process " + p + " makes no further step, as if it had crashed", onclick: () => HP.stop(p) }, "Stop forever"));
    }
    // `line` is left out, because the top of the card shows it. `exit` is left out, too: with `+names`, it is the line
    // at which the exit section of the underlying algorithm begins.
    const privates = process.private.filter(([key]) => key !== "line" && key !== "exit").flatMap(([key, value], i) => [i ? ", " : "", HP.el("span", { class: "code", title: HP.meaning(key) }, key + " = " + value)]);
    const holds = process.name !== null && process.name !== undefined ? ", slot " + process.name : "";
    return HP.el("div", { class: "process" + (process.stopped ? " stoppedcard" : ""), "data-process": p },
      HP.el("div", { class: "top " + section }, HP.pid(p, process.stopped), HP.el("b", {}, process.label ? "at " + HP.label(process) : name + holds),
        process.label ? HP.el("span", {}, name) : null,
        process.stopped ? HP.el("span", { class: "enabled" }, "\u271d stopped forever") : enabled ? HP.el("span", { class: "enabled" }, enabled) : null),
      HP.el("div", { class: "body" }, go,
        process.waits ? HP.el("div", { class: "waits" }, process.waits.text) : null,
        privates.length ? HP.el("div", { class: "private" }, "private: ", privates) : null,
        process.buffer.length ? HP.el("div", { class: "private" }, "store buffer: " + process.buffer.map(([name, value]) => name + " := " + value).join(", then ")) : null,
        process.section !== "remainder" ? HP.el("div", { class: "cost" }, "remote references in this passage: ", HP.el("b", {}, String(process.cc)), " CC, ", HP.el("b", {}, String(process.dsm)), " DSM") : null,
        HP.el("div", { class: "more" }, more)));
  }));
};

HP.drawMemory = () => {
  const view = HP.view();
  const pinned = HP.pinned !== null && HP.pinned !== HP.current ? HP.nodes.get(HP.pinned) : null;
  HP.$("memory-when").textContent = view.steps ? "after step " + view.steps : "at the start";
  const rows = HP.model.variables.map((variable, v) => {
    if (variable.hidden) return null;
    const copies = view.processes.filter((process) => process.copies.includes(v));
    const differs = pinned && pinned.memory[v] !== view.memory[v];
    return HP.el("tr", { class: [v === view.changed ? "changed" : "", differs ? "differs" : ""].join(" ").trim(), title: variable.home === null ? null : "in the memory of process " + variable.home },
      HP.el("th", { scope: "row" }, variable.name), HP.el("td", { class: "value" }, view.memory[v]),
      pinned ? HP.el("td", { class: "other" }, differs ? pinned.memory[v] : "=") : null,
      HP.el("td", { class: "copies" }, copies.map((process) => { const pid = HP.pid(process.process); pid.title = "process " + process.process + " has a cached copy"; return pid; })));
  });
  const initial = view.parent === null ? HP.initialChoices() : null;
  HP.fill("memory",
    HP.el("div", { class: "row" },
      HP.el("span", { class: "switch", role: "group", "aria-label": "Which references count as remote" },
        HP.el("button", { type: "button", "data-cost": "cc", onclick: () => HP.cost("cc") }, "cache-coherent"),
        HP.el("button", { type: "button", "data-cost": "dsm", onclick: () => HP.cost("dsm") }, "distributed memory")),
      HP.el("button", { type: "button", id: "pin", onclick: HP.pin }, HP.pinned === HP.current ? "Unpin" : "Pin to compare")),
    initial,
    HP.el("div", { class: "scroll" }, HP.el("table", { class: "memory" },
      pinned ? HP.el("thead", {}, HP.el("tr", {}, HP.el("th", {}, ""), HP.el("th", {}, "here"), HP.el("th", {}, "pinned"), HP.el("th", {}, ""))) : null,
      HP.el("tbody", {}, rows))),
    HP.el("p", { class: "quiet" }, HP.ofLevel() + "Numbers in circles: processes with a valid cached copy."));
};

// Explains names such as Q.2, if the figure has a variable Q.
HP.ofLevel = () => {
  const plain = new Set(HP.model.figures.flatMap((figure) => figure.variables).flatMap(([names]) => names.split(", ")));
  const name = HP.model.variables.map((variable) => variable.name).find((name) => /\.\d+$/.test(name) && plain.has(name.replace(/\.\d+$/, "")));
  return name ? name + " is the " + name.replace(/\.\d+$/, "") + " of level or block " + name.replace(/^.*\./, "") + ". " : "";
};

// At the start, the user can choose the initial values that the algorithm leaves open.
HP.initialChoices = () => {
  if (HP.exported || !HP.model.variables.some((variable) => variable.initial.length > 1)) return null;
  const view = HP.view();
  const chosen = HP.model.variables.map((variable, v) => Math.max(0, variable.initial.indexOf(view.memory[v])));
  const selects = HP.model.variables.map((variable, v) => variable.initial.length < 2 ? null : HP.el("label", { class: "quiet" }, variable.name + " ",
    HP.el("select", { onchange: (event) => { chosen[v] = event.target.selectedIndex; HP.act({ do: "start", initial: chosen }); } },
      variable.initial.map((value, i) => HP.el("option", { selected: i === chosen[v] }, value)))));
  return HP.el("details", {}, HP.el("summary", { class: "quiet" }, "Initial values that are left open"), HP.el("div", { class: "row" }, selects));
};

HP.TITLES = { exclusion: "Exclusion", names: "Distinct slots", range: "Ranges" };

HP.drawFacts = () => {
  const view = HP.view();
  const sign = { holds: "\u2713", broken: "\u2717", unknown: "?" };
  const facts = view.facts.map((fact) => HP.el("li", { class: fact.status + (fact.promised ? "" : " unpromised") },
    HP.el("span", { class: "sign", "aria-label": fact.status }, sign[fact.status]),
    HP.el("span", {}, HP.TITLES[fact.name] || "Invariant " + fact.name, fact.status === "broken" ? " is broken" + (fact.promised ? "" : " (not promised)") : "", fact.why ? HP.el("span", { class: "why" }, ": " + fact.why) : null)));
  const before = view.processes.flatMap((process) => process.came_before.map((other) => process.process + " came before " + other));
  HP.fill("facts", HP.el("ul", { class: "facts" }, facts),
    before.length ? HP.el("p", { class: "quiet" }, "Order of arrival: " + before.join("; ") + ".") : null);
};

HP.drawJudgement = () => {
  const view = HP.view();
  const notes = view.facts.filter((fact) => fact.status === "broken").map((fact) =>
    HP.el("p", { class: fact.promised ? "bad" : "loopnote" }, HP.el("b", {}, (HP.TITLES[fact.name] || "Invariant " + fact.name) + " is broken"), ": " + fact.why + "." + (fact.promised ? "" : " The algorithm does not promise to prevent this.")));
  if (view.overtaken) {
    const [first, second] = view.overtaken;
    const promised = HP.model.promises.includes("fife");
    notes.push(HP.el("p", { class: promised ? "bad" : "loopnote" }, HP.el("b", {}, "First in, first enabled is broken"), ": process " + first + " left its doorway before process " + second + " came, yet process " + second + " is in its critical section and process " + first + " can be kept out forever." + (promised ? "" : " The algorithm does not promise to prevent this.")));
  }
  if (view.loop) {
    const { steps, victims, violates, grows } = view.loop;
    const back = grows ? " back to a state that differs only in numbers that grow, so " : " back to the same state, so ";
    notes.push(HP.el("p", { class: violates ? "bad" : "loopnote" },
      HP.el("b", {}, "A loop"), (steps === 1 ? ": the last step leads" + back + "it can repeat forever. In it, " : ": the last " + steps + " steps lead" + back + "they can repeat forever. In them, ") +
      (victims.length === 1 ? "process " + victims[0] + " keeps" : "processes " + HP.list(victims) + " keep") + " taking steps and never enter" + (victims.length === 1 ? "s its critical section" : " their critical sections") + ". " +
      view.loop.why[0].toUpperCase() + view.loop.why.slice(1) + ". " + (violates ? "The algorithm promises that this cannot happen." : "The algorithm does not promise to prevent this."), " ",
      HP.el("button", { type: "button", id: "loop", onclick: HP.playLoop }, HP.timer ? "Stop the loop" : "Play the loop")));
    const waits = victims.map((p) => view.processes[p].waits).filter(Boolean).map((waits) => waits.text);
    const reasons = [...view.loop.seen.map((text) => text + "."), ...waits];
    if (reasons.length) notes.push(HP.el("div", { class: "loopnote", id: "reasons" }, HP.el("b", {}, "Why"), HP.el("ul", {}, reasons.map((text) => HP.el("li", {}, text)))));
  }
  HP.fill("judgement", notes);
};

// The number of steps to a violation. The steps of a loop are counted once, as everywhere on the page.
HP.distance = (goal) => {
  if (goal.steps === null) return goal.sure ? "impossible from here" : "not found";
  const loop = /^(starve|deadlock)/.test(goal.goal);
  const stops = goal.stopped ? ", " + goal.stopped + " stopped" : "";
  return (goal.steps === 0 && !loop ? "here" : HP.plural(goal.steps, "step") + (loop && goal.round === null ? " to a loop" : "")) + stops;
};

// The goal to aim for at first: the nearest one that solves the challenge, otherwise the first violation.
HP.firstGoal = (view) => {
  const property = HP.model.challenge && HP.model.challenge.property;
  if (property === "fife") return "fife";
  const known = ["exclusion", "names", "range", "deadlock"];
  const solves = (goal) => goal.goal === property
    || property === "starvation" && goal.goal.startsWith("starve-")
    || property === "invariants" && !known.includes(goal.goal) && !goal.goal.startsWith("starve-");
  const violations = view.goals.filter((goal) => goal.violates);
  const solving = violations.filter(solves).sort((one, other) => one.steps - other.steps);
  return (solving[0] || violations[0] || view.goals[0]).goal;
};

HP.drawAsk = () => {
  const view = HP.view();
  if (HP.exported && !view.goals) { HP.fill("ask", HP.el("p", { class: "quiet" }, "This file contains no answers from the checker.")); return; }
  if (!view.goals) {
    const result = HP.progress && HP.progress.result;
    const text = result && result.error ? "The checker cannot explore this model: " + result.error
      : result && !HP.progress.waiting ? "This state is beyond the explored part of the model."
      : "The checker is exploring; answers appear as soon as it is done.";
    HP.fill("ask", HP.el("p", { class: "quiet" }, text));
    return;
  }
  if (HP.goal === null) HP.goal = HP.firstGoal(view);
  const costs = view.processes.flatMap((process) => ["cc", "dsm"].map((model) => ({ goal: "rmr-" + model + "-" + process.process, title: "most remote references of process " + process.process + " (" + model.toUpperCase() + ")" })));
  const choose = (goal) => { HP.goal = goal; HP.plan = []; HP.drawAsk(); };
  const overtaken = view.processes.map((process) => ({ goal: "bypass-" + process.process, title: "process " + process.process + " is overtaken most often" }));
  const options = [...view.goals, { goal: "fife", title: "a later process overtakes (FIFE)" }, ...overtaken, ...costs];
  const shown = view.goals.filter((goal) => goal.steps !== null || ["exclusion", "deadlock"].includes(goal.goal) || goal.goal.startsWith("starve"));
  HP.fill("ask",
    HP.el("p", { class: "quiet" }, "How many steps lead from here to each violation? The steps of a loop are counted once."),
    HP.el("table", { class: "distances" }, HP.el("tbody", {}, shown.map((goal) =>
      HP.el("tr", { class: [goal.violates ? "violates" : "", goal.goal === HP.goal ? "chosen" : ""].join(" ").trim(), "data-goal": goal.goal, onclick: () => choose(goal.goal) },
        HP.el("td", {}, (goal.violates ? "\u26a0 " : "") + goal.title + (goal.unpromised ? " (not promised)" : "")), HP.el("td", {}, HP.distance(goal)))))),
    HP.exported ? null : HP.el("label", { class: "quiet" }, "Aim for ", HP.el("select", { id: "goal", onchange: (event) => choose(event.target.value) },
      options.map((goal) => HP.el("option", { value: goal.goal, selected: goal.goal === HP.goal }, goal.title)))),
    HP.exported ? null : HP.el("div", { class: "row" },
      HP.el("button", { type: "button", class: "main", id: "way", onclick: HP.way }, "Show the shortest way"),
      HP.el("button", { type: "button", id: "adversary", onclick: HP.adversary }, "Adversary: one step"),
      HP.el("button", { type: "button", id: "adversary-on", onclick: HP.playOn }, HP.timer ? "Pause" : "Let it play")),
    HP.el("p", { class: "answer", id: "answer" }, HP.answer),
    HP.model.crashes ? HP.el("p", { class: "quiet" }, "The algorithm promises to work while at most " + HP.model.crashes + (HP.model.crashes === 1 ? " process" : " processes") + " " + (HP.model.crashes === 1 ? "has" : "have") + " stopped. A loop with more stopped processes is not a violation.") : null);
};

HP.drawChallenge = () => {
  const view = HP.view();
  const challenge = HP.model.challenge;
  HP.$("challenge").hidden = !challenge;
  if (!challenge) return;
  const { best, solved } = view.challenge || {};
  if (solved) HP.solved = Math.min(HP.solved || Infinity, view.steps);
  HP.fill("challenge", HP.el("h2", {}, "Challenge"),
    HP.el("p", {}, challenge.task + "."),
    HP.el("p", { class: "quiet" }, best ? "The shortest known run has " + HP.plural(best, "step") + "." : "The checker is looking for the shortest run."),
    solved ? HP.el("p", { class: "solved" }, "\u2713 Solved in " + HP.plural(view.steps, "step") + (best && view.steps <= best ? ": no shorter run is known." : "."))
      : HP.el("p", { class: "quiet" }, "So far: " + HP.plural(view.steps, "step") + "." + (HP.solved ? " Your best: " + HP.solved + "." : "")));
};
