import { expect, test } from "vitest";
import { Ring, Samples } from "../src/data/ring";

function contents(ring: Ring): [number, number][] {
  return Array.from({ length: ring.length }, (_, i) => [ring.time(i), ring.value(i)]);
}

test("a full ring drops its oldest point", () => {
  const ring = new Ring(3);
  for (let time = 1; time <= 5; time++) ring.push(time, time * 10);
  expect(contents(ring)).toEqual([
    [3, 30],
    [4, 40],
    [5, 50],
  ]);
});

test("a point that is not newer is not kept", () => {
  const ring = new Ring(4);
  expect(ring.push(10, 1)).toBe(true);
  expect(ring.push(10, 2)).toBe(false);
  expect(ring.push(9, 3)).toBe(false);
  expect(contents(ring)).toEqual([[10, 1]]);
});

test("history goes in front of what is newer", () => {
  const ring = new Ring(8);
  for (const time of [30, 40, 50]) ring.push(time, time);
  ring.prefill([10, 20, 30, 40], [1, 2, 3, 4]);
  expect(contents(ring)).toEqual([
    [10, 1],
    [20, 2],
    [30, 3],
    [40, 4],
    [50, 50],
  ]);
});

test("the lower bound is found after the ring has wrapped", () => {
  const ring = new Ring(4);
  for (let time = 1; time <= 6; time++) ring.push(time, 0);
  expect(ring.lowerBound(0)).toBe(0);
  expect(ring.lowerBound(4.5)).toBe(2);
  expect(ring.lowerBound(7)).toBe(4);
});

test("samples give mean, median and 99th percentile of the last measurements", () => {
  const samples = new Samples(100);
  expect(samples.summary()).toBeUndefined();
  samples.push(1e9);
  for (let i = 1; i <= 100; i++) samples.push(i);
  expect(samples.summary()).toEqual({ mean: 50.5, p50: 50, p99: 99 });
  expect(samples.last(3)).toEqual([98, 99, 100]);
});
