/**
 * `EventSource` (HTML Living Standard section 9.2) over `fetch`, as much of it as the delivery scheme uses: one
 * connection, no reconnection of its own.
 */

type Told = (event: MessageEvent<string>) => void;

/** Characters of one event; more ends the connection. */
const EVENT_CHARACTERS_MAX = 32 * 1024 * 1024;

export class FetchEventSource {
  onopen: (() => void) | null = null;
  onmessage: Told | null = null;
  onerror: (() => void) | null = null;
  private readonly listeners = new Map<string, Told>();
  private readonly closing = new AbortController();
  private id = "";
  private kind = "";
  private data: string[] = [];

  constructor(url: string | URL) {
    // A task later the handlers are set.
    void Promise.resolve()
      .then(() => this.follow(url))
      .catch(() => {})
      .finally(() => this.closing.signal.aborted || this.onerror?.());
  }

  addEventListener(kind: string, told: Told): void {
    this.listeners.set(kind, told);
  }

  close(): void {
    this.closing.abort();
  }

  private async follow(url: string | URL): Promise<void> {
    const headers = { Accept: "text/event-stream" };
    const answer = await fetch(url, { headers, signal: this.closing.signal });
    if (!answer.ok || answer.body === null) return;
    this.onopen?.();
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (rest.length > EVENT_CHARACTERS_MAX) return;
    }
  }

  private line(line: string): void {
    if (line === "") return this.dispatch();
    const [name = ""] = line.split(":", 1);
    const value = line.slice(name.length + 1).replace(/^ /, "");
    if (name === "id") this.id = value;
    if (name === "event") this.kind = value;
    if (name === "data") this.data.push(value);
  }

  private dispatch(): void {
    const [kind, lines] = [this.kind, this.data];
    this.kind = "";
    this.data = [];
    if (lines.length === 0 || this.closing.signal.aborted) return;
    const event = new MessageEvent("message", { data: lines.join("\n"), lastEventId: this.id });
    if (kind === "" || kind === "message") this.onmessage?.(event);
    else this.listeners.get(kind)?.(event);
  }
}
