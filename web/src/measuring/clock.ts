/**
 * The gateway's clock as seen from the page: asked often over one WebSocket, each answer stamped on both sides.
 *
 * Of each direction the least counts (min filter): what a link adds beyond it are queues. What stays unknown is
 * half the difference of both ways' least delays, at most half the least round trip, which is the bound. A mean
 * over all answers would be off by the queues; so no mean.
 */

/** Stamps around one question, milliseconds: sent and answered on this clock, between them on the gateway's. */
export interface Probe {
  sent: number;
  here: number;
  answered: number;
}

export interface Offset {
  /** What the gateway's clock shows when `performance.now` shows 0, milliseconds since the epoch. */
  offset: number;
  /** How far that may be off. */
  bound: number;
}

/** How long an answer may take, in milliseconds. */
const ANSWER_MS_MAX = 10_000;

/** Asks so many times, one after another. */
export function probe(base: URL, count: number): Promise<Probe[]> {
  const url = new URL("live/bench/clock?publish", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(url);
  const probes: Probe[] = [];
  return new Promise((resolve, reject) => {
    const ask = () => socket.send(`{"weir":{"clock":${performance.now()}}}`);
    const end = () => {
      clearTimeout(timer);
      socket.onclose = null;
      socket.close();
    };
    const timer = setTimeout(() => socket.close(), ANSWER_MS_MAX + count * 1000);
    socket.onopen = ask;
    socket.onclose = () => reject(new Error("the gateway does not tell its time"));
    socket.onmessage = ({ data }) => {
      const answered = performance.now();
      const { weir } = JSON.parse(data as string) as { weir: { clock: number; here: number } };
      probes.push({ sent: weir.clock, here: weir.here / 1000, answered });
      if (probes.length < count) return ask();
      end();
      resolve(probes);
    };
  });
}

/** The offset that the probes allow, and its bound. */
export function offsetOf(probes: readonly Probe[]): Offset {
  const up = Math.min(...probes.map(({ sent, here }) => here - sent));
  const down = Math.min(...probes.map(({ here, answered }) => answered - here));
  return { offset: (up - down) / 2, bound: (up + down) / 2 };
}

/** The least step of this page's clock, in milliseconds, as seen within some milliseconds. */
export function resolution(now = () => performance.now(), spanMs = 20): number {
  const end = now() + spanMs;
  let least = Number.POSITIVE_INFINITY;
  for (let before = now(); before < end; ) {
    const next = now();
    if (next > before) least = Math.min(least, next - before);
    before = next;
  }
  // Steps are whole microseconds; the rest is the double's.
  return Math.round(least * 1000) / 1000;
}
