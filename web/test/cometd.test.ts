import { afterEach, expect, test, vi } from "vitest";
import { cometd } from "../src/delivery/cometd";
import { FORMATS } from "../src/formats/list";

afterEach(() => void vi.unstubAllGlobals());

const [format] = FORMATS;
const subscription = { base: new URL("http://h/"), filters: ["h-01/#"], format };

test("a client shakes hands, subscribes, and is given messages with the answer to its connect", async () => {
  const ending = new AbortController();
  const asked: string[] = [];
  const message = { channel: "/h-01", data: '{"observations":[]}' };
  const answers: Record<string, unknown[][]> = {
    "/meta/handshake": [[{ channel: "/meta/handshake", successful: true, clientId: "c" }]],
    "/meta/subscribe": [[{ channel: "/meta/subscribe", successful: true }]],
    "/meta/connect": [
      [{ channel: "/meta/connect", successful: true }],
      [message, { channel: "/meta/connect", successful: true }],
    ],
  };
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    const [{ channel }] = JSON.parse(body) as [{ channel: string }];
    asked.push(channel);
    const answer = answers[channel]?.shift();
    if (answer === undefined) {
      ending.abort();
      throw new Error("aborted");
    }
    return new Response(JSON.stringify(answer));
  });
  const heard: unknown[] = [];
  const sink = { opened: () => heard.push("open"), message: (it: unknown) => heard.push(it), control: () => {} };
  const run = cometd("h:1", "long-polling").run(subscription, sink, ending.signal);
  await expect(run).rejects.toThrow("aborted");
  expect(asked.slice(0, 4)).toEqual([
    "/meta/handshake",
    "/meta/subscribe",
    "/meta/connect",
    "/meta/connect",
  ]);
  expect(heard).toEqual(["open", message.data]);
});

test("what CometD refuses is an error in its words", async () => {
  const refused = [{ channel: "/meta/handshake", successful: false, error: "403::denied" }];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(refused)));
  const sink = { opened: () => {}, message: () => {}, control: () => {} };
  const run = cometd("h:1", "long-polling").run(subscription, sink, new AbortController().signal);
  await expect(run).rejects.toThrow("/meta/handshake: 403::denied");
});
