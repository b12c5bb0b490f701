/**
 * One cell: a subscription followed as the dashboard would, each message stamped on its way to the screen.
 *
 * Decides nothing about what is published: that, and the clock's offset, is for whoever asked.
 */

import type { Observation } from "../data/observation";
import { cometd, type Transport } from "../delivery/cometd";
import type { Delivery, Sink, Subscription } from "../delivery/delivery";
import { DELIVERIES } from "../delivery/list";
import { Pacer } from "../delivery/pace";
import type { Format, Payload } from "../formats/format";
import type { History } from "./history";
import { Awaited, messagesIn, type Numbered } from "./numbers";
import type { Stage } from "./stage";
import type { Stamps } from "./stamps";

/** What is to be measured. */
export interface Job {
  /** By its name as a factor's level, see `SCHEMES`. */
  delivery: string;
  format: string;
  filter: string;
  /** Number of the first message that counts; without one all count. */
  first?: number;
  /** How many count. */
  count?: number;
  /** Time between polls, in milliseconds. */
  pollMs?: number;
  /** Whether the page tells the gateway how much it can draw. */
  pace?: boolean;
  /** A CometD that is followed in the gateway's place: its address and the transport. */
  cometd?: { address: string; transport: Transport };
  /** Whether frames are marked for the browser's own trace. */
  trace?: boolean;
}

/** Delivery schemes by the names that experiments give them. */
export const SCHEMES: Readonly<Record<string, string>> = {
  polling: "polling",
  "long-polling": "longpoll",
  streaming: "stream",
  sse: "sse",
  websocket: "websocket",
};

/** Messages kept; the oldest leaves first. */
const STAMPS_MAX = 20_000;

/** What a cell gave. */
export interface Outcome {
  stamps: Stamps[];
  /** Messages that came: those stamped, and those that came in one payload with a newer one. */
  reached: number;
  /** Why it ended before it should, or what could not be read. */
  fault?: string;
}

export class Cell {
  readonly stamps: Stamps[] = [];
  private readonly ending = new AbortController();
  private readonly pacer: Pacer | undefined;
  private fault: string | undefined;
  private whole: () => void = () => {};
  private counted = 0;
  private readonly awaited: Awaited | undefined;

  constructor(
    private readonly base: URL,
    private readonly job: Job,
    private readonly format: Format,
    private readonly history: History,
    private readonly stage: Stage,
  ) {
    const pacer = job.pace ? new Pacer() : undefined;
    this.pacer = pacer;
    const { first, count = Number.POSITIVE_INFINITY } = job;
    this.awaited = first === undefined ? undefined : new Awaited(first, count);
    stage.frameTook = (ms) => pacer?.drew(ms);
    stage.marks = job.trace === true;
  }

  /** Resolves once the gateway has answered. */
  begin(): Promise<void> {
    const delivery = deliveryOf(this.job);
    return new Promise((opened, failed) => {
      const run = delivery.run(this.subscription(), this.sink(opened), this.ending.signal);
      run
        .then(() => "the gateway closed the connection")
        .catch((error: unknown) => String(error instanceof Error ? error.message : error))
        .then((why) => {
          if (this.ending.signal.aborted) return;
          this.fault ??= why;
          this.whole();
          failed(new Error(why));
        });
    });
  }

  /** Waits for the last message, so long at most; ends the subscription and says what was measured. */
  async finish(patienceMs: number): Promise<Outcome> {
    if (!this.isWhole() && this.fault === undefined) {
      await new Promise<void>((resolve) => {
        this.whole = resolve;
        setTimeout(resolve, patienceMs);
      });
    }
    this.ending.abort();
    await this.stage.settled();
    const { stamps, fault } = this;
    const reached = this.awaited?.size ?? this.counted;
    return fault === undefined ? { stamps, reached } : { stamps, reached, fault };
  }

  private subscription(): Subscription {
    const subscription: Subscription = { base: this.base, filters: [this.job.filter], format: this.format };
    if (this.job.pollMs !== undefined) subscription.pollMs = this.job.pollMs;
    if (this.pacer !== undefined) subscription.pacer = this.pacer;
    return subscription;
  }

  private sink(opened: () => void): Sink {
    return {
      opened,
      message: (payload, arrival) => this.message(payload, arrival),
      control: () => {},
    };
  }

  private message(payload: Payload, arrival: number): void {
    const observations = this.decode(payload);
    if (observations === undefined) return;
    const decoded = performance.now();
    const read = this.read(observations);
    this.history.combine(observations);
    const processed = performance.now();
    if (read === undefined) return;
    const none = Number.NaN;
    const shown = { began: none, drawn: none, presented: none, frame: none, observed: false };
    const stamps: Stamps = { ...read, arrival, decoded, processed, ...shown, size: payload.length };
    this.keep(stamps);
    this.stage.show(stamps);
    this.pacer?.took(processed - arrival);
    if (this.isWhole()) this.whole();
  }

  private decode(payload: Payload): Observation[] | undefined {
    try {
      return this.format.decode(payload, this.job.filter);
    } catch (error) {
      this.fault ??= `a message is not ${this.format.name}: ${error instanceof Error ? error.message : error}`;
      return undefined;
    }
  }

  /** The message that is stamped: of those that came as one, the newest; none where none counts. */
  private read(observations: readonly Observation[]): Numbered | undefined {
    if (this.awaited !== undefined) return this.awaited.take(messagesIn(observations));
    return { seq: ++this.counted, available: observations.at(-1)?.time ?? Number.NaN };
  }

  private keep(stamps: Stamps): void {
    this.stamps.push(stamps);
    if (this.stamps.length > STAMPS_MAX) this.stamps.shift();
  }

  /** Whether the last message is here: others may have been passed over for it. */
  private isWhole(): boolean {
    const { first, count } = this.job;
    return first !== undefined && count !== undefined && this.stamps.at(-1)?.seq === first + count - 1;
  }
}

function deliveryOf({ delivery, cometd: other }: Job): Delivery {
  if (other !== undefined) return cometd(other.address, other.transport);
  const found = DELIVERIES.find(({ id }) => id === SCHEMES[delivery]);
  if (found === undefined) throw new Error(`the page has no delivery scheme ${delivery}`);
  return found;
}
