/** Latency against bytes of every way; what nothing beats in everything stands out. */

import { svg } from "../ui/dom";
import { decades, size, time } from "./amounts";
import { detailOf, nameOf, type Way } from "./answer";

const [WIDE, HIGH] = [720, 300];
const EDGE = { left: 64, right: 20, top: 14, bottom: 40 };

interface Scale {
  ticks: number[];
  at(value: number): number;
}

/** The plot; undefined where fewer than two ways have both figures. */
export function scatter(ways: readonly Way[], pick: (way: Way) => void): SVGSVGElement | undefined {
  const shown = ways.filter(({ figures }) => (figures.bytes?.value ?? 0) > 0 && figures.latency.mean.value > 0);
  if (shown.length < 2) return undefined;
  const root = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "scatter", role: "img" });
  root.setAttribute("aria-label", "Latency against bytes of each way");
  const x = scale(shown.map(latency), EDGE.left, WIDE - EDGE.right);
  const y = scale(shown.map(bytes), HIGH - EDGE.bottom, EDGE.top);
  axes(root, x, y);
  for (const way of shown.toReversed()) root.append(point(way, x, y, pick));
  labels(root, shown, x, y);
  return root;
}

function latency(way: Way): number {
  return way.figures.latency.mean.value;
}

function bytes(way: Way): number {
  return way.figures.bytes?.value ?? 0;
}

function scale(values: number[], from: number, to: number): Scale {
  const [low, high] = [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
  const [first, span] = [Math.log10(low), Math.log10(high) - Math.log10(low)];
  const ticks = decades(low, high).filter((tick) => tick >= low && tick <= high);
  const fine = ticks.length > 1 ? ticks : halves(low, high);
  return { ticks: fine, at: (value) => from + ((Math.log10(value) - first) / span) * (to - from) };
}

/** Where there is less than a decade between two: steps within it. */
function halves(low: number, high: number): number[] {
  const all = decades(low, high).flatMap((decade) => [1, 1.5, 2, 3, 5, 7].map((step) => step * decade));
  return all.filter((tick) => tick >= low && tick <= high);
}

function axes(root: SVGSVGElement, x: Scale, y: Scale): void {
  const [bottom, right] = [HIGH - EDGE.bottom, WIDE - EDGE.right];
  for (const tick of x.ticks) {
    const at = x.at(tick);
    root.append(svg("line", { x1: at, x2: at, y1: EDGE.top, y2: bottom, class: "grid" }));
    root.append(text(time(tick), at, bottom + 16, "middle"));
  }
  for (const tick of y.ticks) {
    const at = y.at(tick);
    root.append(svg("line", { x1: EDGE.left, x2: right, y1: at, y2: at, class: "grid" }));
    root.append(text(size(tick), EDGE.left - 8, at + 4, "end"));
  }
  root.append(text("latency", right, HIGH - 6, "end"), text("bytes a message", EDGE.left + 6, EDGE.top + 8, "start"));
}

function text(words: string, x: number, y: number, anchor: string, kind = "tick"): SVGTextElement {
  const element = svg("text", { x, y, "text-anchor": anchor, class: kind });
  element.textContent = words;
  return element;
}

function point(way: Way, x: Scale, y: Scale, pick: (way: Way) => void): SVGGElement {
  const group = svg("g", { class: way.front ? "dot front" : "dot" });
  const { low, high, value } = way.figures.latency.mean;
  const row = y.at(bytes(way));
  if (low !== null && high !== null && low > 0)
    group.append(svg("line", { x1: Math.max(x.at(low), EDGE.left), x2: Math.min(x.at(high), WIDE - EDGE.right), y1: row, y2: row, class: "interval" }));
  group.append(svg("circle", { cx: x.at(value), cy: row, r: way.front ? 6 : 4.5 }));
  const title = svg("title");
  title.textContent = `${nameOf(way)}, ${detailOf(way)}: ${time(value)}, ${size(bytes(way))}`;
  group.append(title);
  group.addEventListener("click", () => pick(way));
  return group;
}

/** Names of the front, where they do not lie on each other. */
function labels(root: SVGSVGElement, ways: readonly Way[], x: Scale, y: Scale): void {
  const taken: { left: number; right: number; row: number }[] = [];
  const best = ways.filter(({ front }) => front);
  for (const way of best) {
    const isAlone = best.filter((other) => nameOf(other) === nameOf(way)).length === 1;
    const name = isAlone ? nameOf(way) : `${nameOf(way)}, ${way.target}`;
    const [at, row, width] = [x.at(latency(way)), y.at(bytes(way)), name.length * 6.4];
    const flips = at + 12 + width > WIDE - EDGE.right;
    const left = flips ? at - 12 - width : at + 12;
    const box = { left, right: left + width, row };
    if (taken.some((other) => Math.abs(other.row - row) < 15 && other.left < box.right && box.left < other.right)) continue;
    taken.push(box);
    root.append(text(name, flips ? at - 11 : at + 11, row + 4, flips ? "end" : "start", "name"));
  }
}
