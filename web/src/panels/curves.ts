/**
 * Curves of the selected datastreams, one chart for each unit, all on one time axis. Live, the axis ends now;
 * dragged over, it stands still and shows history fetched for that stretch; a double click goes back to live.
 */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { grouped } from "../data/groups";
import { type Column, column, type Grid, gridOver, type Points, slots } from "../data/resample";
import { Ring } from "../data/ring";
import type { Datastream, Store } from "../data/store";
import { CURVE_POINTS, CURVES_MS, HISTORY_PAGE, HISTORY_PAGES_MAX } from "../limits";
import type { Gateway, Past } from "../net/gateway";
import { byId, el, setText } from "../ui/dom";
import { clock } from "../ui/figures";
import { chartOptions } from "./chart";
import { Legend } from "./legend";

/** A stretch of the past that was dragged out: milliseconds. */
interface Zoom {
  from: number;
  to: number;
  pasts: Map<string, Points>;
}

interface Chart {
  members: Datastream[];
  legend: Legend;
  holder: HTMLElement;
  plot: uPlot;
}

const SHORTEST_ZOOM_MS = 1000;
const SHORTEST_LIVE_MS = 20_000;
const AHEAD_MAX_MS = 60_000;

export class Curves {
  private readonly box = byId("charts");
  private readonly sizes = new ResizeObserver(() => this.resize());
  private charts: Chart[] = [];
  private shape = "";
  private drawn = 0;
  private zoom: Zoom | undefined;
  private fetching = new AbortController();
  private range = 60_000;
  private paused = false;

  constructor(
    private readonly store: Store,
    private readonly gateway: Gateway,
    private readonly toggle: (topic: string) => void,
    private readonly changed: () => void,
    private readonly failed: (what: string) => void,
  ) {
    byId("reset").addEventListener("click", () => this.reset());
  }

  /** Draws if it is time; `now` on the clock of `performance.now`. Says whether a drawing is still due. */
  draw(now: number): boolean {
    if (this.paused) return false;
    if (now - this.drawn < CURVES_MS) return true;
    this.drawn = now;
    this.reshape();
    const { from, to } = this.zoom ?? this.window();
    const grid = gridOver(from, to, Math.min(CURVE_POINTS, this.box.clientWidth * 2));
    const xs = slots(grid);
    for (const chart of this.charts) this.fill(chart, xs, grid, from, to);
    return false;
  }

  /** Brings the figures in the legends up to date. */
  update(): void {
    for (const { legend } of this.charts) legend.update();
  }

  /** Shows another length of time and fetches what lies in it. */
  setRange(ms: number): void {
    this.range = ms;
    this.reset();
    for (const datastream of this.store.selected) void this.prefill(datastream);
  }

  /** Fetches the past of a datastream that was just selected. */
  async prefill(datastream: Datastream): Promise<void> {
    const to = Date.now();
    const { ring } = datastream;
    const past = await this.past(datastream, to - this.range, to);
    // Another ring is of another unit, or of another selection.
    if (past === undefined || datastream.ring !== ring) return;
    ring?.prefill(past.times, past.values);
    datastream.maximum = past.values.reduce(
      (most, value) => Math.max(most, Math.abs(value)),
      datastream.maximum,
    );
    this.changed();
  }

  /** Fetches anew what is shown of datastreams whose unit is another now. */
  renew(datastreams: readonly Datastream[]): void {
    for (const datastream of datastreams) void this.prefill(datastream);
    if (datastreams.length > 0 && this.zoom !== undefined) void this.zoomTo(this.zoom.from, this.zoom.to);
  }

  /** Holds the curves as they are, or lets them run on. */
  pause(): void {
    this.paused = !this.paused;
    setText(byId("zoom-note"), this.stretch());
    this.changed();
  }

  /** Back to live. */
  reset(): void {
    this.fetching.abort();
    this.fetching = new AbortController();
    this.zoom = undefined;
    this.drawn = 0;
    byId("reset").hidden = true;
    setText(byId("zoom-note"), this.stretch());
    this.changed();
  }

  /** Builds the charts anew in the colours now in force. */
  recolor(): void {
    this.shape = "";
    this.drawn = 0;
    this.changed();
  }

  private async past(
    datastream: Datastream,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): Promise<Past | undefined> {
    const { topic, unit } = datastream;
    try {
      const past = await this.gateway.history(datastream, from, to, signal);
      if (past.others > 0)
        this.failed(`History of ${topic}: ${past.others} cannot be converted to ${unit}, and are left out`);
      return past;
    } catch (error) {
      if (!signal?.aborted)
        this.failed(`History of ${topic}: ${error instanceof Error ? error.message : error}`);
      return undefined;
    }
  }

  private async zoomTo(from: number, to: number): Promise<void> {
    if (to - from < SHORTEST_ZOOM_MS) return;
    this.reset();
    const zoom: Zoom = { from, to, pasts: new Map() };
    this.zoom = zoom;
    byId("reset").hidden = false;
    setText(byId("zoom-note"), this.stretch());
    const { signal } = this.fetching;
    const fetches = this.store.selected.map(async (datastream) => {
      const past = await this.past(datastream, from, to, signal);
      if (past !== undefined) zoom.pasts.set(datastream.topic, ringOf(past));
      this.drawn = 0;
      this.changed();
    });
    await Promise.all(fetches);
  }

  /** The live stretch: it ends now, and where there is less to show than the range, it begins with the first point. */
  private window(): { from: number; to: number } {
    const now = Date.now();
    let [newest, oldest] = [0, now];
    for (const { ring } of this.store.selected) {
      if (ring === undefined || ring.length === 0) continue;
      newest = Math.max(newest, ring.newest);
      oldest = Math.min(oldest, ring.time(0));
    }
    // A sensor's clock may run ahead of this one; one far ahead is wrong.
    const to = Math.max(now, Math.min(newest, now + AHEAD_MAX_MS));
    return { from: Math.max(to - this.range, Math.min(oldest, to - SHORTEST_LIVE_MS)), to };
  }

  private fill(chart: Chart, xs: number[], grid: Grid, from: number, to: number): void {
    const breaks = this.store.gaps.map((gap) => gap.to);
    const columns = chart.members.map(({ topic, ring }) => {
      const points = this.zoom?.pasts.get(topic) ?? ring;
      return points === undefined ? [] : column(points, grid, breaks);
    });
    chart.plot.batch(() => {
      chart.plot.setData([xs, ...columns] as unknown as uPlot.AlignedData, false);
      chart.plot.setScale("x", { min: from / 1000, max: to / 1000 });
      const [min, max] = spread(columns);
      chart.plot.setScale("y", { min, max });
    });
  }

  /** Makes charts anew where the selection or a unit has changed. */
  private reshape(): void {
    const shape = this.store.selected
      .map(({ topic, unit, type }) => `${topic} ${unit ?? type ?? ""}`)
      .join("\n");
    if (shape === this.shape) return;
    this.shape = shape;
    for (const { plot, holder } of this.charts) {
      plot.destroy();
      holder.parentElement?.remove();
    }
    this.charts = [];
    this.box.dataset["empty"] = this.store.selected.length === 0 ? "none" : "";
    const groups = grouped(this.store.selected);
    this.box.style.setProperty("--charts", String(Math.max(1, groups.length)));
    for (const [i, members] of groups.entries()) this.make(members, i === groups.length - 1);
  }

  private make(members: Datastream[], last: boolean): void {
    const legend = new Legend(members, this.toggle);
    const holder = el("div", "plot");
    this.box.append(el("div", "chart", legend.root, holder));
    const options = chartOptions(members, last, {
      zoom: (from, to) => void this.zoomTo(from, to),
      reset: () => this.reset(),
      gaps: () => this.store.gaps,
      point: (at) => this.point(legend, at),
    });
    const plot = new uPlot({ ...options, width: 300, height: 100 }, [[]], holder);
    legend.update();
    this.charts.push({ members, legend, holder, plot });
    this.sizes.observe(holder);
  }

  /** Shows the values under the pointer in the legend, and the time; the latest values once it has left. */
  private point(legend: Legend, at: { time: number; values: (number | undefined)[] } | undefined): void {
    legend.point(at?.values);
    setText(byId("zoom-note"), at === undefined ? this.stretch() : `at ${clock(at.time)}`);
  }

  private stretch(): string {
    if (this.zoom !== undefined) return `${clock(this.zoom.from)} to ${clock(this.zoom.to)}`;
    return this.paused ? "held" : "";
  }

  private resize(): void {
    for (const { plot, holder } of this.charts) {
      const [width, height] = [holder.clientWidth, holder.clientHeight];
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
    }
    this.drawn = 0;
    this.changed();
  }
}

function ringOf(past: Past): Ring {
  const ring = new Ring(Math.min(HISTORY_PAGE * HISTORY_PAGES_MAX, Math.max(1, past.times.length)));
  ring.prefill(past.times, past.values);
  return ring;
}

/** Lowest and highest value with a margin; a flat curve lies in the middle. */
function spread(columns: readonly Column[]): [number, number] {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const values of columns) {
    for (const value of values) {
      if (value === undefined || value === null) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  if (min > max) return [0, 1];
  const margin = max === min ? Math.max(Math.abs(max) * 0.02, 0.5) : (max - min) * 0.08;
  return [min - margin, max + margin];
}
