/**
 * When what happened to a message, and the times between that Babovic et al. 2016 names (section V, equations 1
 * and 2): T_total = T_transfer + T_process + T_render, T_transfer = T_transmit + T_decode.
 *
 * T_transmit spans two clocks, which whoever reads the stamps has to bring together. T_render runs to the frame
 * being presented; the paper's own ended when the canvas was drawn, which is kept apart as `draw`.
 */

/** Times on the clock of `performance.now`; NaN where a thing did not happen. */
export interface Stamps {
  /** Number of the message, where it has one; else counted here. */
  seq: number;
  /** When the gateway had the data, on its clock: milliseconds since the epoch. */
  available: number;
  /** The last byte is in the page's hands. */
  arrival: number;
  /** The payload is observations. */
  decoded: number;
  /** They are combined with what was before. */
  processed: number;
  /** Drawing begins, in the frame that shows them. */
  began: number;
  /** The canvas is drawn. */
  drawn: number;
  /** The frame is on the screen. */
  presented: number;
  /** Number of that frame, counted here. */
  frame: number;
  /** Whether the browser said when, or the first task after the frame stands for it. */
  observed: boolean;
  /** Characters of a text, bytes of a binary payload. */
  size: number;
}

export const TERMS = ["transmit", "decode", "process", "render"] as const;
export type Term = (typeof TERMS)[number];
export type Times = Record<Term | "transfer" | "draw" | "total", number>;

/** The times of a message in milliseconds; `offset` is what the gateway's clock shows where this one shows 0. */
export function timesOf(stamps: Stamps, offset: number): Times {
  const transmit = stamps.arrival - (stamps.available - offset);
  const decode = stamps.decoded - stamps.arrival;
  const process = stamps.processed - stamps.decoded;
  const render = stamps.presented - stamps.processed;
  const transfer = transmit + decode;
  const draw = stamps.drawn - stamps.began;
  return { transmit, decode, process, render, transfer, draw, total: transfer + process + render };
}

/** The value at a share of the sorted numbers; NaN of none. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.filter((number) => !Number.isNaN(number)).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
