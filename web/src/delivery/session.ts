/**
 * Keeps one subscription alive whatever the delivery scheme: remembers the cursor, retries with jitter, and
 * moves to another scheme or format without losing a message, by opening the new one at the cursor of the
 * old. Decides nothing about messages: they go to the listener with the format they are in.
 */

import type { Format, Payload } from "../formats/format";
import { RETRY_FIRST_MS, RETRY_MAX_MS } from "../limits";
import {
  type Account,
  type Control,
  type Delivery,
  type Gap,
  type Realm,
  Refused,
  type Sink,
  type Subscription,
} from "./delivery";
import type { Pacer } from "./pace";
import { sleep } from "./sleep";

/** How the connection stands; `retry` is the wall-clock time of the next attempt in milliseconds. */
export type State =
  | { kind: "connecting" }
  | { kind: "live" }
  | { kind: "waiting"; why: string; retry: number }
  | { kind: "locked"; realm: Realm; why: string }
  | { kind: "refused"; why: string };

/** What to follow and how. */
export interface Plan {
  delivery: Delivery;
  format: Format;
  filters: readonly string[];
  /** See `Subscription.unit`. */
  unit?: string;
}

/** Who hears of it. */
export interface Listener {
  state(state: State): void;
  message(payload: Payload, arrival: number, plan: Plan): void;
  gap(gap: Gap): void;
  /** A batch has ended; `us` is the gateway's stamp of it where it has one, in microseconds since the epoch. */
  sent(us: number | undefined): void;
}

export class Session {
  private running = new AbortController();
  /** Where it is; set before a plan is followed to go on from there. */
  cursor: string | undefined;
  token: string | undefined;
  account: Account | undefined;

  constructor(
    private readonly base: URL,
    private readonly listener: Listener,
    private readonly pacer?: Pacer,
  ) {}

  /**
   * Follows a plan from the cursor reached, whatever the last plan was: a cursor is a position in the gateway's
   * log, valid for every scheme, format and filter.
   */
  follow(plan: Plan): void {
    this.running.abort();
    this.running = new AbortController();
    void this.keep(plan, this.running.signal);
  }

  /** Ends the connection; the next plan goes on where it was. */
  stop(): void {
    this.running.abort();
  }

  private async keep(plan: Plan, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      this.listener.state({ kind: "connecting" });
      let opened = false;
      const sink = this.sink(plan, signal, () => {
        opened = true;
      });
      const fault = await attempt(plan.delivery, this.subscription(plan), sink, signal);
      if (signal.aborted) return;
      const end = final(fault);
      if (end !== undefined) return this.listener.state(end);
      failures = opened ? 1 : failures + 1;
      await this.pause(fault, failures, signal);
    }
  }

  private async pause(fault: Error | undefined, failures: number, signal: AbortSignal): Promise<void> {
    const asked = fault instanceof Refused ? fault.retryAfter : undefined;
    const ms = asked ?? retryMs(failures, Math.random());
    const why = fault?.message ?? "the gateway closed the connection";
    this.listener.state({ kind: "waiting", why, retry: Date.now() + ms });
    await sleep(ms, signal);
  }

  private subscription(plan: Plan): Subscription {
    const subscription: Subscription = { base: this.base, filters: plan.filters, format: plan.format };
    if (plan.unit !== undefined) subscription.unit = plan.unit;
    if (this.cursor !== undefined) subscription.since = this.cursor;
    if (this.token !== undefined) subscription.token = this.token;
    if (this.account !== undefined) subscription.account = this.account;
    if (this.pacer !== undefined) subscription.pacer = this.pacer;
    return subscription;
  }

  /** The sink of one attempt: deaf once the attempt is replaced. */
  private sink(plan: Plan, signal: AbortSignal, onOpen: () => void): Sink {
    let live = false;
    return {
      opened: () => {
        if (signal.aborted || live) return;
        live = true;
        onOpen();
        this.listener.state({ kind: "live" });
      },
      message: (payload, arrival) => {
        if (!signal.aborted) this.listener.message(payload, arrival, plan);
      },
      control: (control) => {
        if (!signal.aborted) this.control(control);
      },
    };
  }

  private control(control: Control): void {
    if (control.gap !== undefined) this.listener.gap(control.gap);
    if (control.cursor !== undefined) this.cursor = control.cursor;
    this.listener.sent(control.sent);
  }
}

/** The pause before attempt number `failures` + 1: half of a doubling bound, and a random part of the rest. */
export function retryMs(failures: number, random: number): number {
  const bound = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (failures - 1));
  return bound / 2 + (bound / 2) * random;
}

async function attempt(delivery: Delivery, subscription: Subscription, sink: Sink, signal: AbortSignal) {
  try {
    await delivery.run(subscription, sink, signal);
    return undefined;
  } catch (error) {
    // A TypeError is how `fetch` says that nobody answered.
    if (error instanceof TypeError) return new Error("the gateway does not answer");
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** States that no retry changes: a missing token or account, or a request that the gateway refuses as such. */
function final(fault: Error | undefined): State | undefined {
  if (!(fault instanceof Refused)) return undefined;
  if (fault.status === 401) return { kind: "locked", realm: fault.realm, why: fault.message };
  const lasting = fault.status >= 400 && fault.status < 500 && fault.status !== 408 && fault.status !== 429;
  return lasting ? { kind: "refused", why: fault.message } : undefined;
}
