"use strict";
// Errors are kept, so that a test can see that there were none.
window.HP_ERRORS = [];
addEventListener("error", (event) => window.HP_ERRORS.push(event.message || "a file could not be loaded"), true);
addEventListener("unhandledrejection", (event) => window.HP_ERRORS.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => window.HP_ERRORS.push(event.violatedDirective));
// State, requests and small helpers. The other scripts add their functions to HP.
const HP = {
  model: null,            // what the engine says about the algorithm
  nodes: new Map(),       // every node (a state with the run that leads to it) that the page has seen
  current: 0,
  follow: new Map(),      // for each node, the child that redo goes to
  pinned: null,
  goal: null,
  plan: [],               // the nodes on the way to the goal, which the adversary follows
  progress: null,
  answer: "",
  exported: null,
};

HP.$ = (id) => document.getElementById(id);

// Makes an element: HP.el("p", { class: "x", onclick: f }, "text", child).
HP.el = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

HP.svg = (name, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
};

HP.fill = (id, ...children) => HP.$(id).replaceChildren(...children.flat().filter(Boolean));
HP.pid = (p, gone) => HP.el("span", { class: "pid c" + p + (gone ? " gone" : "") }, String(p));
HP.view = (id) => HP.nodes.get(id === undefined ? HP.current : id);
HP.plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");
HP.list = (items) => items.length < 2 ? items.join("") : items.slice(0, -1).join(", ") + " and " + items[items.length - 1];
HP.SECTIONS = {
  remainder: ["rem", "remainder section"], doorway: ["door", "doorway"], waiting: ["wait", "waiting room"],
  critical: ["crit", "critical section"], exit: ["exit", "exit section"],
};

HP.say = (text) => { HP.$("message").textContent = text || ""; };

// Sends a request to the engine. An exported page contains the answers.
HP.call = async (request) => {
  if (HP.exported) return HP.recorded(request);
  const body = JSON.stringify({ model: HP.model && HP.model.key, ...request });
  let response;
  try {
    response = await fetch("/api", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  } catch {
    throw new Error("The program that serves this page does not answer. Start it again, then reload the page.");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error || "The request failed.");
  return answer;
};

// Answers a request from the nodes of an exported page.
HP.recorded = (request) => {
  const at = HP.nodes.get(request.node);
  const child = (test) => at.children.map((id) => HP.nodes.get(id)).find(test);
  const taken = request.do === "step" ? child((node) => node.step && node.step.agent === request.agent)
    : request.do === "stop" ? child((node) => node.stop === request.process)
    : request.do === "view" ? at : null;
  if (taken) return taken;
  throw new Error("This file has only the recorded runs, and this step is not among them.");
};

HP.remember = (view) => {
  HP.nodes.set(view.node, view);
  const parent = HP.nodes.get(view.parent);
  if (parent && !parent.children.includes(view.node)) parent.children.push(view.node);
  return view;
};

// The nodes from the root to a node.
HP.path = (id) => {
  const path = [];
  for (let at = HP.nodes.get(id); at; at = HP.nodes.get(at.parent)) path.unshift(at);
  return path;
};

// The nodes to which redo leads from a node, one after another.
HP.later = (id) => {
  const later = [];
  for (let next = HP.follow.get(id); next !== undefined && HP.nodes.has(next); next = HP.follow.get(next)) {
    later.push(HP.nodes.get(next));
  }
  return later;
};
