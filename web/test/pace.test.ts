import { expect, test } from "vitest";
import { Pacer } from "../src/delivery/pace";

/** A pacer with a clock of its own and what it told. */
function pacer(hidden = { now: false }) {
  const clock = { ms: 0 };
  const told: string[] = [];
  const one = new Pacer(
    () => hidden.now,
    () => clock.ms,
  );
  one.tell((cost) => told.push(cost));
  return { one, clock, told, hidden };
}

test("the cost is what messages and frames take at most of the time", () => {
  const { one, clock, told } = pacer();
  for (let i = 0; i < 20; i++) one.took(i === 19 ? 90 : 4);
  clock.ms = 1000;
  one.drew(6);
  expect(told.at(-1)).toBe("10.0ms");
  expect(one.told()).toBe("10.0ms");
});

test("a higher cost is told soon, a lower one twice a second at most, and small changes not at all", () => {
  const { one, clock, told } = pacer();
  one.took(10);
  expect(told).toEqual(["10.0ms"]);
  clock.ms = 100;
  one.drew(50);
  expect(told).toEqual(["10.0ms", "60.0ms"]);
  for (let i = 0; i < 64; i++) one.drew(11);
  expect(told.length).toBe(2);
  clock.ms = 600;
  one.report();
  expect(told.at(-1)).toBe("21.0ms");
  clock.ms = 1200;
  for (let i = 0; i < 64; i++) one.took(12);
  expect(told.length).toBe(3);
});

test("a page that needs less than a millisecond sets no pace", () => {
  const { one, told } = pacer();
  one.took(0.2);
  one.drew(0.3);
  expect(told).toEqual([]);
  expect(one.told()).toBeUndefined();
});

test("a hidden tab asks for the slowest pace and takes it back when it is shown", () => {
  const { one, clock, told, hidden } = pacer();
  one.took(0.2);
  hidden.now = true;
  one.report();
  hidden.now = false;
  clock.ms = 1000;
  one.report();
  expect(told).toEqual(["500.0ms", "0"]);
});

test("another connection begins with what was told last", () => {
  const { one } = pacer();
  one.took(20);
  const again: string[] = [];
  one.tell((cost) => again.push(cost));
  expect(again).toEqual(["20.0ms"]);
});
