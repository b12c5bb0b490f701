/**
 * What a person sees of a measurement. Nothing here runs while a cell of an experiment does: it is brought up to
 * date between cells, so that looking at the figures does not change them.
 */

import { byId, context2d, el, setText } from "../ui/dom";
import { milliseconds } from "../ui/figures";
import { quantile, type Stamps, TERMS, type Term, type Times, timesOf } from "./stamps";

/** What a term is, in the words of the paper's section V. */
const MEANING: Record<Term, string> = {
  transmit: "available at the gateway to the last byte here",
  decode: "bytes to observations",
  process: "combined with what was before",
  render: "to the frame on the screen",
};

/** Messages in the strip. */
const STRIP_MAX = 160;
const ROWS: readonly (Term | "draw" | "total")[] = [...TERMS, "draw", "total"];
const NAMES = { draw: "of it, drawing the canvas", total: "T total" };

/** Shows a cell's messages. */
export function showMessages(stamps: readonly Stamps[], offset: number): void {
  const times = stamps.map((one) => timesOf(one, offset));
  showTerms(times);
  drawStrip(times.slice(-STRIP_MAX));
}

function showTerms(times: readonly Times[]): void {
  const rows = ROWS.map((name) => {
    const all = times.map((one) => one[name]).filter((one) => !Number.isNaN(one));
    const mean = all.reduce((sum, one) => sum + one, 0) / all.length;
    const figures = [quantile(all, 0.5), quantile(all, 0.9), quantile(all, 0.99), mean];
    return row(name, figures);
  });
  byId("terms").replaceChildren(...rows);
}

function row(name: (typeof ROWS)[number], figures: readonly number[]): HTMLElement {
  const isTerm = name !== "draw" && name !== "total";
  const head = el("th", `term ${name}`, isTerm ? `T ${name}` : NAMES[name]);
  if (isTerm) head.title = MEANING[name];
  const cells = figures.map((one) => el("td", "", Number.isNaN(one) ? "–" : milliseconds(one)));
  return el("tr", name, head, ...cells);
}

/** A column a message, its terms one above the other; the scale is the p98 of the totals. */
function drawStrip(times: readonly Times[]): void {
  const drawing = context2d(byId<HTMLCanvasElement>("strip"));
  if (drawing === undefined || times.length === 0) return;
  const { ctx, w, h } = drawing;
  const style = getComputedStyle(ctx.canvas);
  const colors = TERMS.map((term) => style.getPropertyValue(`--${term}`));
  const totals = times.map(({ total }) => total);
  const full = Math.max(quantile(totals, 0.98), 0.001) * 1.15;
  const wide = w / Math.max(times.length, STRIP_MAX / 4);
  for (const [i, one] of times.entries()) {
    let base = h;
    for (const [j, term] of TERMS.entries()) {
      const tall = (Math.max(0, one[term] || 0) / full) * h;
      ctx.fillStyle = colors[j] as string;
      ctx.fillRect(i * wide, base - tall, Math.max(1, wide - 1), tall);
      base -= tall;
    }
  }
  ctx.fillStyle = style.getPropertyValue("--dim");
  ctx.font = "12px Inter, sans-serif";
  ctx.fillText(`${milliseconds(full)} ms`, 6, 14);
}

/** Shows what is being done, and how much of it is. */
export function showDoing(text: string, share?: number): void {
  setText(byId("doing"), text);
  byId("progress").style.width = `${Math.round(100 * (share ?? 0))}%`;
}

/** Shows facts as pairs of a name and what is so. */
export function showFacts(facts: Readonly<Record<string, string>>): void {
  const pairs = Object.entries(facts).flatMap(([name, text]) => [el("dt", "", name), el("dd", "", text)]);
  byId("facts").replaceChildren(...pairs);
}

/** Medians of T_total by format and delivery, as they come in: a table with a shade for each. */
export class Matrix {
  private readonly medians = new Map<string, Map<string, number>>();
  private readonly columns: string[] = [];

  add(rowName: string, column: string, median: number): void {
    if (!this.columns.includes(column)) this.columns.push(column);
    const row = this.medians.get(rowName) ?? new Map<string, number>();
    row.set(column, median);
    this.medians.set(rowName, row);
    this.show();
  }

  private show(): void {
    byId("cells-box").classList.remove("hidden");
    const all = [...this.medians.values()].flatMap((row) => [...row.values()]);
    const [least, most] = [Math.log(Math.min(...all)), Math.log(Math.max(...all))];
    const shade = (value: number) => (most === least ? 0 : (Math.log(value) - least) / (most - least));
    const head = el("tr", "", el("th"), ...this.columns.map((column) => el("th", "", column)));
    const rows = [...this.medians].map(([name, row]) => {
      const cells = this.columns.map((column) => {
        const value = row.get(column);
        const cell = el("td", "", value === undefined ? "" : milliseconds(value));
        if (value !== undefined) cell.style.setProperty("--shade", shade(value).toFixed(3));
        return cell;
      });
      return el("tr", "", el("th", "", name), ...cells);
    });
    byId("cells").replaceChildren(el("table", "heat", head, ...rows));
  }
}
