import { expect, test } from "vitest";
import { Store } from "../src/data/store";
import { GAPS_MAX, SELECTED_MAX } from "../src/limits";

const NOW = performance.timeOrigin;

function at(topic: string, value: number, seconds: number, place = {}) {
  return { topic, value, time: NOW + seconds * 1000, ...place };
}

test("only the selected keep points, and an older observation changes nothing", () => {
  const store = new Store();
  store.take([at("a/b", 1, 1)], 1000);
  store.select("a/b");
  expect(store.take([at("a/b", 2, 2), at("c/d", 5, 3)], 3000)).toBe(NOW + 3000);
  store.take([at("a/b", 9, 1)], 3000);
  expect(store.datastreams.get("a/b")?.value).toBe(2);
  expect(store.datastreams.get("a/b")?.ring?.length).toBe(1);
  expect(store.datastreams.get("c/d")?.ring).toBeUndefined();
});

test("datastreams of one thing share a colour, and a freed one is used again", () => {
  const store = new Store();
  store.take(
    ["a/x/p", "a/x/q", "a/y/p", "a/z/p"].map((topic) => at(topic, 1, 0)),
    0,
  );
  const slots = ["a/x/p", "a/y/p", "a/x/q"].map((topic) => store.select(topic)?.slot);
  expect(slots).toEqual([0, 1, 0]);
  store.deselect("a/y/p");
  expect(store.select("a/z/p")?.slot).toBe(1);
});

test("no more datastreams are selected than the limit", () => {
  const store = new Store();
  const topics = Array.from({ length: SELECTED_MAX + 1 }, (_, i) => `t/${i}/v`);
  store.take(
    topics.map((topic) => at(topic, 1, 0)),
    0,
  );
  expect(
    topics.map((topic) => store.select(topic)).filter((datastream) => datastream === undefined).length,
  ).toBe(1);
});

test("gaps are all counted and the last are kept", () => {
  const store = new Store();
  for (let i = 0; i < GAPS_MAX + 5; i++) store.missed({ reason: "policy" });
  expect([store.gapCount, store.gaps.length]).toEqual([GAPS_MAX + 5, GAPS_MAX]);
});

test("the catalog describes, and drops what is gone unless it is live", () => {
  const store = new Store();
  store.describe([{ topic: "a/b", unit: "Cel", online: true }, { topic: "old/one" }]);
  store.take([at("live/one", 1, 0)], 0);
  store.describe([{ topic: "a/b", unit: "Cel", online: false }]);
  expect([...store.datastreams.keys()]).toEqual(["a/b", "live/one"]);
  expect(store.datastreams.get("a/b")?.online).toBe(false);
});

test("a thing that moves leaves a track, and its plan is widened seldom", () => {
  const store = new Store();
  for (let i = 0; i <= 100; i++)
    store.take([at("ride/speed", 1, i, { lat: 30 + i / 1000, lon: -97 })], i * 1000);
  expect(store.tracks.get("ride")?.lats.length).toBe(100);
  expect(store.revision).toBeLessThan(20);
});

test("a curve is of one unit, and what is of another is a problem", () => {
  const store = new Store();
  store.describe([{ topic: "river/level", unit: "cm" }]);
  const ring = store.select("river/level")?.ring;
  store.take([at("river/level", 50, 1, { unit: "cm" }), at("river/level", 51, 2)], 0);
  store.take([at("river/level", 7, 3, { unit: "kg" }), at("river/level", 8, 4, { unit: "kg" })], 0);
  const { value, unit, problem } = store.datastreams.get("river/level") ?? {};
  expect([value, unit, ring?.length, ring?.newest, problem]).toEqual([51, "cm", 2, NOW + 2000, undefined]);
  expect(store.describe([{ topic: "river/level", unit: "cm" }])).toEqual([]);
  const told = store.datastreams.get("river/level")?.problem;
  expect([told?.what, told?.times]).toEqual(["Observations in kg are not shown: the curve is in cm.", 2]);
  store.take([at("river/level", 52, 5, { unit: "cm" })], 0);
  expect([ring?.length, store.datastreams.get("river/level")?.value]).toEqual([3, 52]);
});

test("a curve begins anew where its datastream has another unit", () => {
  const store = new Store();
  store.describe([{ topic: "river/level", unit: "m" }, { topic: "river/flow", unit: "m" }]);
  const before = store.select("river/level")?.ring;
  store.take([at("river/level", 1.42, 1, { unit: "m" }), at("river/level", 50, 2, { unit: "cm" })], 0);
  const entries = [
    { topic: "river/level", unit: "cm", value: 50, time: NOW + 2000 },
    { topic: "river/flow", unit: "cm" },
  ];
  const renewed = store.describe(entries);
  expect(renewed.map(({ topic }) => topic)).toEqual(["river/level"]);
  const { value, unit, ring, maximum, problem } = renewed[0] ?? {};
  expect([value, unit, ring?.length, maximum, problem]).toEqual([50, "cm", 0, 50, undefined]);
  expect(ring).not.toBe(before);
});
