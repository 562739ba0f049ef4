"use strict";
// Columns of tables are sorted by a click on their head, and tables that are wider than the screen say so. The page is whole without it.
const hint = () => document.querySelectorAll(".scroll").forEach((one) => {
  one.classList.toggle("more", one.scrollWidth > one.clientWidth + 2);
});
hint();
addEventListener("resize", hint);
document.querySelectorAll("table.sortable").forEach((table) => {
  const body = table.tBodies[0];
  const value = (row, place) => {
    const cell = row.cells[place];
    return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
  };
  table.querySelectorAll("thead th").forEach((head, place) => {
    if (head.dataset.fixed !== undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = Array.from(body.rows).map((row) => [value(row, place), row]);
      const numbers = rows.every(([one]) => one === "" || !Number.isNaN(Number(one)));
      rows.sort(([a], [b]) => {
        if (a === "" || b === "") return (a === "") - (b === "");
        return (up ? 1 : -1) * (numbers ? Number(a) - Number(b) : a.localeCompare(b));
      });
      rows.forEach(([, row]) => body.append(row));
    });
  });
});
