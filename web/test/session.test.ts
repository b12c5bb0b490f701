import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Delivery, Refused, type Sink, type Subscription } from "../src/delivery/delivery";
import { type Listener, retryMs, Session, type State } from "../src/delivery/session";
import { FORMATS } from "../src/formats/list";

const [json] = FORMATS;

type Script = (subscription: Subscription, sink: Sink, signal: AbortSignal) => Promise<void>;

/** A scheme that plays one script an attempt and remembers what it was asked for. */
function scripted(...scripts: Script[]): Delivery & { asked: Subscription[] } {
  const asked: Subscription[] = [];
  const run: Script = async (subscription, sink, signal) => {
    asked.push(subscription);
    await (scripts.shift() ?? forever)(subscription, sink, signal);
  };
  return { id: "scripted", label: "", hint: "", run, asked };
}

const forever: Script = (_, __, signal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

class Heard implements Listener {
  readonly states: string[] = [];
  readonly messages: unknown[] = [];
  readonly gaps: unknown[] = [];
  state(state: State): void {
    this.states.push(state.kind);
  }
  message(payload: unknown): void {
    this.messages.push(payload);
  }
  gap(gap: unknown): void {
    this.gaps.push(gap);
  }
  sent(): void {}
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const base = new URL("http://h/");

test("an attempt that ends is followed by one that resumes after the last cursor", async () => {
  const heard = new Heard();
  const delivery = scripted(async (_, sink) => {
    sink.opened();
    sink.message("m", 0);
    sink.control({ cursor: "7" });
  });
  new Session(base, heard).follow({ delivery, format: json, filters: ["#"] });
  await vi.runAllTimersAsync();
  expect(delivery.asked.map(({ since }) => since)).toEqual([undefined, "7"]);
  expect(heard.states).toEqual(["connecting", "live", "waiting", "connecting"]);
  expect(heard.messages).toEqual(["m"]);
});

test("the unit of a plan is that of every attempt, and there is none without", async () => {
  const [converted, asMade] = [scripted(async () => {}), scripted()];
  const session = new Session(base, new Heard());
  session.follow({ delivery: converted, format: json, filters: ["#"], unit: "" });
  await vi.runAllTimersAsync();
  session.follow({ delivery: asMade, format: json, filters: ["#"] });
  await vi.runAllTimersAsync();
  expect(converted.asked.map(({ unit }) => unit)).toEqual(["", ""]);
  expect(asMade.asked.map(({ unit }) => unit)).toEqual([undefined]);
});

test("another scheme begins at the cursor of the last, and the last is heard no more", async () => {
  const heard = new Heard();
  let late: Sink | undefined;
  const first = scripted(async (_, sink, signal) => {
    sink.control({ cursor: "3", gap: { reason: "retention" } });
    late = sink;
    await forever(_, sink, signal);
  });
  const second = scripted();
  const session = new Session(base, heard);
  session.follow({ delivery: first, format: json, filters: ["#"] });
  await vi.runAllTimersAsync();
  session.follow({ delivery: second, format: json, filters: ["a"] });
  late?.message("too late", 0);
  await vi.runAllTimersAsync();
  expect(second.asked[0]?.since).toBe("3");
  expect(heard.messages).toEqual([]);
  expect(heard.gaps).toEqual([{ reason: "retention" }]);
});

test("401 asks for a token and does not try again", async () => {
  const heard = new Heard();
  const delivery = scripted(() => Promise.reject(new Refused(401, "")));
  new Session(base, heard).follow({ delivery, format: json, filters: ["#"] });
  await vi.runAllTimersAsync();
  expect(heard.states).toEqual(["connecting", "locked"]);
  expect(delivery.asked.length).toBe(1);
});

test("a request refused as such is not repeated, an overload is after the time it asks for", async () => {
  const heard = new Heard();
  const delivery = scripted(
    () => Promise.reject(new Refused(429, "", 60_000)),
    () => Promise.reject(new Refused(400, "no such filter")),
  );
  new Session(base, heard).follow({ delivery, format: json, filters: ["#"] });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(heard.states).toEqual(["connecting", "waiting"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(heard.states.slice(2)).toEqual(["connecting", "refused"]);
});

test("pauses double, keep a random part and stay under the limit", () => {
  expect([retryMs(1, 0), retryMs(1, 1)]).toEqual([250, 500]);
  expect([retryMs(3, 0), retryMs(3, 1)]).toEqual([1000, 2000]);
  expect(retryMs(30, 1)).toBe(15_000);
});
