import { expect, test } from "vitest";
import { offsetOf, resolution } from "../src/measuring/clock";
import { History, WINDOW } from "../src/measuring/history";
import { Awaited, messagesIn } from "../src/measuring/numbers";
import { quantile, type Stamps, timesOf } from "../src/measuring/stamps";

test("of each direction the least delay counts, and half of both is the bound", () => {
  const probes = [
    { sent: 0, here: 1000 + 90, answered: 95 },
    { sent: 200, here: 1200 + 5, answered: 275 },
  ];
  expect(offsetOf(probes)).toEqual({ offset: 1000, bound: 5 });
});

test("the clock's step is the least that is seen", () => {
  let now = 0;
  const clock = () => {
    now += 0.005;
    return Math.floor(now / 0.1) * 0.1;
  };
  expect(resolution(clock)).toBeCloseTo(0.1);
});

test("the terms of a message add up to its total", () => {
  const stamps: Stamps = {
    seq: 1,
    available: 1010,
    arrival: 12,
    decoded: 13,
    processed: 13.5,
    began: 14,
    drawn: 14.25,
    presented: 20,
    frame: 1,
    observed: true,
    size: 100,
  };
  const times = timesOf(stamps, 1000);
  expect(times).toEqual({
    transmit: 2,
    decode: 1,
    process: 0.5,
    render: 6.5,
    transfer: 3,
    draw: 0.25,
    total: 10,
  });
});

test("a quantile is one of the numbers, and what is missing is none of them", () => {
  expect(quantile([3, Number.NaN, 1, 2], 0.5)).toBe(2);
  expect(quantile([], 0.5)).toBeNaN();
});

test("a datastream's past is bounded, and its mean and bounds are of what is kept", () => {
  const history = new History();
  for (let value = 0; value < WINDOW + 10; value++) history.combine([{ topic: "a", value }]);
  history.combine([{ topic: "a", value: "no number" }]);
  const track = history.tracks.get("a");
  expect(track).toMatchObject({ newest: WINDOW + 9, least: 10, most: WINDOW + 9 });
  expect(track?.mean).toBeCloseTo(10 + (WINDOW - 1) / 2);
});

/** A message of two datastreams, of which one counts. */
function numbered(seq: number) {
  const value = 51_200 + seq / 4;
  return [
    { topic: "plant/1/supply/energy", value, time: 1000 + seq },
    { topic: "plant/1/supply/flow", value: 3, time: 1000 + seq },
  ];
}

test("messages that come as one have all come, and the newest is stamped", () => {
  const awaited = new Awaited(10, 3);
  const answer = [...numbered(9), ...numbered(10), ...numbered(11)];
  expect(awaited.take(messagesIn(answer))).toEqual({ seq: 11, available: 1011 });
  expect(awaited.size).toBe(2);
});

test("a message that comes again has come once, and what nobody waits for has not", () => {
  const awaited = new Awaited(10, 3);
  awaited.take(messagesIn(numbered(10)));
  awaited.take(messagesIn(numbered(10)));
  expect(awaited.take(messagesIn(numbered(13)))).toBeUndefined();
  expect(awaited.take(messagesIn([{ topic: "other", value: 1 }]))).toBeUndefined();
  expect(awaited.size).toBe(1);
});
