/** The gateway's answers that are not a live stream: catalog, formats, history. */

import { numeric, type Observation, readObservation, timeOf } from "../data/observation";
import { type Datastream, type Entry, isOfUnit, type Problem } from "../data/store";
import { topicPath } from "../data/topic";
import { accepted } from "../delivery/delivery";
import { linksOf } from "../delivery/xmpp";
import { CURVE_POINTS, HISTORY_PAGE, HISTORY_PAGES_MAX } from "../limits";

/** A stretch of one datastream's past, in its unit: times in milliseconds, rising. */
export interface Past {
  times: number[];
  values: number[];
  lats: number[];
  lons: number[];
  /** How many observations could not be converted to that. */
  others: number;
}

export class Gateway {
  token: string | undefined;

  constructor(readonly base: URL) {}

  /** What datastreams there are; throws `Refused` with 401 where a token is wanted. */
  async catalog(): Promise<Entry[]> {
    const body = await this.json("catalog");
    const rows = (body as { datastreams?: unknown[] }).datastreams ?? [];
    return rows.flatMap((row) => readEntry(row));
  }

  /** By what else it is reached: URLs by their relations. */
  links(): Promise<Map<string, string>> {
    return linksOf(this.base).catch(() => new Map());
  }

  /** Names of the formats the gateway offers; undefined where it does not say. */
  async formats(): Promise<string[] | undefined> {
    try {
      const body = await this.json("formats");
      const rows = Array.isArray(body) ? body : (body as { formats?: unknown }).formats;
      if (!Array.isArray(rows)) return undefined;
      return rows.map((row) => String((row as { name?: unknown }).name));
    } catch {
      return undefined;
    }
  }

  /**
   * A datastream's past between two times in milliseconds. A range with more seconds than a curve has points
   * is asked for as one value in so many seconds.
   */
  async history(
    { topic, unit }: Pick<Datastream, "topic" | "unit">,
    from: number,
    to: number,
    signal?: AbortSignal,
  ): Promise<Past> {
    const past: Past = { times: [], values: [], lats: [], lons: [], others: 0 };
    const every = Math.floor((to - from) / 1000 / CURVE_POINTS);
    // A curve is of one unit: that which the datastream has now.
    const query = [`from=${rfc3339(from)}`, `to=${rfc3339(to)}`, `limit=${HISTORY_PAGE}`, "unit="];
    if (every >= 2) query.push(`every=${every}s`);
    let page: string | undefined;
    for (let i = 0; i < HISTORY_PAGES_MAX; i++) {
      const paged = page === undefined ? query : [...query, `page=${encodeURIComponent(page)}`];
      const body = await this.json(`history/${topicPath(topic)}?${paged.join("&")}`, signal);
      const { observations, next } = body as { observations?: unknown[]; next?: string };
      for (const row of observations ?? [])
        append(past, readObservation(row as Record<string, unknown>, topic), unit);
      if (next === undefined || next === null || next === "") break;
      page = next;
    }
    return past;
  }

  private async json(path: string, signal?: AbortSignal): Promise<unknown> {
    const headers: Record<string, string> = { Accept: "application/json" };
    if (this.token !== undefined) headers["Authorization"] = `Bearer ${this.token}`;
    const request: RequestInit = signal === undefined ? { headers } : { headers, signal };
    return (await accepted(await fetch(new URL(path, this.base), request))).json();
  }
}

function append(past: Past, observation: Observation, unit: string | undefined): void {
  const value = numeric(observation.value);
  if (value === undefined || observation.time === undefined) return;
  if (!isOfUnit(observation, unit)) {
    past.others++;
    return;
  }
  past.times.push(observation.time);
  past.values.push(value);
  if (observation.lat !== undefined && observation.lon !== undefined) {
    past.lats.push(observation.lat);
    past.lons.push(observation.lon);
  }
}

function readEntry(row: unknown): Entry[] {
  const record = row as Record<string, unknown>;
  if (typeof record["topic"] !== "string") return [];
  const { topic, value, ...described } = readObservation(record, record["topic"]);
  const entry: Entry = { ...described, topic, value, online: record["status"] === "online" };
  const time = timeOf(record["time"]) ?? timeOf(record["lastSeen"]);
  if (time !== undefined) entry.time = time;
  const full = record["maximum"];
  if (typeof full === "number" && full > 0) entry.full = full;
  const problem = readProblem(record);
  if (problem !== undefined) entry.problem = problem;
  return [entry];
}

function readProblem({ problem, problemAt, problems }: Record<string, unknown>): Problem | undefined {
  if (typeof problem !== "string") return undefined;
  const at = timeOf(problemAt);
  const times = typeof problems === "number" ? problems : 1;
  return at === undefined ? { what: problem, times } : { what: problem, at, times };
}

function rfc3339(ms: number): string {
  return encodeURIComponent(new Date(ms).toISOString());
}
