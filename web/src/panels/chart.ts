/** How one chart looks and answers to the pointer: uPlot's options, nothing of the data. */

import type uPlot from "uplot";
import type { Datastream, MissedStretch } from "../data/store";
import { palette, seriesColor } from "../ui/palette";

/** What a chart asks of its panel; times in milliseconds. */
export interface ChartActions {
  zoom(from: number, to: number): void;
  reset(): void;
  gaps(): readonly MissedStretch[];
  /** The pointer stands at a time, with each curve's value there; undefined where it has left. */
  point(at: { time: number; values: (number | undefined)[] } | undefined): void;
}

const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
/** Slots to look aside for a value under the pointer. */
const REACH = 40;
const AXIS_PX = 46;
const TIMES_PX = 26;

/** Options of the chart of datastreams that share a unit; the last chart carries the times. */
export function chartOptions(members: readonly Datastream[], last: boolean, actions: ChartActions) {
  const { font } = palette();
  const axis = (size: number): uPlot.Axis => ({
    size,
    stroke: () => palette().dim,
    font: `11px ${font}`,
    grid: { stroke: () => palette().line, width: 1 },
    ticks: { show: false },
    gap: 6,
  });
  const options: Omit<uPlot.Options, "width" | "height"> = {
    padding: [10, 18, last ? 0 : 4, 0],
    legend: { show: false },
    cursor: {
      sync: { key: "curves", setSeries: false },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          actions.reset();
          return null;
        },
      },
      points: { size: 7 },
    },
    scales: { x: { time: true, auto: false }, y: { auto: false } },
    axes: [
      {
        ...axis(last ? TIMES_PX : 4),
        space: 80,
        values: (_, times) => times.map((time) => (last ? timeText(time, times) : "")),
      },
      {
        ...axis(AXIS_PX),
        space: 22,
        values: (_, values) => values.map((value) => String(Number(value.toPrecision(6)))),
      },
    ],
    series: [{}, ...members.map(series)],
    hooks: {
      setSelect: [(plot) => select(plot, actions)],
      setCursor: [(plot) => actions.point(underPointer(plot))],
      draw: [(plot) => marks(plot, actions.gaps())],
    },
  };
  return options;
}

function series(
  { topic, thing, slot = 0 }: Datastream,
  i: number,
  members: readonly Datastream[],
): uPlot.Series {
  const again = members.slice(0, i).filter((member) => member.thing === thing).length;
  const line: uPlot.Series = {
    label: topic,
    stroke: () => seriesColor(slot),
    width: 1.5,
    points: { show: false },
  };
  // A colour that comes again in this chart, or after the eighth thing, is dashed.
  const dash = DASHES[Math.max(again, Math.floor(slot / 8)) % DASHES.length];
  if (dash !== undefined && dash.length > 0) line.dash = dash;
  return line;
}

function select(plot: uPlot, actions: ChartActions): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  actions.zoom(plot.posToVal(left, "x") * 1000, plot.posToVal(left + width, "x") * 1000);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** The time under the pointer and the value of each curve nearest to it. */
function underPointer(plot: uPlot) {
  const { idx } = plot.cursor;
  const [xs, ...columns] = plot.data;
  const seconds = idx === null || idx === undefined ? undefined : xs[idx];
  if (seconds === undefined || (plot.cursor.left ?? -1) < 0) return undefined;
  return { time: seconds * 1000, values: columns.map((values) => nearest(values, idx as number)) };
}

/** The value at an index, or the nearest one within reach: most slots of the grid are empty. */
function nearest(values: ArrayLike<number | null | undefined>, index: number): number | undefined {
  for (let off = 0; off <= REACH; off++) {
    const value = values[index - off] ?? values[index + off];
    if (value !== null && value !== undefined) return value;
  }
  return undefined;
}

/** A band over each stretch that was missed, with a line where it ends. */
function marks(plot: uPlot, gaps: readonly MissedStretch[]): void {
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  ctx.save();
  for (const { from, to } of gaps) {
    const begin = Math.max(bbox.left, plot.valToPos(from / 1000, "x", true));
    const end = Math.min(right, plot.valToPos(to / 1000, "x", true));
    if (end < bbox.left || begin > right) continue;
    ctx.fillStyle = palette().gap;
    ctx.globalAlpha = 0.14;
    ctx.fillRect(begin, bbox.top, end - begin, bbox.height);
    ctx.globalAlpha = 0.9;
    ctx.fillRect(end - 1, bbox.top, 2 * window.devicePixelRatio, bbox.height);
  }
  ctx.restore();
}

/** Hours and minutes; with seconds where the marks are closer than a minute. */
function timeText(time: number, times: readonly number[]): string {
  const step = (times[1] ?? time + 60) - (times[0] ?? time);
  const text = new Date(time * 1000).toLocaleTimeString("en-GB");
  return step < 60 ? text : text.slice(0, 5);
}
