/**
 * Two rings of fixed size: `Ring` keeps a datastream's last points in order of time, `Samples` keeps the last
 * measurements of one kind. Neither allocates after it is made. Order is by observation time: a point that is
 * not newer than the last is not kept, which also makes a repeated snapshot harmless.
 */

/** The last points of one datastream: times in milliseconds, rising. */
export class Ring {
  private readonly times: Float64Array;
  private readonly values: Float64Array;
  private start = 0;
  private count = 0;

  constructor(readonly capacity: number) {
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(capacity);
  }

  get length(): number {
    return this.count;
  }

  /** Time of point `i`, counted from the oldest. */
  time(i: number): number {
    return this.times[(this.start + i) % this.capacity] as number;
  }

  value(i: number): number {
    return this.values[(this.start + i) % this.capacity] as number;
  }

  get newest(): number {
    return this.count === 0 ? Number.NEGATIVE_INFINITY : this.time(this.count - 1);
  }

  /** Appends a point; false where it is not newer than the last. */
  push(time: number, value: number): boolean {
    if (!(time > this.newest)) return false;
    const at = (this.start + this.count) % this.capacity;
    this.times[at] = time;
    this.values[at] = value;
    if (this.count < this.capacity) this.count++;
    else this.start = (this.start + 1) % this.capacity;
    return true;
  }

  /** Index of the first point at or after `time`; `length` where there is none. */
  lowerBound(time: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.time(middle) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts history in front of what is here: points newer than the history's last one stay. */
  prefill(times: ArrayLike<number>, values: ArrayLike<number>): void {
    const last = times.length === 0 ? Number.NEGATIVE_INFINITY : (times[times.length - 1] as number);
    const kept: [number, number][] = [];
    for (let i = this.lowerBound(last); i < this.count; i++) kept.push([this.time(i), this.value(i)]);
    this.start = 0;
    this.count = 0;
    for (let i = 0; i < times.length; i++) this.push(times[i] as number, values[i] as number);
    for (const [time, value] of kept) this.push(time, value);
  }
}

/** The last measurements of one kind, with mean and percentiles. */
export class Samples {
  private readonly values: Float64Array;
  private readonly sorted: Float64Array;
  private next = 0;
  private count = 0;

  constructor(capacity: number) {
    this.values = new Float64Array(capacity);
    this.sorted = new Float64Array(capacity);
  }

  get length(): number {
    return this.count;
  }

  push(value: number): void {
    this.values[this.next] = value;
    this.next = (this.next + 1) % this.values.length;
    if (this.count < this.values.length) this.count++;
  }

  clear(): void {
    this.next = 0;
    this.count = 0;
  }

  /** Mean, median and 99th percentile (nearest rank), or undefined where nothing was measured. */
  summary(): Summary | undefined {
    if (this.count === 0) return undefined;
    const sorted = this.sorted.subarray(0, this.count);
    sorted.set(this.values.subarray(0, this.count));
    sorted.sort();
    let sum = 0;
    for (const value of sorted) sum += value;
    return { mean: sum / this.count, p50: rank(sorted, 0.5), p99: rank(sorted, 0.99) };
  }

  /** The last `n` measurements, oldest first. */
  last(n: number): number[] {
    const taken = Math.min(n, this.count);
    const size = this.values.length;
    return Array.from(
      { length: taken },
      (_, i) => this.values[(this.next - taken + i + size) % size] as number,
    );
  }
}

/** What `Samples.summary` says. */
export interface Summary {
  mean: number;
  p50: number;
  p99: number;
}

function rank(sorted: Float64Array, q: number): number {
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] as number;
}
