"use strict";
// The page is complete without this script, which adds the memory after each step, the choice of colours, and
// the copy button.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const cells = [...document.querySelectorAll(".memory tr")];
  const buffers = [...document.querySelectorAll(".buffers tr")];
  const when = document.getElementById("when");
  let held = null;

  function show(last) {
    const values = data.initial.slice();
    const waiting = new Map(buffers.map((row) => [row.dataset.p, []]));
    let changed = -1;
    for (let i = 0; i <= last; i++) {
      const change = data.steps[i];
      changed = -1;
      if (!change) continue;
      const buffer = waiting.get(String(change.process)) || [];
      if (change.via === "b") { buffer.push(change.name + " := " + change.value); continue; }
      if (change.via === "f") buffer.shift();
      if (values[change.var] !== change.value) changed = change.var;
      values[change.var] = change.value;
    }
    cells.forEach((row, i) => {
      row.lastElementChild.textContent = values[i];
      row.classList.toggle("changed", i === changed);
    });
    for (const row of buffers) row.lastElementChild.textContent = waiting.get(row.dataset.p).join(", ");
    when.textContent = last < 0 ? "Initial memory" : "Memory after step " + (last + 1);
  }

  const settle = () => show(held ? Number(held.dataset.i) : data.steps.length - 1);
  for (const step of document.querySelectorAll(".step")) {
    step.addEventListener("mouseenter", () => show(Number(step.dataset.i)));
    step.addEventListener("focus", () => show(Number(step.dataset.i)));
    step.addEventListener("mouseleave", settle);
    step.addEventListener("click", () => {
      if (held) held.classList.remove("held");
      held = held === step ? null : step;
      if (held) held.classList.add("held");
      settle();
    });
  }
  settle();

  for (const button of document.querySelectorAll(".toggle button")) {
    button.addEventListener("click", () => { document.body.dataset.model = button.dataset.model; });
  }

  const replay = document.getElementById("replay");
  const copy = document.getElementById("copy");
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(replay.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(replay);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  });
})();
