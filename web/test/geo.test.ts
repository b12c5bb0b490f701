import { expect, test } from "vitest";
import { clusters, projection, tree } from "../src/data/geo";
import { type Box, labelSpot } from "../src/data/labels";

test("places that lie together are one plan, the largest first", () => {
  const belgrade = [44.8, 44.9, 45.0].map((lat) => ({ lat, lon: 20.4 }));
  const buoy = { lat: 43.18, lon: -70.43 };
  const groups = clusters([buoy, ...belgrade]);
  expect(groups.map((group) => group.length)).toEqual([3, 1]);
});

test("a projection is true to scale with north up", () => {
  const [south, north] = [
    { lat: 44.8, lon: 20.4 },
    { lat: 44.9, lon: 20.4 },
  ];
  const project = projection([south, north], 200, 120, 10);
  expect(project(south).x).toBe(100);
  expect(project(south).y).toBeCloseTo(110);
  expect(project(north).y).toBeCloseTo(10);
});

test("the shortest tree joins all points once", () => {
  const points = [0, 10, 1, 11, 5].map((x) => ({ x, y: 0 }));
  expect(tree(points)).toEqual([
    [0, 2],
    [2, 4],
    [4, 1],
    [1, 3],
  ]);
});

test("a label takes a free side or none", () => {
  const taken: Box[] = [];
  const mark = { x: 100, y: 100 };
  const anchors = Array.from({ length: 5 }, () => labelSpot(mark, 10, taken, 400, 200)?.anchor);
  expect(anchors).toEqual(["start", "end", "middle", "middle", undefined]);
});
