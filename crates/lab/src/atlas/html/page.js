"use strict";
// The page is complete without this script, which adds sorting, filtering and copying.
for (const table of document.querySelectorAll(".models")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const sort = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        const [group, ...rows] = body.rows;
        rows.sort((a, b) => compare(a.cells[column], b.cells[column]) * (down ? -1 : 1));
        body.append(group, ...rows);
      }
    };
    head.tabIndex = 0;
    head.title = "Sort within each algorithm";
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
  });
}
// Returns the value by which a cell is sorted: its number, if it has one. Without a number, ✓ counts as -1 and ✗ as
// 1. Cells without a result come first, ∞ last.
function value(cell) {
  const text = cell.textContent.replaceAll(",", "");
  if (text.includes("∞")) return Infinity;
  const number = text.match(/[\d.]+/);
  return number ? Number(number[0]) : text.startsWith("✓") ? -1 : text.startsWith("✗") ? 1 : -2;
}
function compare(a, b) {
  const [x, y] = [value(a), value(b)];
  return x === y ? 0 : x < y ? -1 : 1;
}

const filter = document.getElementById("filter");
filter.hidden = false;
filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of document.querySelectorAll("[data-id]")) {
    row.hidden = !words.every((word) => row.dataset.id.toLowerCase().includes(word));
  }
  for (const body of document.querySelectorAll("tbody[data-algorithm]")) {
    body.hidden = !body.querySelector("[data-id]:not([hidden])");
  }
});

for (const replay of document.querySelectorAll(".replay")) {
  const button = document.createElement("button");
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(replay.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(replay);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  replay.after(button);
}
