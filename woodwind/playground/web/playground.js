
"use strict";
const byId = (id) => document.getElementById(id);
const facts = JSON.parse(byId("facts").textContent);
const SVG = "http://www.w3.org/2000/svg";
const NAMES = {bagging: "Bagging", forest: "Random forest", adaboost: "AdaBoost", boosting: "Gradient boosting"};
const COLOURS = [[181, 72, 12], [18, 97, 160]];
const keyOf = (table, noise, method, depth, rate) => [table, noise, method, depth, rate].join(" ");
const places = new Map(facts.runs.map((one, place) => [keyOf(one.table, one.noise, one.method, one.depth, one.rate), place]));
let grids = null, timer = 0;

function draw(parent, tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
}

function state() {
  const pick = (id, list) => list[Number(byId(id).value)];
  const method = byId("method").value, rated = method === "adaboost" || method === "boosting";
  const found = {method, table: byId("table").value, depth: pick("depth", facts.depths), noise: pick("noise", facts.noises),
    rate: pick("rate", facts.rates), rated, stage: Number(byId("round").value)};
  found.place = places.get(keyOf(found.table, found.noise, method, found.depth, rated ? found.rate : null));
  found.run = facts.runs[found.place];
  found.round = facts.rounds[found.stage];
  return found;
}

// The probability of class 1 at a cell of the grid, from 0 to 255.
function cells(now) {
  const size = facts.side * facts.side, begin = (now.place * facts.rounds.length + now.stage) * size;
  return grids.subarray(begin, begin + size);
}

function surface(now) {
  const canvas = byId("surface"), pen = canvas.getContext("2d"), side = facts.side, step = canvas.width / side, grid = cells(now);
  for (let up = 0; up < side; up++) for (let across = 0; across < side; across++) {
    const share = grid[up * side + across] / 255, own = COLOURS[share > 0.5 ? 1 : 0], strength = 0.12 + 0.6 * Math.abs(2 * share - 1);
    pen.fillStyle = "rgb(" + own.map((part) => Math.round(255 + (part - 255) * strength)).join(",") + ")";
    pen.fillRect(Math.floor(across * step), Math.floor((side - 1 - up) * step), Math.ceil(step), Math.ceil(step));
  }
  pen.strokeStyle = "#1c1f23";
  pen.lineWidth = 2;
  pen.beginPath();
  const is = (up, across) => grid[up * side + across] > 127.5;
  for (let up = 0; up < side; up++) for (let across = 0; across < side; across++) {
    const x = (across + 1) * step, y = (side - 1 - up) * step;
    if (across + 1 < side && is(up, across) !== is(up, across + 1)) { pen.moveTo(x, y); pen.lineTo(x, y + step); }
    if (up + 1 < side && is(up, across) !== is(up + 1, across)) { pen.moveTo(x - step, y); pen.lineTo(x, y); }
  }
  pen.stroke();
  for (const [x, y, label] of facts.points[now.table + " " + now.noise]) {
    const left = (x + 1) / 2 * canvas.width, top = (1 - y) / 2 * canvas.height;
    const across = Math.min(Math.floor((x + 1) / 2 * side), side - 1), up = Math.min(Math.floor((y + 1) / 2 * side), side - 1);
    pen.beginPath();
    if (label) pen.arc(left, top, 4, 0, 2 * Math.PI); else pen.rect(left - 3.5, top - 3.5, 7, 7);
    pen.fillStyle = "rgb(" + COLOURS[label].join(",") + ")";
    pen.fill();
    const wrong = is(up, across) !== Boolean(label);
    pen.strokeStyle = wrong ? "#000" : "#fff";
    pen.lineWidth = wrong ? 2.5 : 1;
    pen.stroke();
  }
}

function errors(now) {
  const root = byId("errors"), most = Math.max(0.1, ...now.run.train, ...now.run.test), last = now.run.train.length;
  root.replaceChildren();
  const x = (round) => 34 + 316 * Math.log(round) / Math.log(last), y = (error) => 172 - 160 * error / most;
  for (let tick = 0; tick <= 4; tick++) {
    const value = most * tick / 4;
    draw(root, "line", {class: "axis", x1: 34, x2: 350, y1: y(value), y2: y(value)});
    draw(root, "text", {x: 0, y: y(value) + 4}, (100 * value).toFixed(0) + " %");
  }
  for (const round of [1, 2, 5, 10, 20, last]) draw(root, "text", {x: x(round) - 5, y: 190}, String(round));
  for (const name of ["train", "test"]) {
    const path = now.run[name].map((error, place) => (place ? "L" : "M") + x(place + 1).toFixed(1) + " " + y(error).toFixed(1)).join("");
    draw(root, "path", {class: "line " + name, d: path});
  }
  draw(root, "line", {class: "now", x1: x(now.round), x2: x(now.round), y1: 8, y2: 172});
  const share = (list) => (100 * list[now.round - 1]).toFixed(1) + " %";
  byId("error-value").textContent = share(now.run.train) + " and " + share(now.run.test);
}

function margins(now) {
  const root = byId("margins"), counts = now.run.margins[now.stage], most = Math.max(...now.run.margins.flat()), wide = 350 / counts.length;
  root.replaceChildren();
  counts.forEach((count, place) => draw(root, "rect", {class: 2 * place < counts.length ? "bad" : "good", x: 5 + place * wide + 0.5,
    width: wide - 1, y: 128 - 120 * count / most, height: 120 * count / most}));
  draw(root, "line", {class: "axis", x1: 5, x2: 355, y1: 128, y2: 128});
  for (const [value, at] of [["−1", 5], ["0", 176], ["1", 347]]) draw(root, "text", {x: at, y: 144}, value);
}

function show() {
  const now = state();
  byId("round-value").textContent = now.round;
  byId("depth-value").textContent = now.depth;
  byId("rate-value").textContent = now.rated ? now.rate : "none";
  byId("noise-value").textContent = Math.round(100 * now.noise) + " %";
  byId("rate").disabled = !now.rated;
  byId("rate").parentElement.toggleAttribute("data-off", !now.rated);
  surface(now);
  errors(now);
  margins(now);
  byId("words").textContent = NAMES[now.method] + ", " + now.round + (now.round === 1 ? " tree" : " trees") + " of depth " + now.depth + ".";
}

function play() {
  if (timer) { clearInterval(timer); timer = 0; byId("play").textContent = "Play"; return; }
  if (Number(byId("round").value) === facts.rounds.length - 1) byId("round").value = 0;
  byId("play").textContent = "Stop";
  timer = setInterval(() => {
    const next = Number(byId("round").value) + 1;
    if (next >= facts.rounds.length) { play(); return; }
    byId("round").value = next;
    show();
  }, 600);
}

async function begin() {
  const packed = Uint8Array.from(atob(byId("grids").textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  grids = new Uint8Array(await new Response(stream).arrayBuffer());
  for (const [id, list] of [["round", facts.rounds], ["depth", facts.depths], ["rate", facts.rates], ["noise", facts.noises]]) byId(id).max = list.length - 1;
  for (const [id, list] of [["method", facts.methods], ["table", facts.tables]]) {
    for (const value of list) { const made = document.createElement("option"); made.value = value; made.textContent = NAMES[value] || value; byId(id).appendChild(made); }
  }
  byId("method").value = "adaboost";
  byId("depth").value = 0;
  byId("round").value = 7;
  for (const id of ["method", "table", "round", "depth", "rate", "noise"]) byId(id).addEventListener("input", show);
  byId("play").addEventListener("click", play);
  show();
  document.body.dataset.ready = "yes";
}

begin();
