/**
 * The live stream: what comes by the session is decoded, measured and put into the store. Knows no panel; who
 * draws is told that there is something new.
 */

import type { Observation } from "./data/observation";
import type { Store } from "./data/store";
import type { Account, Gap } from "./delivery/delivery";
import { Pacer } from "./delivery/pace";
import { type Listener, type Plan, Session, type State } from "./delivery/session";
import type { Payload } from "./formats/format";
import type { Meter } from "./measure/meter";

/** After this long a connection has handed over what it starts with, whatever the sensors' clocks say. */
const CATCH_UP_MS = 5_000;

/** Who is told. */
export interface Audience {
  state(state: State): void;
  /** Something new is in the store; `processed` on the clock of `performance.now`. */
  changed(processed?: number): void;
  /** A message could not be read. */
  unreadable(why: string): void;
}

export class Live implements Listener {
  /** Tells the gateway what messages and frames cost this page. */
  readonly pacer = new Pacer();
  private readonly session: Session;
  private following = "";
  /** When the connection was answered, on the clock of `performance.now`. */
  private opened = 0;

  constructor(
    base: URL,
    private readonly store: Store,
    private readonly meter: Meter,
    private readonly audience: Audience,
  ) {
    this.session = new Session(base, this, this.pacer);
  }

  /** Follows a plan, unless it is the one followed already. */
  follow(plan: Plan): void {
    const key = [plan.delivery.id, plan.format.name, ...plan.filters].join(" ");
    if (key === this.following) return;
    this.following = key;
    this.session.follow(plan);
  }

  /** Takes another token; the next plan is followed with it in any case. */
  authorize(token: string | undefined): void {
    this.session.token = token;
    this.following = "";
  }

  /** Is somebody else at servers in between; the next plan is followed so in any case. */
  logIn(account: Account | undefined): void {
    this.session.account = account;
    this.following = "";
  }

  state(state: State): void {
    if (state.kind === "live") this.opened = performance.now();
    this.audience.state(state);
  }

  gap(gap: Gap): void {
    this.store.missed(gap);
    this.audience.changed();
  }

  sent(us: number | undefined): void {
    this.meter.sent(us);
  }

  message(payload: Payload, arrival: number, plan: Plan): void {
    const observations = this.decode(payload, plan);
    if (observations === undefined) return;
    const decoded = performance.now();
    const newest = this.store.take(observations, arrival);
    const processed = performance.now();
    this.pacer.took(processed - arrival);
    const live = this.isLive(arrival, newest);
    this.meter.message({ bytes: size(payload), arrival, decoded, processed, newest, live });
    this.audience.changed(processed);
  }

  private decode(payload: Payload, plan: Plan): Observation[] | undefined {
    try {
      return plan.format.decode(payload, plan.filters[0] ?? "");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.audience.unreadable(`A message is not ${plan.format.name}: ${why}`);
      return undefined;
    }
  }

  /** Whether a message happened since the connection was answered, and is not what was missed before. */
  private isLive(arrival: number, newest: number | undefined): boolean {
    if (arrival - this.opened > CATCH_UP_MS) return true;
    return newest !== undefined && newest >= performance.timeOrigin + this.opened;
  }
}

const utf8 = new TextEncoder();

function size(payload: Payload): number {
  return typeof payload === "string" ? utf8.encode(payload).length : payload.length;
}
