import { expect, test } from "vitest";
import { groupName, grouped, rowsOf } from "../src/data/groups";

const of = (property: string, unit = "Cel") => ({ property, unit });

test("datastreams of a property stand together, of a unit where there are many properties", () => {
  const few = [of("supply", "Cel"), of("power", "kW"), of("supply", "Cel")];
  expect(grouped(few)).toEqual([
    [few[0], few[2]],
    [few[1]],
  ]);
  const many = ["a", "b", "c", "d", "e"].map((property) => of(property, "Cel"));
  expect(grouped(many)).toEqual([many]);
  expect(groupName(many)).toBe("");
  expect(groupName([of("supply/temperature"), of("supply/temperature")])).toBe("supply temperature");
});

test("a group begins a row of its own rather than being torn apart", () => {
  const group = (letter: string, length: number) => Array.from({ length }, (_, i) => letter + i);
  const groups = [group("a", 5), group("b", 5), group("c", 4)];
  const lengths = (capacity: number) =>
    rowsOf(groups, capacity).map((row) => row.map((part) => part.length));
  expect(lengths(14)).toEqual([[5, 5, 4]]);
  expect(lengths(13)).toEqual([[5, 5], [4]]);
  expect(lengths(7)).toEqual([[5], [5], [4]]);
  expect(lengths(3)).toEqual([[3], [2], [3], [2], [3], [1]]);
  expect(rowsOf(groups, 3).flat(2)).toEqual(groups.flat());
  expect(lengths(0)).toHaveLength(14);
});
