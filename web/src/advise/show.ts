/** An answer on the page: a panel for everything that may be compared, and what all rests on. */

import { el } from "../ui/dom";
import { size, time } from "./amounts";
import { type Answer, detailOf, nameOf, type Section, type Spread, type Way } from "./answer";
import { scatter } from "./scatter";

/** Ways of a section shown at first. */
const SHOWN = 10;
const KEY = "● nothing beats it in every figure;  = cannot be told apart from others of its rank; open a row to see what it rests on.";
const HEADS = ["", "Way", "Latency", "p50", "p99", "Bytes", "CPU", "Memory"];

/** Writes an answer. */
export function show(box: HTMLElement, answer: Answer): void {
  box.replaceChildren();
  if (answer.refusal !== null) box.append(refusal(answer));
  for (const section of answer.sections) box.append(panel(answer, section));
  if (answer.sources.length > 0) box.append(sources(answer));
}

/** Writes why there is no answer. */
export function showFault(box: HTMLElement, sentence: string): void {
  box.replaceChildren(el("section", "panel refusal", el("h2", "", "Not understood"), el("p", "", sentence)));
}

function refusal({ refusal, elsewhere, sections }: Answer): HTMLElement {
  const panel = el("section", "panel refusal", el("h2", "", "No answer"), el("p", "", `${sentence(refusal?.why)}.`));
  for (const run of refusal?.runs ?? [])
    panel.append(el("p", "", "This run would give one:"), el("pre", "", `${run.command}\n${run.brings}`));
  if (refusal?.runs.length === 0 && sections.length === 0)
    panel.append(el("p", "", "No experiment has a cell there; a plan of your own does: weir bench run PLAN.toml"));
  if (elsewhere.length > 0)
    panel.append(
      el("p", "aside", "What was measured:"),
      el("ul", "elsewhere", ...elsewhere.map((line) => el("li", "", line))),
    );
  return panel;
}

function sentence(words = ""): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function panel(answer: Answer, section: Section): HTMLElement {
  const title = section.test === null ? section.experiment : `${section.experiment}: ${section.test}`;
  const head = el("div", "head", el("h2", "", title), el("span", "aside", `latency is ${section.time}`));
  const panel = el("section", "panel section", head);
  for (const line of section.compared_at) panel.append(el("p", "aside", sentence(line)));
  if (section.doubts.length > 0) panel.append(el("p", "doubts", `All less sure: ${section.doubts.join("; ")}.`));
  if (section.ranked.length > 0) {
    panel.append(el("p", "verdict", verdict(section)));
    const rows = new Map<Way, HTMLElement>();
    const pick = (way: Way) => reveal(rows.get(way));
    const plot = scatter(section.ranked, pick);
    if (plot !== undefined) panel.append(plot);
    panel.append(table(answer, section.ranked, rows), el("p", "aside", KEY));
  }
  panel.append(...left(section.failing, "do not meet a need"), ...left(section.unjudged, "cannot be judged"));
  if (section.outside > 0)
    panel.append(el("p", "aside", `${section.outside} ways were measured at other points only.`));
  return panel;
}

function verdict({ ranked }: Section): string {
  const first = ranked.filter(({ rank }) => rank === 1);
  const names = [...new Set(first.map(nameOf))];
  if (first.length === 1) return `${names[0]} is first.`;
  const more = names.length > 3 ? " and others" : "";
  return `${first.length} ways cannot be told apart: ${names.slice(0, 3).join(", ")}${more}.`;
}

function table(answer: Answer, ways: readonly Way[], rows: Map<Way, HTMLElement>): HTMLElement {
  const head = el("tr", "", ...HEADS.map((words) => el("th", "", words)));
  const body = el("tbody");
  ways.forEach((way, index) => {
    const [row, more] = rowsOf(answer, way);
    row.classList.toggle("later", index >= SHOWN);
    rows.set(way, row);
    body.append(row, more);
  });
  const box = el("div", "scroll", el("table", "ways", el("thead", "", head), body));
  if (ways.length <= SHOWN) return box;
  const button = el("button", "quiet", `All ${ways.length}`);
  button.type = "button";
  button.addEventListener("click", () => {
    for (const row of rows.values()) row.classList.remove("later");
    button.remove();
  });
  return el("div", "", box, button);
}

/** A way's row, and the one below it that says what it rests on. */
function rowsOf(answer: Answer, way: Way): [HTMLTableRowElement, HTMLTableRowElement] {
  const { latency, bytes, cpu, memory } = way.figures;
  const name = el("td", "way", el("b", "", nameOf(way)), el("span", "", detailOf(way)));
  if (way.doubts.length > 0) name.append(el("i", "", "less sure"));
  const rank = el("td", "rank", `${way.rank}${way.tied ? "=" : ""}`);
  if (way.front) rank.append(el("span", "mark", "●"));
  const [p50, , p99] = latency.percentiles ?? [];
  const row = el(
    "tr",
    way.front ? "front" : "",
    rank,
    name,
    spread(latency.mean, time),
    el("td", "", p50 === undefined ? "–" : time(p50)),
    el("td", "", p99 === undefined ? "–" : time(p99)),
    spread(bytes, size),
    spread(cpu, time),
    spread(memory, size),
  );
  const cell = el("td", "rests", ...rests(answer, way));
  cell.colSpan = HEADS.length;
  const more = el("tr", "more", cell);
  more.hidden = true;
  row.tabIndex = 0;
  row.setAttribute("aria-expanded", "false");
  const toggle = () => {
    more.hidden = !more.hidden;
    row.setAttribute("aria-expanded", String(!more.hidden));
  };
  row.addEventListener("click", toggle);
  row.addEventListener("keydown", ({ key }) => key === "Enter" && toggle());
  return [row, more];
}

function spread(figure: Spread | null, words: (value: number) => string): HTMLElement {
  if (figure === null) return el("td", "", "–");
  const cell = el("td", "", words(figure.value));
  if (figure.low !== null && figure.high !== null)
    cell.append(el("small", "", `${words(figure.low)} – ${words(figure.high)}`));
  return cell;
}

function rests(answer: Answer, way: Way): HTMLElement[] {
  const lines: HTMLElement[] = [];
  if (way.doubts.length > 0) lines.push(el("p", "doubts", `Less sure: ${way.doubts.join("; ")}.`));
  for (const { need, holds, measured } of way.needs)
    lines.push(el("p", "", `${need}: ${holds === true ? "holds" : "does not hold"}, ${measured}`));
  for (const { cell, n, source } of way.cells)
    lines.push(el("p", "", el("code", "", cell || "its only cell"), ` n = ${n}, ${answer.sources[source]?.name ?? ""}`));
  return lines;
}

function left(ways: readonly Way[], words: string): HTMLElement[] {
  if (ways.length === 0) return [];
  const items = ways.map((way) => {
    const bad = way.needs.filter(({ holds }) => holds !== true);
    const why = bad.map(({ need, measured }) => `${need} (${measured})`).join(", ");
    return el("li", "", `${nameOf(way)}, ${detailOf(way)}: ${why}`);
  });
  return [el("details", "left", el("summary", "", `${ways.length} ${words}`), el("ul", "", ...items))];
}

function reveal(row: HTMLElement | undefined): void {
  row?.classList.remove("later");
  row?.focus();
  row?.scrollIntoView({ block: "center" });
}

function sources(answer: Answer): HTMLElement {
  const items = answer.sources.map(({ name, command, started, machine }) =>
    el("li", "", el("b", "", name), " ", el("code", "", command), ` ${started.slice(0, 10)}, ${machine}`),
  );
  const panel = el("section", "panel sources", el("h2", "", "Rests on"), el("ul", "", ...items));
  if (answer.sources.some(({ origin }) => origin === "reference"))
    panel.append(
      el("p", "aside", "The reference was measured on another machine than yours: its order may differ, its figures will."),
    );
  return panel;
}
