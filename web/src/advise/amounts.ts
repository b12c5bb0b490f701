/** Numbers with units as a person reads them: three digits that matter. */

function digits(value: number): string {
  const size = Math.abs(value);
  const decimals = size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return value.toFixed(decimals);
}

/** A time from microseconds. */
export function time(us: number): string {
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1e3) return `${digits(us / 1e3)} ms`;
  if (us >= 1 || us === 0) return `${digits(us)} µs`;
  return `${digits(us * 1e3)} ns`;
}

/** A size from bytes. */
export function size(bytes: number): string {
  if (bytes >= 1e6) return `${digits(bytes / 1e6)} MB`;
  if (bytes >= 1e4) return `${digits(bytes / 1e3)} kB`;
  return `${digits(bytes)} B`;
}

/** Powers of ten, and of many decades every second, from the one below to the one above. */
export function decades(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = last - first > 6 ? 2 : 1;
  const ticks: number[] = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks;
}
