/**
 * Up to where an MQTT connection has brought everything, told from the cursors of its packets.
 *
 * A message of which a filter wants a part comes in several packets with one cursor, so that a cursor in hand
 * does not say that all of its message is. A position that is told late costs repetition, which the store
 * takes as the same; one that is told early would lose messages.
 */

import { SETTLE_BYTES, SETTLE_MS } from "../limits";

export interface Position {
  /** A packet of so many bytes was taken; without a cursor it moves nothing. */
  took(cursor: string | undefined, bytes: number): void;
}

/** One filter: its packets come in the order of the log, so a message is whole when the next one begins. */
export class InTurn implements Position {
  private last: string | undefined;

  constructor(private readonly tell: (cursor: string) => void) {}

  took(cursor: string | undefined): void {
    if (cursor === undefined || cursor === this.last) return;
    if (this.last !== undefined) this.tell(this.last);
    this.last = cursor;
  }
}

/**
 * Several filters: each is a subscription that reads the log by itself, so one may lag behind another. A cursor
 * is told when it has aged, and then two answers of the gateway have come with little between them: what is due
 * is sent between two answers unless too much waits already.
 */
export class Aged implements Position {
  private bytes = 0;
  private waiting = false;

  constructor(
    private readonly tell: (cursor: string) => void,
    /** Asks for something and resolves when it is answered. */
    private readonly roundTrip: () => Promise<unknown>,
    private readonly wait: (ms: number) => Promise<void>,
  ) {}

  took(cursor: string | undefined, bytes: number): void {
    this.bytes += bytes;
    if (cursor === undefined || this.waiting) return;
    this.waiting = true;
    void this.settle(cursor);
  }

  private async settle(cursor: string): Promise<void> {
    try {
      await this.wait(SETTLE_MS);
      const before = this.bytes;
      await this.roundTrip();
      await this.roundTrip();
      if (this.bytes - before < SETTLE_BYTES) this.tell(cursor);
    } catch {
      // The connection has ended; whoever follows it hears of that by itself.
    } finally {
      this.waiting = false;
    }
  }
}
