/**
 * One subscription as an asynchronous iterator over the dashboard's `Session`, which resumes and retries.
 *
 * What a program does not take waits, `EVENTS_MAX` at most; then the connection is let go, and made anew behind the
 * last event when all is worked off. So a slow program costs a little repetition and loses nothing.
 */

import { type Gap as Told, Refused } from "../../../web/src/delivery/delivery";
import { type Listener, type Plan, Session, type State } from "../../../web/src/delivery/session";
import type { Codec, Payload } from "../../../web/src/formats/codec";
import { type Event, Message } from "./events";
import { EVENTS_MAX } from "./limits";
import { fillIn } from "./platform";

export interface Beginning {
  since?: string | undefined;
  token?: string | undefined;
  onState?: ((state: State) => void) | undefined;
}

export class Subscription implements AsyncIterableIterator<Event>, Listener {
  /** Where a later subscription goes on, as `since`, behind the event that was given last. */
  cursor: string | undefined;
  private readonly session: Session;
  private readonly waiting: Event[] = [];
  private newest: Event | undefined;
  private wake: (() => void) | undefined;
  private running = false;
  private closed = false;
  private refused: Refused | undefined;

  constructor(
    base: URL,
    private readonly plan: Plan,
    private readonly codec: Codec,
    private readonly beginning: Beginning,
  ) {
    this.session = new Session(base, this);
    this.session.token = beginning.token;
    this.session.cursor = this.cursor = beginning.since;
  }

  async next(): Promise<IteratorResult<Event>> {
    for (;;) {
      const event = this.waiting.shift();
      if (event !== undefined) return this.given(event);
      if (this.closed) return { done: true, value: undefined };
      if (this.refused !== undefined) throw this.refused;
      await this.more();
    }
  }

  /** Ends the connection; `break` in a loop does it too. */
  async return(): Promise<IteratorResult<Event>> {
    this.closed = true;
    this.session.stop();
    this.wake?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** @internal */
  message(payload: Payload): void {
    const topic = this.plan.filters[0] ?? "";
    this.put(new Message(payload, this.plan.format.name, this.session.cursor, this.codec, topic));
  }

  /** @internal */
  gap(gap: Told): void {
    this.put({ kind: "gap", ...gap, cursor: this.session.cursor });
  }

  /** A cursor follows what it is of. @internal */
  sent(): void {
    if (this.newest === undefined) return;
    this.newest.cursor = this.session.cursor;
    if (this.waiting.length === 0) this.cursor = this.session.cursor;
  }

  /** @internal */
  state(state: State): void {
    this.beginning.onState?.(state);
    if (state.kind === "locked") this.refused = new Refused(401, "the gateway wants a token that it knows");
    if (state.kind === "refused") this.refused = new Refused(Number.parseInt(state.why, 10), state.why.slice(5));
    if (this.refused !== undefined) this.wake?.();
  }

  private given(event: Event): IteratorResult<Event> {
    this.cursor = event.cursor ?? this.cursor;
    return { done: false, value: event };
  }

  private put(event: Event): void {
    this.newest = event;
    this.waiting.push(event);
    this.wake?.();
    if (this.waiting.length < EVENTS_MAX) return;
    this.session.stop();
    this.running = false;
  }

  private async more(): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    if (!this.running) {
      this.running = true;
      await fillIn();
      if (!this.closed) this.session.follow(this.plan);
    }
    if (this.waiting.length === 0 && !this.closed && this.refused === undefined) await woken;
  }
}
