// Sorts, filters, switches and points; every number is in the page already.
"use strict";
(() => {
  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // A number as the page shows it: thousands apart, three digits that matter.
  const shown = (value) => {
    if (value === null || value === undefined) return "";
    const size = Math.abs(value);
    if (size >= 1000) return Math.round(value).toLocaleString("en");
    return value.toFixed(size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
  };
  const natural = new Intl.Collator("en", { numeric: true });

  // What is under the pointer.
  const tip = element("div", { id: "tip", hidden: true });
  document.body.append(tip);
  document.addEventListener("pointermove", (event) => {
    const over = event.target instanceof Element && event.target.closest("[data-tip]");
    tip.hidden = !over;
    if (!over) return;
    tip.textContent = over.dataset.tip;
    const right = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${window.scrollX + Math.max(4, Math.min(event.clientX + 14, right))}px`;
    tip.style.top = `${event.pageY + 16}px`;
  });

  // A group of figures shows one at a time.
  for (const group of document.querySelectorAll(".switch")) {
    const figures = [...group.querySelectorAll("figure")];
    if (figures.length < 2) continue;
    const choose = (at) => figures.forEach((figure, index) => { figure.hidden = index !== at; });
    const options = figures.map((figure, at) => new Option(figure.dataset.title, at));
    const select = element("select", { onchange: () => choose(Number(select.value)) }, ...options);
    const label = element("label", {}, group.dataset.label, select);
    group.prepend(element("div", { className: "filter" }, label));
    choose(0);
    window.addEventListener("beforeprint", () => figures.forEach((figure) => { figure.hidden = false; }));
    window.addEventListener("afterprint", () => choose(Number(select.value)));
  }

  const order = (heads, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    return down ? -1 : 1;
  };

  // Tables whose rows all stand in the page.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    const key = (row, at) => {
      const text = row.cells[at].textContent;
      const number = Number(text.replaceAll(",", ""));
      return text !== "" && !Number.isNaN(number) ? number : text;
    };
    heads.forEach((head, at) => head.querySelector("button")?.addEventListener("click", () => {
      const sign = order(heads, head);
      const compare = (a, b) => (typeof a === "number" && typeof b === "number"
        ? a - b : natural.compare(String(a), String(b)));
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => sign * compare(key(a, at), key(b, at)));
      table.tBodies[0].append(...rows);
    }));
  }

  const source = document.getElementById("data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const unique = (values) => [...new Set(values)];
  const select = (label, options, change) => {
    const made = element("select", { onchange: change }, ...options.map(([text, value]) => new Option(text, value)));
    return [element("label", {}, label, made), made];
  };

  // All cells: filter, sort, a page at a time.
  const table = document.getElementById("table");
  const page = 200;
  let limit = page;
  const rows = data.rows.map(([at, which, ...numbers]) => {
    const [cell, target, status, remarks] = data.results[at];
    const [metric, unit] = data.metrics[which] ?? ["", ""];
    return { cell, target, status, remarks, metric, unit, numbers, words: `${cell} ${target} ${metric} ${status}` };
  });
  let showing = rows;
  const line = (row) => {
    const [n, mean, p50, p90, p99, p999, max, low, high, lost] = row.numbers;
    const interval = low === null || low === undefined ? "" : `${shown(low)} to ${shown(high)}`;
    const made = element("tr");
    const words = [row.cell, row.target, row.metric, row.unit];
    const numbers = [n ?? "", ...[mean, p50, p90, p99, p999, max].map(shown), interval, lost || ""];
    words.forEach((text) => made.append(element("td", { className: "words", textContent: text })));
    made.cells[0].className = "words cell";
    made.cells[0].replaceChildren(...row.cell.split(/(?<=;)/).flatMap((pair) => [pair, element("wbr")]));
    numbers.forEach((text) => made.append(element("td", { textContent: text })));
    const said = row.status + (row.numbers[10] ?? "");
    const status = element("td", { className: said === "ok" ? "words" : "bad", textContent: said });
    made.append(status);
    if (row.remarks.length) {
      made.dataset.tip = row.remarks.join("; ");
      status.textContent += " *";
    }
    return made;
  };
  const search = element("input", { type: "search", placeholder: "words of the cell, in any order", size: 30 });
  const [metricLabel, metricSelect] = select("metric", [["all", ""], ...data.metrics.map(([name]) => [name, name])],
    () => filter());
  const targets = unique(data.results.map((result) => result[1]));
  const [targetLabel, targetSelect] = select("contender", [["all", ""], ...targets.map((name) => [name, name])],
    () => filter());
  const counted = element("output");
  const more = element("button", { type: "button", textContent: "more rows", onclick: () => { limit *= 5; draw(); } });
  function draw() {
    table.tBodies[0].replaceChildren(...showing.slice(0, limit).map(line));
    counted.textContent = `${Math.min(limit, showing.length)} of ${showing.length} rows`;
    more.hidden = showing.length <= limit;
  }
  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    showing = rows.filter((row) => (!metricSelect.value || row.metric === metricSelect.value)
      && (!targetSelect.value || row.target === targetSelect.value)
      && words.every((word) => row.words.toLowerCase().includes(word)));
    limit = page;
    draw();
  }
  search.addEventListener("input", filter);
  const box = document.getElementById("filter");
  box.append(element("label", {}, "filter", search), metricLabel, targetLabel, counted, more);
  box.hidden = false;
  document.querySelector("#cells .more")?.remove();
  const heads = [...table.tHead.rows[0].cells];
  const fields = [(r) => r.cell, (r) => r.target, (r) => r.metric, (r) => r.unit,
    ...[0, 1, 2, 3, 4, 5, 6, 7, 9].map((at) => (r) => r.numbers[at] ?? null), (r) => r.status];
  heads.forEach((head, at) => head.querySelector("button").addEventListener("click", () => {
    const sign = order(heads, head);
    const field = fields[at];
    // What has no value stays at the end, whichever way.
    showing = [...showing].sort((a, b) => {
      const [x, y] = [field(a), field(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return sign * (typeof x === "number" ? x - y : natural.compare(x, y));
    });
    draw();
  }));
  draw();

  // The matrix: two factors against each other.
  const choice = document.getElementById("pivot-choice");
  if (!choice) return;
  const levels = data.results.map(([cell, target]) => {
    const pairs = cell.split(";").map((pair) => pair.split("=")).filter((pair) => pair.length === 2);
    return Object.fromEntries([...pairs, ["contender", target]]);
  });
  const factors = unique(levels.flatMap((level) => Object.keys(level)));
  const varied = Object.fromEntries(factors.map((factor) => [factor,
    unique(levels.map((level) => level[factor]).filter((level) => level !== undefined)).sort(natural.compare)]));
  const names = factors.filter((factor) => varied[factor].length > 1);
  const prefer = (list) => list.find((name) => names.includes(name));
  const down = prefer(["format", "protocol", "delivery", "contender"]) ?? names[0];
  const across = prefer(["file", "payload", "subscribers", "nodes", "clients", "rate", "contender"]
    .filter((name) => name !== down)) ?? names.find((name) => name !== down) ?? down;
  const [rowLabel, rowSelect] = select("rows", names.map((name) => [name, name]), () => pivot());
  const [columnLabel, columnSelect] = select("columns", names.map((name) => [name, name]), () => pivot());
  rowSelect.value = down;
  columnSelect.value = across;
  const units = data.metrics.map(([name, unit], at) => [unit && unit !== "1" ? `${name}, ${unit}` : name, at]);
  const [cellLabel, cellSelect] = select("metric", units, () => pivot());
  const figures = [["mean", 1], ["p50", 2], ["p90", 3], ["p99", 4], ["p99.9", 5], ["max", 6]];
  const [figureLabel, figureSelect] = select("figure", figures, () => pivot());
  const others = names.map((name) => {
    const [label, made] = select(name, [["any", ""], ...varied[name].map((level) => [level, level])], () => pivot());
    return { name, label, made };
  });
  choice.append(rowLabel, columnLabel, cellLabel, figureLabel, ...others.map((other) => other.label));
  // As many cells as possible with one value: fix what varies most, from the first level on.
  const defaults = { data: "caps", place: "native", from: "document", pace: "next", link: "local" };
  for (const { name, made } of others) {
    if (varied[name].includes(defaults[name])) made.value = defaults[name];
  }

  function pivot() {
    const [row, column] = [rowSelect.value, columnSelect.value];
    others.forEach(({ name, label }) => { label.hidden = name === row || name === column; });
    const fixed = others.filter(({ name, made }) => made.value && name !== row && name !== column);
    const cells = new Map();
    for (const [at, which, ...numbers] of data.rows) {
      const level = levels[at];
      if (which !== Number(cellSelect.value)) continue;
      if (!fixed.every(({ name, made }) => level[name] === made.value)) continue;
      if (level[row] === undefined || level[column] === undefined) continue;
      const value = numbers[figureSelect.value] ?? (figureSelect.value === "1" ? null : numbers[1]);
      if (value === null) continue;
      const key = `${level[row]}\n${level[column]}`;
      cells.set(key, [...(cells.get(key) ?? []), value]);
    }
    draw2(row, column, cells);
  }

  function draw2(row, column, cells) {
    const at = (a, b) => cells.get(`${a}\n${b}`);
    const across = varied[column].filter((b) => varied[row].some((a) => at(a, b)));
    const down = varied[row].filter((a) => across.some((b) => at(a, b)));
    const middle = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const all = [...cells.values()].map(middle);
    const [least, most] = [Math.min(...all), Math.max(...all)];
    const log = least > 0 && most / least > 20;
    const share = (value) => (most <= least ? 0
      : log ? Math.log(value / least) / Math.log(most / least) : (value - least) / (most - least));
    const head = element("tr", {}, element("th"), ...across.map((b) => element("th", { textContent: b })));
    const body = down.map((a) => {
      const line = element("tr", {}, element("th", { scope: "row", textContent: a }));
      for (const b of across) {
        const values = at(a, b);
        const cell = element("td", { className: values ? "" : "none" });
        if (values) {
          const [low, high] = [Math.min(...values), Math.max(...values)];
          const range = shown(low) === shown(high) ? shown(low) : `${shown(low)} to ${shown(high)}`;
          cell.textContent = values.length === 1 ? range : `${range} (${values.length})`;
          cell.style.setProperty("--t", `${Math.round(share(middle(values)) * 100)}%`);
          if (share(middle(values)) > 0.55) cell.className = "strong";
        }
        line.append(cell);
      }
      return line;
    });
    const made = element("table", { className: "heat" }, element("thead", {}, head), element("tbody", {}, ...body));
    document.getElementById("pivot").replaceChildren(made);
  }
  pivot();
})();
