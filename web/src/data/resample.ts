/**
 * Puts points that lie anywhere in time on a grid that many curves share, two slots a bucket.
 *
 * A bucket that holds several points shows its smallest and its largest in the order they came, so a spike is
 * never lost however wide the range. Buckets begin at multiples of their width: as time moves on, a point
 * stays in its bucket, and the curve glides without shimmering.
 */

import type { Ring } from "./ring";

/** Points in order of time. */
export type Points = Pick<Ring, "length" | "time" | "value" | "lowerBound">;

/** A column as uPlot reads it: `undefined` is no point here, `null` breaks the line. */
export type Column = (number | null | undefined)[];

/** The grid of one drawing; times in milliseconds. */
export interface Grid {
  start: number;
  width: number;
  buckets: number;
}

/** A grid of about `points` slots that covers `from` to `to`. */
export function gridOver(from: number, to: number, points: number): Grid {
  const width = Math.max(1, (to - from) / Math.max(1, points / 2));
  const start = Math.floor(from / width) * width;
  return { start, width, buckets: Math.ceil((to - start) / width) + 1 };
}

/** Times of the slots in seconds. */
export function slots(grid: Grid): number[] {
  return Array.from({ length: grid.buckets * 2 }, (_, i) => (grid.start + (i * grid.width) / 2) / 1000);
}

/** One curve on the grid; `breaks` are times at which the line is cut. */
export function column(points: Points, grid: Grid, breaks: readonly number[]): Column {
  const out: Column = new Array(grid.buckets * 2).fill(undefined);
  const end = grid.start + grid.buckets * grid.width;
  let i = points.lowerBound(grid.start);
  // The point before the range lets the line enter from the edge.
  if (i > 0) out[0] = points.value(i - 1);
  while (i < points.length && points.time(i) < end) {
    const bucket = Math.floor((points.time(i) - grid.start) / grid.width);
    i = fill(points, i, grid.start + (bucket + 1) * grid.width, bucket * 2, out);
  }
  for (const time of breaks) cut(out, grid, time);
  return out;
}

function fill(points: Points, first: number, end: number, slot: number, out: Column): number {
  let low = first;
  let high = first;
  let i = first + 1;
  for (; i < points.length && points.time(i) < end; i++) {
    if (points.value(i) < points.value(low)) low = i;
    if (points.value(i) > points.value(high)) high = i;
  }
  out[slot] = points.value(Math.min(low, high));
  if (low !== high) out[slot + 1] = points.value(Math.max(low, high));
  return i;
}

function cut(out: Column, grid: Grid, time: number): void {
  const slot = Math.round(((time - grid.start) / grid.width) * 2);
  for (let i = Math.max(0, slot); i < out.length; i++) {
    if (slot < 0) return;
    if (out[i] !== undefined) continue;
    out[i] = null;
    return;
  }
}
