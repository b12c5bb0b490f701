/**
 * Which messages a payload has: the gateway may answer a question with several as one, and each of them has come.
 *
 * The datastream that counts the messages of a run has a number in each: crates/codec/src/sample.rs.
 */

import type { Observation } from "../data/observation";

const COUNTER = "/supply/energy";
const COUNTER_BASE = 51_200;
const COUNTER_STEP = 0.25;

/** A message that came, by its number, and when the gateway had it. */
export interface Numbered {
  seq: number;
  available: number;
}

/** The messages among these observations, in their order. */
export function messagesIn(observations: readonly Observation[]): Numbered[] {
  return observations.filter(({ topic }) => topic.endsWith(COUNTER)).map(numbered);
}

function numbered({ value, time }: Observation): Numbered {
  const seq = Math.round((Number(value) - COUNTER_BASE) / COUNTER_STEP);
  return { seq, available: time ?? Number.NaN };
}

/** The messages that a run waits for, and which of them have come. */
export class Awaited {
  private readonly come = new Set<number>();

  constructor(
    private readonly first: number,
    private readonly count: number,
  ) {}

  /** Takes in what a payload has; the newest of it that is waited for, if any is. */
  take(messages: readonly Numbered[]): Numbered | undefined {
    const awaited = messages.filter(({ seq }) => seq >= this.first && seq < this.first + this.count);
    for (const { seq } of awaited) this.come.add(seq);
    return awaited.at(-1);
  }

  /** How many have come, each counted once. */
  get size(): number {
    return this.come.size;
  }
}
