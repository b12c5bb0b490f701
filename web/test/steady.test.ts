import { expect, test } from "vitest";
import { measure, variation } from "../src/measure/steady";

const rule = { k: 10, covMax: 0.05, budgetMs: 5000 };

/** A clock that each call moves on by what the next entry says, and then by the last. */
function clock(costs: number[]) {
  let time = 0;
  let at = 0;
  return {
    now: () => time,
    call: () => {
      time += costs[Math.min(at++, costs.length - 1)] ?? 0;
    },
  };
}

test("what warms up is measured when it is warm", async () => {
  const { now, call } = clock([900, 300, 100, 50, 20, 10]);
  const samples = await measure(rule, call, now);
  expect(samples).toHaveLength(10);
  expect(samples.every((us) => us === 10_000)).toBe(true);
});

test("what never gets steady gives its best samples when the time is up", async () => {
  let calls = 0;
  let time = 0;
  const call = () => {
    time += calls++ % 2 === 0 ? 10 : 30;
  };
  const samples = await measure(rule, call, () => time);
  expect(samples).toHaveLength(10);
  expect(variation(samples)).toBeGreaterThan(0.05);
});

test("short calls share a sample", async () => {
  const { now, call } = clock([0.25]);
  const samples = await measure(rule, call, now);
  expect(samples.every((us) => us === 250)).toBe(true);
});

test("what takes very long gives fewer samples", async () => {
  const { now, call } = clock([9000]);
  expect(await measure(rule, call, now)).toEqual([9_000_000, 9_000_000, 9_000_000]);
});
