
"use strict";
const MOST_BARS = 12;
const MISSING = "";
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let schema = null;

// Everything that comes from the server is set as text, never as HTML.
function make(tag, text, attributes) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  return made;
}

function draw(parent, tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}

function shortened(text, most) {
  const signs = Array.from(String(text));
  return signs.length > most ? signs.slice(0, most - 1).join("") + "…" : signs.join("");
}

function figure(number, signed) {
  const size = Math.abs(number);
  let text = size !== 0 && (size < 0.001 || size >= 1e6) ? size.toExponential(2) : size.toFixed(size < 10 ? 3 : size < 1000 ? 1 : 0);
  if (size >= 10 && text.includes(".")) text = text.replace(/\.0$/, "");
  return (number < 0 ? "−" : signed ? "+" : "") + text;
}

function complain(words) {
  byId("error").textContent = words;
  byId("error").hidden = words === "";
}

async function asked(path, body) {
  const options = body === undefined ? {} : {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  const answer = await fetch(path, options);
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error || "The server answered with status " + answer.status + ".");
  return found;
}

function control(column, position) {
  const id = "field-" + position;
  const field = make("div", null, {class: "field"});
  field.appendChild(make("label", column.name, {for: id}));
  let input;
  if (column.kind === "category" && column.categories) {
    input = make("select", null, {id});
    input.appendChild(make("option", "missing", {value: MISSING}));
    column.categories.forEach((category, number) => input.appendChild(make("option", String(category), {value: "c" + number})));
  } else {
    const hints = {"date": "2026-01-31", "time of day": "10:30:00", "duration": "seconds"};
    input = make("input", null, {id, type: "text", placeholder: hints[column.kind] || "missing"});
    if (["number", "duration"].includes(column.kind)) input.setAttribute("inputmode", "decimal");
  }
  field.appendChild(input);
  return field;
}

// What is typed, as JSON. Text that is no number where one is wanted is sent as it is, and the server says what is wrong with it.
function valueOf(column, position) {
  const text = byId("field-" + position).value.trim();
  if (text === MISSING) return null;
  if (column.kind === "category" && column.categories) return column.categories[Number(text.slice(1))];
  const number = Number(text.replace(",", "."));
  const wanted = ["number", "duration", "any"].includes(column.kind) || (column.kind === "category" && column.datatype === "FP64");
  return wanted && Number.isFinite(number) ? number : text;
}

function fill(row) {
  schema.columns.forEach((column, position) => {
    const value = row ? row[column.name] : null;
    const input = byId("field-" + position);
    if (value === null || value === undefined) input.value = MISSING;
    else if (column.kind === "category" && column.categories) {
      const number = column.categories.indexOf(value);
      input.value = number < 0 ? MISSING : "c" + number;
    } else input.value = String(value);
  });
}

function showProbabilities(found, chosen) {
  const box = byId("probabilities");
  box.replaceChildren();
  const pairs = Object.entries(found || {}).sort((one, two) => two[1] - one[1]).slice(0, 10);
  for (const [name, share] of pairs) {
    const line = make("div", null, {class: "proba"});
    line.appendChild(make("span", shortened(name, 40)));
    const bar = document.createElementNS(SVG, "svg");
    bar.setAttribute("viewBox", "0 0 100 10");
    bar.setAttribute("preserveAspectRatio", "none");
    bar.setAttribute("aria-hidden", "true");
    draw(bar, "rect", {class: "track", width: 100, height: 10});
    draw(bar, "rect", {class: "fill", width: Math.max(100 * share, 0.4), height: 10});
    line.appendChild(bar);
    line.appendChild(make("span", (100 * share).toFixed(1) + " %"));
    box.appendChild(line);
  }
}

function bars(explanation, output) {
  const all = explanation.columns.map((one) => ({name: one.column, cell: one.value, value: one.contributions[output]}))
    .filter((one) => one.value !== 0).sort((one, two) => Math.abs(two.value) - Math.abs(one.value));
  const shown = all.slice(0, MOST_BARS), rest = all.slice(MOST_BARS);
  if (rest.length) shown.push({name: rest.length + " other columns", cell: "", value: rest.reduce((sum, one) => sum + one.value, 0)});
  return shown;
}

function showReasons(explanation, output) {
  const box = byId("chart"), shown = bars(explanation, output), name = explanation.outputs[output];
  box.replaceChildren();
  const what = explanation.scale + (name ? " of " + shortened(name, 40) : "");
  const exact = explanation.exact_share < 1 ? " " + Math.round(100 * explanation.exact_share) + " % of the model is explained exactly, the rest by sampling." : "";
  byId("reasons").textContent = "The " + what + " is " + figure(explanation.scores[output]) + "; on average it is " +
    figure(explanation.base[output]) + ". Bars to the right raise it, bars to the left lower it." + exact;
  const width = 460, line = 40, middle = width / 2;
  const root = document.createElementNS(SVG, "svg");
  root.setAttribute("viewBox", "0 0 " + width + " " + (line * shown.length + 4));
  root.setAttribute("class", "chart");
  root.setAttribute("role", "img");
  root.setAttribute("aria-label", shown.map((one) => shortened(one.name, 30) + " " + figure(one.value, true)).join("; "));
  const most = Math.max(...shown.map((one) => Math.abs(one.value)), 1e-300);
  draw(root, "line", {x1: middle, x2: middle, y1: 0, y2: line * shown.length});
  shown.forEach((one, number) => {
    const top = line * number, size = Math.max((middle - 6) * Math.abs(one.value) / most, 1);
    draw(root, "text", {x: 0, y: top + 14}, shortened(one.name + (one.cell ? " = " + one.cell : ""), 50));
    draw(root, "text", {x: width, y: top + 14, class: "end"}, figure(one.value, true));
    draw(root, "rect", {class: one.value > 0 ? "up" : "down", x: one.value > 0 ? middle : middle - size, y: top + 20, width: size, height: 11, rx: 2});
  });
  box.appendChild(root);
}

function show(found, row) {
  byId("hint").hidden = true;
  byId("answer").hidden = false;
  const number = typeof found.prediction === "number" && schema.task !== "classification";
  byId("value").textContent = (schema.target ? schema.target + ": " : "") + (number ? figure(found.prediction) : String(found.prediction));
  const bound = (value) => value === null ? "any number" : figure(value);
  const held = found.interval ? bound(found.interval.lower) + " to " + bound(found.interval.upper) : found.set ? found.set.labels.join(", ") : "";
  byId("interval").textContent = held ? (found.set ? "Labels" : "Bounds") + " that hold the truth for 90 % of new rows: " + held + "." : "";
  showProbabilities(found.probabilities, found.prediction);
  byId("warnings").replaceChildren(...(found.warnings || []).map((words) => make("li", words)));
  if (found.explanation) {
    const place = found.explanation.outputs.indexOf(String(found.prediction));
    showReasons(found.explanation, found.explanation.outputs.length > 1 && place >= 0 ? place : 0);
  } else byId("reasons").textContent = "This model has no explanations.";
  byId("curl").textContent = "curl -H 'Content-Type: application/json' " + location.origin + "/predict" +
    (location.search.includes("model=") ? "?model=" + encodeURIComponent(schema.model) : "") + " -d '" +
    JSON.stringify(row).replaceAll("'", "'\\''") + "'";
}

async function predict(scroll) {
  complain("");
  const row = {};
  schema.columns.forEach((column, position) => { row[column.name] = valueOf(column, position); });
  const body = {row, model: schema.model, explain: schema.explains};
  if (schema.intervals) body.interval = 0.9;
  try {
    const found = await asked("predict", body);
    show(found, row);
    if (scroll) byId("result").scrollIntoView({block: "nearest"});
  } catch (error) { complain(error.message); }
}

async function begin() {
  try {
    const names = (await asked("models")).models;
    const wanted = new URLSearchParams(location.search).get("model");
    const name = names.includes(wanted) ? wanted : names[0];
    schema = await asked("schema?model=" + encodeURIComponent(name));
    if (names.length > 1) {
      byId("choice").hidden = false;
      byId("models").replaceChildren(...names.map((one) => make("option", one, {value: one})));
      byId("models").value = name;
      byId("models").addEventListener("change", (event) => { location.search = "?model=" + encodeURIComponent(event.target.value); });
    }
    const what = schema.target || schema.model;
    document.title = what + ": Woodwind";
    byId("title").textContent = "Predict " + what;
    byId("about").textContent = schema.task + " by model " + schema.model + ", version " + schema.version +
      (schema.classes.length ? ", " + schema.classes.length + " classes" : "") + ", " + schema.columns.length + " columns";
    byId("fields").replaceChildren(...schema.columns.map(control));
    byId("example").hidden = !schema.example;
    fill(schema.example);
    byId("form").addEventListener("submit", (event) => { event.preventDefault(); predict(true); });
    byId("example").addEventListener("click", () => fill(schema.example));
    byId("clear").addEventListener("click", () => fill(null));
    if (schema.example) await predict(false);
  } catch (error) {
    byId("title").textContent = "No model";
    complain(error.message);
  }
  document.body.dataset.ready = "yes";
}

begin();
