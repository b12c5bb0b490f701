import { expect, test } from "vitest";
import { Aged, InTurn } from "../src/delivery/positions";
import { SETTLE_BYTES } from "../src/limits";

test("with one filter a cursor is told when the next one comes, however many packets had it", () => {
  const told: string[] = [];
  const position = new InTurn((cursor) => told.push(cursor));
  for (const cursor of ["7", "7", "7"]) position.took(cursor);
  expect(told).toEqual([]);
  position.took(undefined);
  position.took("8");
  position.took("9");
  expect(told).toEqual(["7", "8"]);
});

/** A position of several filters whose waits and answers come when the test says so. */
function aged() {
  const told: string[] = [];
  const waits: (() => void)[] = [];
  const answers: ((failed?: Error) => void)[] = [];
  const roundTrip = () =>
    new Promise<void>((done, fail) => answers.push((failed) => (failed === undefined ? done() : fail(failed))));
  const wait = () => new Promise<void>((done) => waits.push(done));
  const position = new Aged((cursor) => told.push(cursor), roundTrip, wait);
  const next = async (queue: ((failed?: Error) => void)[], failed?: Error) => {
    queue.shift()?.(failed);
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { told, position, waits, answers, next };
}

test("with several filters a cursor is told after it has aged and two answers came, one at a time", async () => {
  const { told, position, waits, answers, next } = aged();
  position.took("7", 1);
  position.took("8", 1);
  expect([waits.length, answers.length]).toEqual([1, 0]);
  await next(waits);
  await next(answers);
  expect(told).toEqual([]);
  await next(answers);
  expect(told).toEqual(["7"]);
  position.took("9", 1);
  expect(waits.length).toBe(1);
});

test("a cursor is not told where so much came between the answers that more may wait", async () => {
  const { told, position, waits, answers, next } = aged();
  position.took("7", SETTLE_BYTES);
  await next(waits);
  position.took("8", SETTLE_BYTES);
  await next(answers);
  await next(answers);
  expect(told).toEqual([]);
  position.took("9", 1);
  await next(waits);
  await next(answers);
  await next(answers);
  expect(told).toEqual(["9"]);
});

test("a cursor whose answer never comes is not told", async () => {
  const { told, position, waits, answers, next } = aged();
  position.took("7", 1);
  await next(waits);
  await next(answers, new Error("closed"));
  expect(told).toEqual([]);
});
