/** The gateway's answer to a question, as `GET /advise` gives it. */

/** A figure and its 95 % confidence interval; no interval where one round is all there is. */
export interface Spread {
  value: number;
  low: number | null;
  high: number | null;
}

/** What ways are compared by: microseconds, bytes, microseconds a message, bytes. */
export interface Figures {
  latency: { mean: Spread; percentiles: number[] | null; n: number; lost: number };
  bytes: Spread | null;
  cpu: Spread | null;
  memory: Spread | null;
}

export interface Ruled {
  need: string;
  holds: boolean | null;
  sure: boolean;
  measured: string;
}

export interface Way {
  rank: number;
  tied: boolean;
  front: boolean;
  target: string;
  factors: Record<string, string>;
  figures: Figures;
  exact: boolean;
  doubts: string[];
  needs: Ruled[];
  cells: { source: number; cell: string; n: number }[];
}

export interface Section {
  experiment: string;
  test: string | null;
  time: string;
  compared_at: string[];
  doubts: string[];
  ranked: Way[];
  failing: Way[];
  unjudged: Way[];
  outside: number;
}

export interface Source {
  name: string;
  command: string;
  started: string;
  machine: string;
  origin: "own" | "reference";
}

export interface Answer {
  sources: Source[];
  sections: Section[];
  elsewhere: string[];
  refusal: { why: string; runs: { command: string; brings: string }[] } | null;
}

/** Levels that were measured, by factor. */
export type Levels = Record<string, string[]>;

/** What the gateway says is wrong with a question. */
export class Misunderstood extends Error {}

/** Asks the gateway; an answer that is a refusal is an answer too. */
export async function ask(query: URLSearchParams): Promise<Answer> {
  const response = await fetch(`advise?${query}`);
  if (response.status === 400) throw new Misunderstood((await response.text()).trim());
  if (!response.ok && response.status !== 404) throw new Error(`the gateway answered ${response.status}`);
  return (await response.json()) as Answer;
}

/** Asks for the levels that a form offers. */
export async function levels(): Promise<Levels> {
  const response = await fetch("advise/levels");
  if (!response.ok) throw new Error(`the gateway answered ${response.status}`);
  return (await response.json()) as Levels;
}

const CHIEF = ["protocol", "delivery", "format"];

/** What a way is called: its chief levels. */
export function nameOf(way: Way): string {
  const words = CHIEF.flatMap((factor) => way.factors[factor] ?? []);
  return words.length > 0 ? words.join(" · ") : way.target;
}

/** The rest of a way: other levels, and the system that was measured. */
export function detailOf(way: Way): string {
  const others = Object.entries(way.factors).filter(([f]) => !CHIEF.includes(f) && f !== "test");
  return [...others.map(([factor, level]) => `${factor} ${level}`), `on ${way.target}`].join(", ");
}
