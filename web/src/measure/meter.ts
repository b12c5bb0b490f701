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

export class Meter {
  readonly transmit = new Samples(SAMPLES);
  readonly decode = new Samples(SAMPLES);
  readonly process = new Samples(SAMPLES);
  readonly render = new Samples(SAMPLES);
  readonly wait = new Samples(SAMPLES);
  readonly bytes = new Samples(SAMPLES);
  /** Messages counted since the page was opened. */
  messages = 0;
  /** Messages in each of the last whole seconds. */
  readonly rate = new Samples(SPARK_POINTS);
  /** Whether T_transmit starts at the gateway's own stamp. */
  stamped = false;
  private second = 0;
  private inSecond = 0;
  /** Arrivals since the last stamp, oldest dropped. */
  private arrivals: number[] = [];

  /** Forgets what another scheme or format has measured. */
  restart(): void {
    for (const term of TERMS) this[term].clear();
    for (const samples of [this.wait, this.bytes, this.rate]) samples.clear();
    this.stamped = false;
    this.arrivals = [];
    this.second = 0;
    this.inSecond = 0;
  }

  /**
   * Counts a message that has been handled; all times on the clock of `performance.now`. A message that is not
   * `live` brings what happened earlier: it has no T_transmit.
   */
  message(m: {
    bytes: number;
    arrival: number;
    decoded: number;
    processed: number;
    newest: number | undefined;
    live: boolean;
  }) {
    this.bytes.push(m.bytes);
    this.decode.push(m.decoded - m.arrival);
    this.process.push(m.processed - m.decoded);
    if (m.live && !this.stamped && m.newest !== undefined) this.transmit.push(epoch(m.arrival) - m.newest);
    if (m.live) this.arrivals.push(m.arrival);
    if (this.arrivals.length > SAMPLES) this.arrivals.shift();
    this.inSecond++;
    this.messages++;
  }

  /** Takes the gateway's stamp (microseconds since the epoch) for the messages since the last one. */
  sent(us: number): void {
    if (!this.stamped) this.transmit.clear();
    this.stamped = true;
    for (const arrival of this.arrivals) this.transmit.push(epoch(arrival) - us / 1000);
    this.arrivals = [];
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

function epoch(now: number): number {
  return performance.timeOrigin + now;
}
