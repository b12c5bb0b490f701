/** The latency panel: the papers' terms for the stream on screen, payload size and rate, and their sum as a band. */

import type { Samples, Summary } from "../data/ring";
import { SPARK_POINTS } from "../limits";
import { type Meter, TERMS, type Term } from "../measure/meter";
import { byId, context2d, el, setText } from "../ui/dom";
import { grouped, milliseconds } from "../ui/figures";
import { palette } from "../ui/palette";

interface Line {
  samples: Samples;
  text: (value: number) => string;
  cells: HTMLElement[];
  spark: HTMLCanvasElement;
}

export class Latency {
  private readonly lines: Line[] = [];
  private readonly parts = new Map<Term, HTMLElement>();
  private readonly body = byId("terms").querySelector("tbody") as HTMLElement;

  constructor(private readonly meter: Meter) {
    for (const term of TERMS) {
      this.line(termName(term), meter[term], milliseconds, term);
      const part = el("div", term);
      this.parts.set(term, part);
      byId("split").append(part);
    }
    this.line(termName("total"), meter.total, milliseconds, "total");
    this.line("frame wait", meter.wait, milliseconds, "wait");
    this.line("payload, bytes", meter.bytes, grouped, "bytes");
    this.line("messages / s", meter.rate, (value) => value.toFixed(1), "rate");
  }

  update(): void {
    const summaries = this.lines.map((line) => this.fill(line));
    const means = summaries.slice(0, TERMS.length).map((summary) => Math.max(0, summary?.mean ?? 0));
    const total = means.reduce((sum, mean) => sum + mean, 0);
    for (const [i, term] of TERMS.entries()) {
      const share = total === 0 ? 0 : ((means[i] as number) / total) * 100;
      (this.parts.get(term) as HTMLElement).style.flexBasis = `${share}%`;
    }
    setText(byId("latency-note"), this.note());
    setText(byId("clock-note"), clockNote(this.meter, summaries[0]));
  }

  /** Tells how many messages of what the page follows were read, for who drives it. */
  count(following: string): void {
    const { dataset } = byId("latency-note");
    dataset["following"] = following;
    dataset["messages"] = String(this.meter.messages);
  }

  private fill(line: Line): Summary | undefined {
    const summary = line.samples.summary();
    for (const [i, key] of (["mean", "p50", "p99"] as const).entries()) {
      setText(line.cells[i] as HTMLElement, summary === undefined ? "–" : line.text(summary[key]));
    }
    drawSpark(line.spark, line.samples.last(SPARK_POINTS));
    return summary;
  }

  private line(name: string | Node, samples: Samples, text: (value: number) => string, kind: string): void {
    const cells = [el("td"), el("td"), el("td")];
    const spark = el("canvas", "spark");
    const head = el("th", "", el("i", kind), name);
    head.scope = "row";
    const row = el("tr", kind, head, ...cells, el("td", "spark-cell", spark));
    this.body.append(row);
    this.lines.push({ samples, text, cells, spark });
  }

  private note(): string {
    const n = this.meter.bytes.length;
    return n === 0 ? "no message yet" : `last ${n} message${n === 1 ? "" : "s"}`;
  }
}

function termName(term: string): Node {
  const name = el("span", "term", "T");
  name.append(el("sub", "", term));
  return name;
}

function clockNote(meter: Meter, transmit: Summary | undefined): string {
  if (transmit === undefined) return "";
  if (transmit.p50 < 0) return "Transmit is negative: this machine’s clock and the sender’s differ.";
  const from = meter.stamped
    ? "Transmit counts from the gateway’s stamp"
    : "Transmit counts from the observation’s own time";
  const step = globalThis.crossOriginIsolated ? "0.005" : "0.1";
  return `${from}; the browser’s clock has steps of ${step} ms.`;
}

function drawSpark(canvas: HTMLCanvasElement, values: readonly number[]): void {
  const drawing = context2d(canvas);
  if (drawing === undefined || values.length < 2) return;
  const { ctx, w, h } = drawing;
  const top = values.reduce((a, b) => Math.max(a, b), 1e-9);
  ctx.beginPath();
  for (const [i, value] of values.entries()) {
    const x = w - ((values.length - 1 - i) * w) / (SPARK_POINTS - 1);
    ctx.lineTo(x, h - 1.5 - (Math.max(0, value) / top) * (h - 3));
  }
  ctx.strokeStyle = palette().dim;
  ctx.lineWidth = 1;
  ctx.stroke();
}
