/**
 * Tells the gateway what a message costs this page, so that it sends no more than the page can draw
 * (docs/concepts/delivery.md).
 *
 * The cost is the p90 of decoding and combining plus that of a frame: what both keep the page's one thread busy
 * with. It is told again when it has changed by a quarter: more of it at once, since what comes meanwhile has to
 * be worked off, less of it twice a second at most. A hidden tab draws nothing and asks for the slowest pace.
 */

/** Messages and frames behind the figures. */
const WINDOW = 64;
/** Least time before a lower and before a higher cost is told, in milliseconds. */
const LOWER_MS = 500;
const HIGHER_MS = 20;
/** Change from which a report is worth it, as a share. */
const CHANGE = 0.25;
/** What a hidden tab asks for, in milliseconds: the gateway lets twice that pass between two messages. */
export const HIDDEN_MS = 500;
/** A cost below this needs no pace: as much as the gateway's steps, in milliseconds. */
const LEAST_MS = 1;

/** Hears what is to be told: a duration as the gateway reads it. */
export type Teller = (cost: string) => void;

export class Pacer {
  private readonly messages: number[] = [];
  private readonly frames: number[] = [];
  private teller: Teller | undefined;
  private toldMs = 0;
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly isHidden = () => document.hidden,
    private readonly now = () => performance.now(),
  ) {}

  /** A message has been decoded and combined within so many milliseconds. */
  took(ms: number): void {
    keep(this.messages, ms);
    this.report();
  }

  /** A frame has been drawn within so many milliseconds. */
  drew(ms: number): void {
    keep(this.frames, ms);
    this.report();
  }

  /** Who carries reports from now on, or nobody; it is told at once where there is something to tell. */
  tell(teller: Teller | undefined): void {
    this.teller = teller;
    if (this.toldMs > 0) teller?.(duration(this.toldMs));
  }

  /** What was told last, for the next connection; undefined where there is no pace. */
  told(): string | undefined {
    return this.toldMs > 0 ? duration(this.toldMs) : undefined;
  }

  /** Tells the cost where it has changed; also to be called when the tab is hidden or shown. */
  report(): void {
    const now = this.now();
    const cost = this.costMs();
    const least = cost > this.toldMs ? HIGHER_MS : LOWER_MS;
    const change = Math.abs(cost - this.toldMs);
    if (now - this.toldAt < least || change <= CHANGE * Math.max(this.toldMs, LEAST_MS)) return;
    this.toldAt = now;
    this.toldMs = cost;
    this.teller?.(duration(cost));
  }

  private costMs(): number {
    if (this.isHidden()) return HIDDEN_MS;
    const cost = p90(this.messages) + p90(this.frames);
    return cost < LEAST_MS ? 0 : cost;
  }
}

function keep(list: number[], ms: number): void {
  list.push(ms);
  if (list.length > WINDOW) list.shift();
}

function p90(list: readonly number[]): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.floor(0.9 * sorted.length)] ?? 0;
}

/** A duration as `?pace=` takes it. */
function duration(ms: number): string {
  return ms === 0 ? "0" : `${ms.toFixed(1)}ms`;
}
