/** A gateway at an address: subscriptions, publications, the past. */

import { readObservation } from "../../../web/src/data/observation";
import { topicPath } from "../../../web/src/data/topic";
import { accepted, Refused } from "../../../web/src/delivery/delivery";
import { DELIVERIES } from "../../../web/src/delivery/list";
import { retryMs, type State } from "../../../web/src/delivery/session";
import { sleep } from "../../../web/src/delivery/sleep";
import { addExtras, MEMBERS, type Observation, type Value } from "../../../web/src/formats/codec";
import { byCodec } from "../../../web/src/formats/by-codec";
import { randomName } from "../../../web/src/net/random";
import { loadCodec } from "./codec";
import { ATTEMPTS_MAX, HISTORY_PAGE } from "./limits";
import { Subscription } from "./subscription";

export interface Access {
  /** A token, where the gateway wants one. */
  token?: string;
  /** Where `codec.wasm` lies, if not beside the module. */
  codec?: string | URL;
}

/** How to follow; `delivery` is `polling`, `longpoll`, `stream`, `sse`, `websocket`, `mqtt` or `amqp`. */
export interface Asked {
  delivery?: string;
  /** Any format of `GET /formats`. */
  format?: string;
  /** Behind this cursor; without one the last values come first. */
  since?: string;
  /** Hears how the connection stands. */
  onState?: (state: State) => void;
}

/** Members of an observation beside its result; `time` as text, a `Date` or milliseconds since the epoch. */
export interface Members {
  time?: string | number | Date;
  type?: string;
  unit?: string;
  sensor?: string;
  lat?: number;
  lon?: number;
}

/** A datastream of the catalog with its last observation. */
export interface Datastream extends Observation {
  /** What is known of it beside an observation's members, as `GET /catalog` has it: `status`, `name`, `problem` ... */
  more: Record<string, unknown>;
}

/** A stretch of the past: times, or spans before now (`-1h`). */
export interface Range {
  from?: string | Date;
  to?: string | Date;
  every?: string;
  agg?: string;
  /** A code of UCUM, or "" for the unit that each datastream has now. */
  unit?: string;
  /** Observations of a page. */
  limit?: number;
}

export class Gateway {
  private readonly base: URL;

  constructor(
    url: string | URL,
    private readonly access: Access = {},
  ) {
    this.base = new URL(url);
    if (!this.base.pathname.endsWith("/")) this.base.pathname += "/";
  }

  /** Follows filters until the loop over it ends; a connection that breaks is made anew behind the last event. */
  async subscribe(filters: string | readonly string[], asked: Asked = {}): Promise<Subscription> {
    const { delivery: id = "sse", format: name = "json", since, onState } = asked;
    const codec = await loadCodec(this.access.codec);
    const delivery = DELIVERIES.find((one) => one.id === id);
    if (delivery === undefined) throw unknown("delivery scheme", id, DELIVERIES.map((one) => one.id));
    const row = codec.formats.find((one) => one.name === name);
    if (row === undefined) throw unknown("format", name, codec.formats.map((one) => one.name));
    const plan = { delivery, format: byCodec(codec, row), filters: [filters].flat() };
    return new Subscription(this.base, plan, codec, { since, onState, token: this.access.token });
  }

  /** Publishes an observation; resolves with its cursor once it is on disk. A repeat under one `key` is kept once. */
  async publish(topic: string, value: Value, { time, ...members }: Members = {}, key?: string): Promise<string> {
    const timed = time === undefined ? {} : { time: new Date(time).toISOString() };
    const body = JSON.stringify({ value, ...timed, ...members }, finite);
    return this.publishMessage(topic, body, "application/json", key);
  }

  /** Publishes a message in any format. */
  async publishMessage(
    topic: string,
    body: string | Uint8Array<ArrayBuffer>,
    media: string,
    key: string = randomName(),
  ): Promise<string> {
    const headers = { ...this.headers(), "Content-Type": media, "Idempotency-Key": key };
    const url = new URL(`live/${topicPath(topic)}`, this.base);
    for (let failures = 1; ; failures++) {
      try {
        const answer = await accepted(await fetch(url, { method: "POST", headers, body }));
        return answer.headers.get("Weir-Cursor") ?? "";
      } catch (error) {
        if (failures === ATTEMPTS_MAX || !mayPass(error)) throw error;
        const asked = error instanceof Refused ? error.retryAfter : undefined;
        await sleep(asked ?? retryMs(failures, Math.random()), new AbortController().signal);
      }
    }
  }

  /** The last observation of each datastream; none where nothing was published yet. */
  async latest(filter: string): Promise<Observation[]> {
    try {
      return observations(await this.json(`live/${topicPath(filter)}`), "observations");
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return [];
      throw error;
    }
  }

  /** The datastreams there are, with their last values. */
  async catalog(filter = "#"): Promise<Datastream[]> {
    const found = await this.json(`catalog/${topicPath(filter)}`);
    // A filter that is a topic is answered with its entry alone.
    const rows = "datastreams" in found ? rowsOf(found, "datastreams") : [found];
    return rows.map((row) => ({ ...observation(row), more: others(row) }));
  }

  /** What is kept, by time and then topic, a page asked for when it is needed. */
  async *history(filter: string, range: Range = {}): AsyncGenerator<Observation> {
    const { limit = HISTORY_PAGE, ...asked } = range;
    const query = new URLSearchParams({ limit: String(limit) });
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : value);
    }
    for (;;) {
      const page = await this.json(`history/${topicPath(filter)}?${query}`);
      yield* observations(page, "observations");
      const next = page["next"];
      if (typeof next !== "string" || next === "") return;
      query.set("page", next);
    }
  }

  private async json(path: string): Promise<Record<string, unknown>> {
    const headers = { ...this.headers(), Accept: "application/json" };
    return (await accepted(await fetch(new URL(path, this.base), { headers }))).json();
  }

  private headers(): Record<string, string> {
    const { token } = this.access;
    return token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }
}

/** JSON would have null for a number that is none or infinite, and nothing for what is undefined. */
function finite(name: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${name} is ${value}, which is no number of JSON`);
  if (name === "value" && value === undefined) throw new RangeError("value is undefined");
  return value;
}

/** Whether another attempt may bring an answer; a TypeError is how `fetch` says that nobody answered. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof Refused)) return error instanceof TypeError;
  return error.status === 429 || error.status >= 500;
}

function observations(body: Record<string, unknown>, member: string): Observation[] {
  return rowsOf(body, member).map(observation);
}

function rowsOf(body: Record<string, unknown>, member: string): Record<string, unknown>[] {
  return (body[member] ?? []) as Record<string, unknown>[];
}

function observation(row: Record<string, unknown>): Observation {
  return addExtras(readObservation(row, String(row["topic"] ?? "")), row);
}

/** Members that no observation has. */
function others(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !Object.hasOwn(MEMBERS, name)));
}

function unknown(what: string, name: string, names: readonly string[]): RangeError {
  return new RangeError(`no ${what} ${name}; there are ${names.join(", ")}`);
}
