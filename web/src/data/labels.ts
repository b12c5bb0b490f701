/** Finds a place for a label beside its mark where it covers nothing: greedy, four sides, or none. */

import type { Point } from "./geo";

/** A rectangle in pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Where a label's text starts, relative to its mark. */
export interface Spot {
  x: number;
  y: number;
  anchor: "start" | "middle" | "end";
}

/** Size allowed for a label such as `-88.8 °C`. */
const WIDE = 44;
const HIGH = 12;

/** A free side of the mark, which is then added to `taken`; undefined where all are crowded. */
export function labelSpot(
  mark: Point,
  radius: number,
  taken: Box[],
  width: number,
  height: number,
): Spot | undefined {
  for (const { spot, box } of sides(mark, radius)) {
    const inside = box.left >= 0 && box.top >= 0 && box.right <= width && box.bottom <= height;
    if (!inside || taken.some((other) => overlaps(box, other))) continue;
    taken.push(box);
    return spot;
  }
  return undefined;
}

function sides({ x, y }: Point, radius: number): { spot: Spot; box: Box }[] {
  const off = radius + 4;
  const row = { top: y - HIGH / 2, bottom: y + HIGH / 2 };
  const middle = { left: x - WIDE / 2, right: x + WIDE / 2 };
  return [
    { spot: { x: off, y: 4, anchor: "start" }, box: { ...row, left: x + off, right: x + off + WIDE } },
    { spot: { x: -off, y: 4, anchor: "end" }, box: { ...row, left: x - off - WIDE, right: x - off } },
    {
      spot: { x: 0, y: off + HIGH - 3, anchor: "middle" },
      box: { ...middle, top: y + off, bottom: y + off + HIGH },
    },
    { spot: { x: 0, y: -off, anchor: "middle" }, box: { ...middle, top: y - off - HIGH, bottom: y - off } },
  ];
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
