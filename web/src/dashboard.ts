/**
 * The dashboard: wires the session, the store, the meter and the panels, and holds the page's settings.
 *
 * Messages go into the store as they come; panels read it once a frame (bars, curves) or a few times a second
 * (figures). Nothing is queued between the two, so a burst or a hidden tab costs no backlog.
 */

import type { Observation } from "./data/observation";
import { Store } from "./data/store";
import { Refused } from "./delivery/delivery";
import { DELIVERIES } from "./delivery/list";
import { type Plan, Session, type State } from "./delivery/session";
import { sse } from "./delivery/sse";
import type { Payload } from "./formats/format";
import { FORMATS, offered } from "./formats/list";
import { CATALOG_MS, FIGURES_MS } from "./limits";
import { Frames } from "./measure/frame";
import { Meter } from "./measure/meter";
import { Gateway } from "./net/gateway";
import { Access } from "./panels/access";
import { Bars } from "./panels/bars";
import { type Choice, Connection } from "./panels/connection";
import { Curves } from "./panels/curves";
import { DatastreamList } from "./panels/datastreams";
import { Latency } from "./panels/latency";
import { Network } from "./panels/network";
import { Notice } from "./panels/notice";
import { initialSelection, RANGES, readSettings, writeSettings } from "./settings";
import { byId, segments } from "./ui/dom";
import { startKeys } from "./ui/keys";
import { onTheme, startTheme, toggleTheme } from "./ui/palette";

/** How far back a track reaches, in milliseconds. */
const TRACK_MS = 3_600_000;

/** After this long a connection has handed over what it starts with, whatever the sensors' clocks say. */
const CATCH_UP_MS = 5_000;

export class Dashboard {
  private readonly base = new URL("./", document.baseURI);
  private readonly settings = readSettings(location.search);
  private readonly store = new Store();
  private readonly meter = new Meter();
  private readonly gateway = new Gateway(this.base);
  private readonly choice: Choice = {
    delivery: DELIVERIES.find(({ id }) => id === this.settings.delivery) ?? sse,
    format: FORMATS.find(({ name }) => name === this.settings.format) ?? FORMATS[0],
  };
  private readonly frames = new Frames(
    (now) => this.draw(now),
    (ready, began, presented) => this.meter.presented(ready, began, presented),
  );
  private readonly curves = new Curves(
    this.store,
    this.gateway,
    (topic) => this.toggle(topic),
    () => this.frames.request(),
    (what) => this.notice.show(what),
  );
  private readonly bars = new Bars(this.store);
  private readonly list = new DatastreamList(
    this.store,
    (topic) => this.toggle(topic),
    () => this.clear(),
  );
  private readonly network = new Network(this.store, (thing) => this.pickThing(thing));
  private readonly latency = new Latency(this.meter);
  private readonly connection = new Connection(this.choice, FORMATS, () => this.switched());
  private readonly notice = new Notice();
  private readonly access = new Access((token) => this.authorize(token));
  private readonly session = new Session(this.base, {
    state: (state) => this.state(state),
    message: (payload, arrival, plan) => this.message(payload, arrival, plan),
    gap: (gap) => {
      this.store.missed(gap);
      this.frames.request();
    },
    sent: (us) => this.meter.sent(us),
  });
  private chosen = false;
  private started = false;
  private readonly retraced = new Set<string>();
  private following = "";
  private figured = 0;
  private fault = "";
  /** When the connection was answered, on the clock of `performance.now`. */
  private opened = 0;

  /** Reads the catalog, then follows; never returns to a blank page whatever the gateway answers. */
  async start(): Promise<void> {
    startTheme();
    onTheme(() => this.recolor());
    this.controls();
    this.useToken(this.access.remembered());
    setInterval(() => this.second(), 1000);
    setInterval(() => void this.readCatalog(), CATALOG_MS);
    document.addEventListener("visibilitychange", () => this.frames.request());
    await Promise.all([this.readCatalog(), this.readFormats()]);
    this.started = true;
    this.follow();
  }

  private controls(): void {
    byId("theme").addEventListener("click", toggleTheme);
    byId("help").addEventListener("click", () => this.help());
    const { range, follow } = this.settings;
    segments(
      byId("ranges"),
      RANGES.map(({ label }) => label),
      range,
      (label) => this.setRange(label),
    );
    segments(byId("follow"), ["all", "selected"], follow, (what) => this.setFollow(what));
    this.setRange(range);
    startKeys([
      { key: "/", words: "search datastreams", run: () => this.list.focusSearch() },
      ...DELIVERIES.map((delivery, i) => ({
        key: String(i + 1),
        words: delivery.label,
        run: () => this.connection.pickDelivery(delivery.id),
      })),
      { key: "f", words: "next format", run: () => this.connection.nextFormat() },
      { key: "p", words: "hold or release the curves", run: () => this.curves.pause() },
      { key: "r", words: "back to live after a zoom", run: () => this.curves.reset() },
      { key: "c", words: "clear the selection", run: () => this.clear() },
      { key: "t", words: "light or dark", run: toggleTheme },
      { key: "?", words: "this help", run: () => this.help() },
    ]);
  }

  private setRange(label: string): void {
    this.settings.range = label;
    this.curves.setRange(RANGES.find((range) => range.label === label)?.ms ?? RANGES[0].ms);
    writeSettings(this.settings);
  }

  private setFollow(follow: string): void {
    this.settings.follow = follow === "selected" ? "selected" : "all";
    writeSettings(this.settings);
    this.follow();
  }

  private async readCatalog(): Promise<void> {
    if (document.hidden && this.chosen) return;
    try {
      this.store.describe(await this.gateway.catalog());
      this.selectFirst();
    } catch (error) {
      if (error instanceof Refused && error.status === 401) this.access.ask();
    }
    this.frames.request();
  }

  private async readFormats(): Promise<void> {
    const formats = offered(await this.gateway.formats());
    const [first] = formats;
    if (first === undefined) return;
    if (!formats.includes(this.choice.format)) this.choice.format = first;
    this.connection.offer(formats);
  }

  /** Selects what the address names, or what shows the network best, once there is something. */
  private selectFirst(): void {
    if (this.chosen || this.store.datastreams.size === 0) return;
    this.chosen = true;
    for (const topic of initialSelection(this.settings, [...this.store.datastreams.keys()]))
      this.toggle(topic);
  }

  private toggle(topic: string): void {
    this.chosen = true;
    if (this.store.datastreams.get(topic)?.slot !== undefined) this.store.deselect(topic);
    else this.add(topic);
    this.settings.select = this.store.selected.map((datastream) => datastream.topic);
    writeSettings(this.settings);
    this.figured = 0;
    this.follow();
    this.frames.request();
  }

  private add(topic: string): void {
    const datastream = this.store.select(topic);
    if (datastream !== undefined) void this.curves.prefill(datastream);
    else
      this.notice.show(`No more than ${this.store.selected.length} datastreams fit on the screen together.`);
  }

  private clear(): void {
    for (const { topic } of [...this.store.selected]) this.toggle(topic);
  }

  private pickThing(thing: string): void {
    const members = [...this.store.datastreams.values()].filter((datastream) => datastream.thing === thing);
    const all = members.every(({ slot }) => slot !== undefined);
    for (const { topic, slot } of members) if (all || slot === undefined) this.toggle(topic);
  }

  private help(): void {
    byId<HTMLDialogElement>("help-dialog").showModal();
  }

  private recolor(): void {
    this.curves.recolor();
    this.figured = 0;
    this.frames.request();
  }

  private switched(): void {
    this.settings.delivery = this.choice.delivery.id;
    this.settings.format = this.choice.format.name;
    writeSettings(this.settings);
    this.meter.restart();
    this.following = "";
    this.notice.hide();
    this.follow();
  }

  /** Follows what the settings say, unless that is what is followed already. */
  private follow(): void {
    if (!this.started) return;
    const { delivery, format } = this.choice;
    const filters = this.filters();
    const key = [delivery.id, format.name, ...filters].join(" ");
    if (key === this.following) return;
    this.following = key;
    if (!format.topics) this.notice.show(aloneText(format.name, this.store.selected[0]?.topic));
    this.session.follow({ delivery, format, filters });
  }

  /** A format without topics can only follow one datastream. */
  private filters(): readonly string[] {
    const selected = this.store.selected.map(({ topic }) => topic);
    if (selected.length === 0) return this.settings.filters;
    if (!this.choice.format.topics) return selected.slice(0, 1);
    return this.settings.follow === "selected" ? selected : this.settings.filters;
  }

  private authorize(token: string): void {
    this.useToken(token);
    this.following = "";
    void this.readCatalog();
    this.follow();
  }

  private useToken(token: string | undefined): void {
    this.session.token = token;
    this.gateway.token = token;
  }

  private state(state: State): void {
    this.connection.show(state);
    if (state.kind === "live") this.opened = performance.now();
    if (state.kind === "locked") this.access.ask();
    if (state.kind === "refused") this.notice.show(`The gateway refuses: ${state.why}`);
    if (state.kind === "live" && this.fault !== "") this.notice.hide();
  }

  private message(payload: Payload, arrival: number, plan: Plan): void {
    let observations: Observation[];
    try {
      observations = plan.format.decode(payload, plan.filters[0] ?? "");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.fault = why;
      return this.notice.show(`A message is not ${plan.format.name}: ${why}`);
    }
    const decoded = performance.now();
    const newest = this.store.take(observations, arrival);
    const processed = performance.now();
    this.meter.message({
      bytes: size(payload),
      arrival,
      decoded,
      processed,
      newest,
      live: this.isLive(arrival, newest),
    });
    this.selectFirst();
    this.frames.request(processed);
  }

  /** Whether a message happened since the connection was answered, and is not what was missed before. */
  private isLive(arrival: number, newest: number | undefined): boolean {
    if (arrival - this.opened > CATCH_UP_MS) return true;
    return newest !== undefined && newest >= performance.timeOrigin + this.opened;
  }

  private draw(now: number): void {
    this.bars.draw();
    if (this.curves.draw(now)) this.frames.request();
    if (now - this.figured < FIGURES_MS) return;
    this.figured = now;
    this.list.update();
    this.curves.update();
    this.network.update();
    this.connection.showGaps(this.store);
  }

  private second(): void {
    this.meter.tick(performance.now());
    this.connection.update();
    if (document.hidden) return;
    for (const thing of this.store.tracks.keys()) void this.retrace(thing);
    this.latency.update();
    this.bars.describe();
    this.frames.request();
  }

  /** Fetches once where a thing that moves has been before. */
  private async retrace(thing: string): Promise<void> {
    if (this.retraced.has(thing)) return;
    this.retraced.add(thing);
    const member = [...this.store.datastreams.values()].find((datastream) => datastream.thing === thing);
    if (member === undefined) return;
    const now = Date.now();
    const past = await this.gateway.history(member.topic, now - TRACK_MS, now).catch(() => undefined);
    if (past !== undefined) this.store.retrace(thing, past.lats, past.lons);
  }
}

function aloneText(format: string, topic: string | undefined): string {
  if (topic === undefined) return `${format} carries no topic: select a datastream to follow it.`;
  return `${format} carries no topic: following ${topic} alone.`;
}

const utf8 = new TextEncoder();

function size(payload: Payload): number {
  return typeof payload === "string" ? utf8.encode(payload).length : payload.length;
}
