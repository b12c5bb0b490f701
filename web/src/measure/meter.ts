/**
 * Measures the stream on screen with the terms of Babovic et al. 2016, section V, equations 1 and 2:
 * T_total = T_transmit + T_decode + T_process + T_render.
 *
 * - T_transmit: from the gateway's stamp, or failing that from the newest observation's own time, to the
 *   arrival in the page. It spans two clocks; on one machine they are the same.
 * - T_decode: payload to observations, base64 of binary event streams included.
 * - T_process: observations into the store and its rings.
 * - T_render: from the start of drawing to the first task after the frame, when the browser has committed it.
 *
 * The wait for the display's next frame lies between T_process and T_render; it belongs to the display, not
 * to the software under test, and is kept apart as `wait`.
 */

import { Samples } from "../data/ring";
import { SAMPLES, SPARK_POINTS } from "../limits";

export const TERMS = ["transmit", "decode", "process", "render"] as const;
export type Term = (typeof TERMS)[number];

/** An observation older than this on arrival is the past being handed in, not a slow transmission. */
const PAST_MS = 3_600_000;

/** A message that has been handled; times on the clock of `performance.now`, `newest` since the epoch. */
export interface Handled {
  bytes: number;
  arrival: number;
  decoded: number;
  processed: number;
  /** Newest observation time in it, in milliseconds. */
  newest: number | undefined;
  /** Whether it happened now, and was not handed over as what went before. */
  live: boolean;
}

export class Meter {
  readonly transmit = new Samples(SAMPLES);
  readonly decode = new Samples(SAMPLES);
  readonly process = new Samples(SAMPLES);
  readonly render = new Samples(SAMPLES);
  /** T_total of equation 1, for each message whose T_transmit is known. */
  readonly total = new Samples(SAMPLES);
  readonly wait = new Samples(SAMPLES);
  readonly bytes = new Samples(SAMPLES);
  /** Messages of what is measured: those before the last restart are not counted. */
  messages = 0;
  /** Messages in each of the last whole seconds. */
  readonly rate = new Samples(SPARK_POINTS);
  /** Whether T_transmit starts at the gateway's own stamp. */
  stamped = false;
  private second = 0;
  private inSecond = 0;
  /** T_transmit + T_decode + T_process of the messages that the next frame will show. */
  private unseen: number[] = [];
  /** Messages since the last stamp, oldest dropped. */
  private unstamped: Handled[] = [];

  /** Forgets what another scheme or format has measured. */
  restart(): void {
    for (const term of TERMS) this[term].clear();
    for (const samples of [this.total, this.wait, this.bytes, this.rate]) samples.clear();
    this.stamped = false;
    this.unstamped = [];
    this.unseen = [];
    this.second = 0;
    this.inSecond = 0;
    this.messages = 0;
  }

  /** Counts a message; one that is not live has no T_transmit. */
  message(m: Handled): void {
    this.bytes.push(m.bytes);
    this.decode.push(m.decoded - m.arrival);
    this.process.push(m.processed - m.decoded);
    const fresh = m.newest !== undefined && epoch(m.arrival) - m.newest < PAST_MS;
    if (m.live && !this.stamped && fresh) this.transmitted(epoch(m.arrival) - (m.newest as number), m);
    if (m.live) keep(this.unstamped, m);
    this.inSecond++;
    this.messages++;
  }

  /** Takes a frame: what it showed is now seen. Times on the clock of `performance.now`. */
  presented(ready: number, began: number, presented: number): void {
    this.wait.push(began - ready);
    this.render.push(presented - began);
    for (const before of this.unseen) this.total.push(before + presented - began);
    this.unseen = [];
  }

  /** Takes the gateway's stamp (microseconds since the epoch) of the messages since the last one, if it has one. */
  sent(us: number | undefined): void {
    if (us !== undefined) {
      if (!this.stamped) this.transmit.clear();
      this.stamped = true;
      for (const message of this.unstamped) this.transmitted(epoch(message.arrival) - us / 1000, message);
    }
    this.unstamped = [];
  }

  private transmitted(ms: number, m: Handled): void {
    this.transmit.push(ms);
    keep(this.unseen, ms + m.processed - m.arrival);
  }

  /** Closes the seconds that have passed. */
  tick(now: number): void {
    const second = Math.floor(now / 1000);
    if (this.second === 0) this.inSecond = 0;
    for (let i = Math.max(this.second, second - SPARK_POINTS); this.second !== 0 && i < second; i++) {
      this.rate.push(this.inSecond);
      this.inSecond = 0;
    }
    this.second = second;
  }
}

/** Appends within the bound; the oldest leaves first. */
function keep<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > SAMPLES) list.shift();
}

function epoch(now: number): number {
  return performance.timeOrigin + now;
}
