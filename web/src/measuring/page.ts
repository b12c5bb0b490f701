/**
 * The measuring page: the client side of the experiments `web-delivery` and `messaging` in a real browser, and
 * by itself a look at where the time of a live stream goes.
 *
 * The bench drives it through `weirMeasure`, over the DevTools protocol or by orders over the gateway
 * (`?run=`). It measures; what is published, when, and what the figures mean is the bench's.
 */

import "../style/base.css";
import "../style/measuring.css";
import type { Format } from "../formats/format";
import { loadFormats } from "../formats/load";
import { byId } from "../ui/dom";
import { startTheme } from "../ui/palette";
import { Cell, type Job, type Outcome } from "./cell";
import { type Offset, offsetOf, type Probe, probe, resolution } from "./clock";
import { History } from "./history";
import { Watch } from "./live";
import { obey } from "./orders";
import { observes, Stage } from "./stage";
import { quantile, timesOf } from "./stamps";
import { Matrix, showDoing, showFacts, showMessages } from "./view";

/** How often the gateway is asked for its time when the page opens. */
const PROBES = 60;

const base = new URL("./", document.baseURI);
const history = new History();
const stage = new Stage(byId<HTMLCanvasElement>("bars"), byId("label"), history);
const matrix = new Matrix();
const formats: readonly Format[] = await loadFormats();
let offset: Offset = { offset: performance.timeOrigin, bound: Number.NaN };
let cell: Cell | undefined;
let job: Job | undefined;
/** Whether a run has come to its end. */
let isDone = false;

/** What a run says of the cell that it asks for, beside the job. */
interface Order extends Job {
  /** The cell's name, and its place among all. */
  cell?: string;
  row?: string;
  column?: string;
  share?: number;
}

const weirMeasure = {
  /** What this browser is and what its clock can tell. */
  about: () => ({
    browser: navigator.userAgent,
    isolated: globalThis.crossOriginIsolated === true,
    isSecure: location.protocol === "https:",
    protocol: navigated(),
    resolutionMs: resolution(),
    elementTiming: observes(),
    timeOrigin: performance.timeOrigin,
    formats: formats.map(({ name }) => name),
  }),

  /** Asks the gateway for its time so often; the stamps of each answer. */
  async clock({ count }: { count: number }): Promise<Probe[]> {
    const probes = await probe(base, count);
    offset = offsetOf(probes);
    facts();
    return probes;
  },

  /** Follows what the job says; returns once the gateway has answered. */
  async begin(order: Order): Promise<void> {
    const format = formats.find(({ name }) => name === order.format);
    if (format === undefined) throw new Error(`the page has no decoder of ${order.format}`);
    history.clear();
    job = order;
    showDoing(order.cell ?? `${order.format} by ${order.delivery}`, order.share);
    cell = new Cell(base, order, format, history, stage);
    await cell.begin();
  },

  /** Waits for the last message of the cell, so long at most, and gives all stamps. */
  async finish({ patienceMs }: { patienceMs: number }): Promise<Outcome> {
    if (cell === undefined) throw new Error("no cell has begun");
    const outcome = await cell.finish(patienceMs);
    cell = undefined;
    showMessages(outcome.stamps, offset.offset);
    const totals = outcome.stamps.map((stamps) => timesOf(stamps, offset.offset).total);
    const { format = "", delivery = "", row, column } = (job ?? {}) as Order;
    if (totals.length > 0) matrix.add(row ?? format, column ?? delivery, quantile(totals, 0.5));
    return outcome;
  },

  /** The run is over. */
  done({ words }: { words: string }): void {
    isDone = true;
    showDoing(words, 1);
  },
};

export type Measure = typeof weirMeasure;

Object.assign(globalThis, { weirMeasure });
startTheme();
facts();
await begin(new URLSearchParams(location.search)).catch((error: unknown) =>
  showDoing(error instanceof Error ? error.message : String(error)),
);

/** What the link asks for: to follow a run's orders, to wait for a driver, or to look at the live stream. */
async function begin(asked: URLSearchParams): Promise<void> {
  const run = asked.get("run");
  if (asked.has("driven")) return showDoing("driven by a run");
  await weirMeasure.clock({ count: PROBES });
  if (run === null) return new Watch(base, formats, history, stage, () => offset.offset).start();
  showDoing("waiting for the run to begin");
  const why = await obey(base, run, weirMeasure);
  if (!isDone) showDoing(why);
}

/** What the page itself came by: `http/1.1`, `h2`. */
function navigated(): string {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation?.nextHopProtocol ?? "";
}

function facts(): void {
  const step = resolution();
  const isolated = globalThis.crossOriginIsolated === true;
  showFacts({
    browser: navigator.userAgent,
    clock: `steps of ${Math.round(step * 1000)} µs, ${isolated ? "isolated from other origins" : "not isolated: the browser makes it coarse"}`,
    "gateway's clock": Number.isNaN(offset.bound)
      ? "taken for the same as this one"
      : `${(offset.offset - performance.timeOrigin).toFixed(2)} ms apart, known within ${offset.bound.toFixed(2)} ms`,
    presentation: observes()
      ? "as the browser reports it (Element Timing)"
      : "the first task after the frame stands for it",
    "T total": "T transmit + T decode + T process + T render (Babovic et al. 2016, section V)",
  });
}
