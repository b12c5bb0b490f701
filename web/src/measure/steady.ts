/**
 * The steady state of a piece of work: k samples in a row whose coefficient of variation is under a bound
 * (Georges et al. 2007; Tamayo et al. 2012, section 4.2.1, with k = 10 and 0.05).
 *
 * A sample is as many calls as take a few milliseconds, because a page's clock has steps of 5 µs at best. What
 * never gets steady gives its least varying samples, and what takes very long gives as many as there was time for;
 * whoever asked sees that they vary or are few.
 */

export interface Rule {
  /** Samples in a row. */
  k: number;
  /** Bound of their coefficient of variation. */
  covMax: number;
  /** Time after which the best samples are taken. */
  budgetMs: number;
}

/** Shortest sample. */
const SAMPLE_MS = 4;
const CALLS_MAX = 1 << 20;
/** Time, in budgets, after which fewer samples do, and how many must. */
const PATIENCE = 4;
const SAMPLES_MIN = 3;

/** Microseconds a call. */
export async function measure(rule: Rule, call: () => void, now = () => performance.now()): Promise<number[]> {
  const calls = callsPerSample(call, now);
  const end = now() + rule.budgetMs;
  const window: number[] = [];
  let best: number[] = [];
  for (;;) {
    window.push((sample(call, calls, now) * 1000) / calls);
    if (window.length > rule.k) window.shift();
    if (window.length === rule.k && (best.length === 0 || variation(window) < variation(best))) best = [...window];
    const late = now() > end;
    if (window.length >= SAMPLES_MIN && window.length < rule.k && now() > end + (PATIENCE - 1) * rule.budgetMs)
      return window;
    if (best.length === rule.k && (variation(best) < rule.covMax || late)) return best;
    // The browser's own work comes between samples and not into them.
    await pause();
  }
}

/** Standard deviation divided by the mean. */
export function variation(samples: readonly number[]): number {
  const mean = samples.reduce((sum, one) => sum + one, 0) / samples.length;
  const squares = samples.reduce((sum, one) => sum + (one - mean) ** 2, 0);
  return Math.sqrt(squares / Math.max(samples.length - 1, 1)) / mean;
}

function callsPerSample(call: () => void, now: () => number): number {
  for (let calls = 1; ; calls *= 2) {
    if (sample(call, calls, now) >= SAMPLE_MS || calls >= CALLS_MAX) return calls;
  }
}

function sample(call: () => void, calls: number, now: () => number): number {
  const start = now();
  for (let i = 0; i < calls; i++) call();
  return now() - start;
}

function pause(): Promise<void> {
  return new Promise((resume) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resume();
    };
    port2.postMessage(null);
  });
}
