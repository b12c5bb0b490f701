import { expect, test } from "vitest";
import { briefName, filterFault, matches, numberOf, shortTopic, splitTopic, topicPath } from "../src/data/topic";

test.each([
  ["#", "a/b/c", true],
  ["a/#", "a", true],
  ["a/#", "a/b/c", true],
  ["a/#", "b/a", false],
  ["a/+/c", "a/b/c", true],
  ["a/+/c", "a/b/d", false],
  ["a/+", "a/b/c", false],
  ["+/+", "a/", true],
  ["a", "a/b", false],
])("filter %s on topic %s is %s", (filter, topic, expected) => {
  expect(matches(filter, topic)).toBe(expected);
});

test("a filter says what is wrong with it", () => {
  expect(filterFault("heating/+/flow")).toBeUndefined();
  expect(filterFault("")).toMatch(/empty/);
  expect(filterFault("a/#/b")).toMatch(/last/);
  expect(filterFault("a/b#")).toMatch(/alone/);
  expect(filterFault("a/b+")).toMatch(/alone/);
});

test("a topic in a path keeps its slashes and escapes the rest", () => {
  expect(topicPath("heating/#")).toBe("heating/%23");
  expect(topicPath("a b/ü?")).toBe("a%20b/%C3%BC%3F");
  expect(topicPath("x/../y")).toBe("x%2F..%2Fy");
  expect(new URL(`live/${topicPath("../x")}`, "http://h/").pathname).toBe("/live/..%2Fx");
  expect(() => topicPath("..")).toThrow(RangeError);
});

test("a topic splits into thing and property", () => {
  const split = splitTopic("heating/substation-3/supply/temperature");
  expect(split).toEqual({ thing: "heating/substation-3", property: "supply/temperature" });
  expect(splitTopic("ride/speed")).toEqual({ thing: "ride", property: "speed" });
  expect(splitTopic("lonely")).toEqual({ thing: "", property: "lonely" });
  expect(shortTopic("heating/substation-3/supply/temperature")).toBe("substation-3 supply temperature");
});

test("a brief name keeps the number at its end", () => {
  expect(["substation-3", "plant", "buoy-b01", "x12345678"].map(briefName)).toEqual(["sub-3", "plant", "buo01", "x12345678"]);
  expect(["substation-12", "plant"].map(numberOf)).toEqual(["12", ""]);
});
