import { expect, test } from "vitest";
import { column, gridOver, slots } from "../src/data/resample";
import { Ring } from "../src/data/ring";

function ring(points: [number, number][]): Ring {
  const made = new Ring(1000);
  for (const [time, value] of points) made.push(time, value);
  return made;
}

test("a bucket keeps its smallest and its largest in the order they came", () => {
  const grid = gridOver(0, 100, 20);
  const out = column(
    ring([
      [11, 5],
      [13, 9],
      [15, 1],
      [17, 4],
    ]),
    grid,
    [],
  );
  expect([out[2], out[3]]).toEqual([9, 1]);
  expect(out[4]).toBeUndefined();
});

test("a spike survives however wide the range", () => {
  const points: [number, number][] = Array.from({ length: 900 }, (_, i) => [i, i === 500 ? 99 : 1]);
  expect(Math.max(...column(ring(points), gridOver(0, 900, 40), []).map((value) => value ?? 0))).toBe(99);
});

test("buckets stay where they are as time moves on", () => {
  const [a, b] = [gridOver(1003, 1103, 20), gridOver(1007, 1107, 20)];
  expect(a.start % a.width).toBe(0);
  expect(slots(a)).toEqual(slots(b));
});

test("a gap cuts the line between the points around it", () => {
  const out = column(
    ring([
      [10, 1],
      [90, 2],
    ]),
    gridOver(0, 100, 20),
    [50],
  );
  expect(out.indexOf(null)).toBe(10);
});

test("the line enters from the point before the range", () => {
  expect(
    column(
      ring([
        [-5, 7],
        [50, 1],
      ]),
      gridOver(0, 100, 20),
      [],
    )[0],
  ).toBe(7);
});
