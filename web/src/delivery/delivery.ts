/**
 * What a delivery scheme is to the dashboard: one attempt to follow a subscription until it ends.
 *
 * A scheme knows its framing and nothing else. Retries, the cursor that is handed to the next attempt, and
 * what a message means belong to `Session`, so that all schemes resume and fail alike.
 */

import { topicPath } from "../data/topic";
import type { Format, Payload } from "../formats/format";
import type { Pacer } from "./pace";

/** What to follow, and from where. */
export interface Subscription {
  /** Address the gateway's paths are relative to. */
  base: URL;
  filters: readonly string[];
  format: Format;
  /** Cursor to continue after; without one the latest values come first. */
  since?: string;
  /** In which unit numbers are wanted, empty for that which each datastream has now; HTTP alone converts. */
  unit?: string;
  /** Access token, where the gateway wants one. */
  token?: string;
  /** Who the page is at a server of others, where the scheme goes through one. */
  account?: Account;
  /** Time between two polls in milliseconds, where it is not the dashboard's. */
  pollMs?: number;
  /** Says what a message costs the page, where the gateway is to send no more than it can draw. */
  pacer?: Pacer;
}

/** Who somebody is at a server that is not the gateway: `ann@example.org`, or a domain alone that takes strangers. */
export interface Account {
  address: string;
  password: string;
}

/** Where a missed stretch lies and why; `count` of messages where the gateway knows it. */
export interface Gap {
  reason: string;
  count?: number;
}

/** What travels beside the messages; `sent` is the gateway's stamp in microseconds since the epoch. */
export interface Control {
  cursor?: string;
  gap?: Gap;
  sent?: number;
}

/** Where a scheme hands on what arrives, in order; a message's cursor follows the message. */
export interface Sink {
  /** The gateway has answered. */
  opened(): void;
  /** A message is here; `arrival` on the clock of `performance.now`. */
  message(payload: Payload, arrival: number): void;
  control(control: Control): void;
}

/** A delivery scheme. */
export interface Delivery {
  /** Short name, as in `?delivery=`. */
  id: string;
  label: string;
  /** One line for the menu's title. */
  hint: string;
  /** Relation of the link that a gateway has where it can be followed so; of most schemes it always can. */
  needs?: string;
  /** Follows until the connection ends (resolves), fails (rejects) or `signal` aborts (either). */
  run(subscription: Subscription, sink: Sink, signal: AbortSignal): Promise<void>;
}

/** Who wants to know who somebody is: the gateway, or a server in between. */
export type Realm = "gateway" | "xmpp";

/** The gateway answered with a status that is no success; or a server in between with what comes to such a one. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    detail: string,
    /** Milliseconds the gateway asked to wait (`Retry-After`). */
    readonly retryAfter?: number,
    readonly realm: Realm = "gateway",
  ) {
    super(detail === "" ? `the gateway answered ${status}` : realm === "gateway" ? `${status}: ${detail}` : detail);
  }
}

/** The address of a live resource; the first filter is the path, further ones are `topic` parameters. */
export function liveUrl(subscription: Subscription, query: Record<string, string | true>): URL {
  const [first = "#", ...further] = subscription.filters;
  const url = new URL(`live/${topicPath(first)}`, subscription.base);
  const parts = further.map((filter) => `topic=${encodeURIComponent(filter)}`);
  if (subscription.unit !== undefined) parts.push(`unit=${encodeURIComponent(subscription.unit)}`);
  for (const [name, value] of Object.entries(query)) {
    parts.push(value === true ? name : `${name}=${encodeURIComponent(value)}`);
  }
  url.search = parts.join("&");
  return url;
}

/** `since` or `snapshot`: continue where the last attempt ended, or begin with the latest values. */
export function position(subscription: Subscription): Record<string, string | true> {
  return subscription.since === undefined ? { snapshot: true } : { since: subscription.since };
}

/** The pace that a new connection begins with. */
export function paceOf(subscription: Subscription): Record<string, string> {
  const cost = subscription.pacer?.told();
  return cost === undefined ? {} : { pace: cost };
}

/** Headers of a request: the format wanted and the token. */
export function headersOf(subscription: Subscription): Record<string, string> {
  const headers: Record<string, string> = { Accept: subscription.format.media };
  if (subscription.token !== undefined) headers["Authorization"] = `Bearer ${subscription.token}`;
  return headers;
}

/** Throws `Refused` with the gateway's own words unless the answer is a success (or 304). */
export async function accepted(response: Response): Promise<Response> {
  if (response.ok || response.status === 304) return response;
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  const detail = (await response.text()).trim().slice(0, 200);
  throw new Refused(response.status, detail, Number.isNaN(seconds) ? undefined : seconds * 1000);
}

/** Asks for the latest values, once. */
export async function latest(subscription: Subscription, signal: AbortSignal): Promise<Response> {
  const headers = headersOf(subscription);
  return accepted(await fetch(liveUrl(subscription, {}), { headers, signal, cache: "no-store" }));
}

/** A connection that never opened hides its status, so the same resource is polled for the gateway's own words. */
export async function refusal(
  subscription: Subscription,
  signal: AbortSignal,
  otherwise: string,
): Promise<never> {
  await latest(subscription, signal);
  throw new Error(otherwise);
}

/** The body of a polled answer as the format's payload. */
export async function payloadOf(response: Response, format: Format): Promise<Payload> {
  return format.binary ? new Uint8Array(await response.arrayBuffer()) : await response.text();
}

/** The cursor and the gap in the headers of a polled answer. */
export function controlOfHeaders(headers: Headers): Control {
  const control: Control = {};
  const cursor = headers.get("Weir-Cursor");
  if (cursor !== null) control.cursor = cursor;
  const gap = headers.get("Weir-Gap");
  if (gap !== null) control.gap = readGap(gap);
  const sent = Number(headers.get("Weir-Sent") ?? Number.NaN);
  if (!Number.isNaN(sent)) control.sent = sent;
  return control;
}

/** Reads a gap from an object, JSON text, or `reason:3`. */
export function readGap(source: unknown): Gap {
  if (typeof source === "string")
    return source.startsWith("{") ? readGap(tryParse(source)) : gapOfText(source);
  if (typeof source !== "object" || source === null) return { reason: "unknown" };
  const members = source as Record<string, unknown>;
  const gap: Gap = { reason: typeof members["reason"] === "string" ? members["reason"] : "unknown" };
  const count = members["count"] ?? members["missed"];
  if (typeof count === "number") gap.count = count;
  return gap;
}

/** Reads `{"weir":{...}}`; undefined where the text is a message and no control. */
export function readControl(line: string): Control | undefined {
  if (!/^\{\s*"weir"\s*:/.test(line)) return undefined;
  const members = (tryParse(line) as { weir?: unknown } | undefined)?.weir;
  return members === undefined ? undefined : readMembers(members);
}

/** Reads the members of a control object. */
export function readMembers(source: unknown): Control {
  const members = (typeof source === "object" && source !== null ? source : {}) as Record<string, unknown>;
  const control: Control = {};
  if (typeof members["cursor"] === "string") control.cursor = members["cursor"];
  if (members["gap"] !== undefined && members["gap"] !== null) control.gap = readGap(members["gap"]);
  if (typeof members["sent"] === "number") control.sent = members["sent"];
  return control;
}

function gapOfText(source: string): Gap {
  const [reason = "", count] = source.split(":");
  return count === undefined ? { reason } : { reason, count: Number(count) };
}

function tryParse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}
