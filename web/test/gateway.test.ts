import { expect, test, vi } from "vitest";
import { Gateway } from "../src/net/gateway";

test("the past of a curve is of one unit, and what is not is counted", async () => {
  const rows = [
    { value: 142, unit: "cm", time: "2026-01-01T00:00:00Z" },
    { value: 7, unit: "kg", time: "2026-01-01T01:00:00Z" },
    { value: 50, time: "2026-01-01T02:00:00Z" },
  ];
  const asked: URL[] = [];
  vi.stubGlobal("fetch", async (url: URL) => {
    asked.push(url);
    return Response.json({ observations: rows });
  });
  const past = await new Gateway(new URL("http://h/")).history({ topic: "river/level", unit: "cm" }, 0, 1000);
  expect([past.values, past.others]).toEqual([[142, 50], 1]);
  expect(asked.map(({ searchParams }) => searchParams.get("unit"))).toEqual([""]);
});
