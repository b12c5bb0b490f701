/**
 * The dashboard: wires the live stream, the store, the meter and the panels.
 *
 * Messages go into the store as they come; panels read it once a frame (bars, curves) or a few times a second
 * (figures). Nothing is queued between the two, so a burst or a hidden tab costs no backlog.
 */

import { Store } from "./data/store";
import { type Account, type Realm, Refused } from "./delivery/delivery";
import { DELIVERIES } from "./delivery/list";
import type { State } from "./delivery/session";
import { sse } from "./delivery/sse";
import { FORMATS, offered } from "./formats/list";
import { loadFormats } from "./formats/load";
import { CATALOG_MS, FIGURES_MS, SELECTED_MAX } from "./limits";
import { Live } from "./live";
import { Frames } from "./measure/frame";
import { Meter } from "./measure/meter";
import { Gateway } from "./net/gateway";
import { Access } from "./panels/access";
import { AccountBox } from "./panels/account";
import { Bars } from "./panels/bars";
import { type Choice, Connection } from "./panels/connection";
import { Curves } from "./panels/curves";
import { DatastreamList } from "./panels/datastreams";
import { Latency } from "./panels/latency";
import { Network } from "./panels/network";
import { Notice } from "./panels/notice";
import { Selection } from "./selection";
import { RANGES, readSettings, writeSettings } from "./settings";
import { byId, segments } from "./ui/dom";
import { startKeys } from "./ui/keys";
import { onTheme, startTheme, toggleTheme } from "./ui/palette";

/** How far back a track reaches, in milliseconds. */
const TRACK_MS = 3_600_000;

export class Dashboard {
  private readonly base = new URL("./", document.baseURI);
  private readonly settings = readSettings(location.search);
  private readonly store = new Store();
  private readonly meter = new Meter();
  private readonly notice = new Notice();
  private readonly gateway = new Gateway(this.base);
  private readonly choice: Choice = {
    delivery: DELIVERIES.find(({ id }) => id === this.settings.delivery) ?? sse,
    format: FORMATS.find(({ name }) => name === this.settings.format) ?? FORMATS[0],
  };
  private readonly frames = new Frames(
    (now) => this.draw(now),
    (ready, began, presented) => this.presented(ready, began, presented),
  );
  private readonly curves = new Curves(
    this.store,
    this.gateway,
    (topic) => this.selection.toggle(topic),
    () => this.frames.request(),
    (what) => this.notice.show(what),
  );
  private readonly selection = new Selection(this.store, this.settings, {
    added: (datastream) => void this.curves.prefill(datastream),
    full: () => this.notice.show(`No more than ${SELECTED_MAX} datastreams fit on the screen together.`),
    changed: () => this.selected(),
  });
  private readonly bars = new Bars(this.store);
  private readonly list = new DatastreamList(this.store, this.selection);
  private readonly network = new Network(this.store, (thing) => this.selection.toggleThing(thing));
  private readonly latency = new Latency(this.meter);
  private readonly connection = new Connection(this.choice, FORMATS, () => this.switched());
  private readonly access = new Access((token) => this.authorize(token));
  private readonly account = new AccountBox((account) => this.logIn(account));
  private readonly live = new Live(this.base, this.store, this.meter, {
    state: (state) => this.state(state),
    changed: (processed) => this.frames.request(processed),
    unreadable: (why) => this.notice.show(why),
  });
  private started = false;
  private readonly retraced = new Set<string>();
  /** When figures were last brought up to date, on the clock of `performance.now`. */
  private figured = 0;

  /** Reads the catalog, then follows; never returns to a blank page whatever the gateway answers. */
  async start(): Promise<void> {
    startTheme();
    onTheme(() => this.recolor());
    this.controls();
    this.keys();
    this.useToken(this.access.remembered());
    this.live.logIn(this.account.remembered());
    setInterval(() => this.second(), 1000);
    setInterval(() => void this.readCatalog(), CATALOG_MS);
    document.addEventListener("visibilitychange", () => {
      this.live.pacer.report();
      this.frames.request();
    });
    void this.gateway.links().then((links) => this.connection.link(links));
    await Promise.all([this.readCatalog(), this.readFormats()]);
    this.started = true;
    this.follow();
  }

  private controls(): void {
    byId("theme").addEventListener("click", toggleTheme);
    byId("help").addEventListener("click", () => this.help());
    const { range, follow } = this.settings;
    const labels = RANGES.map(({ label }) => label);
    segments(byId("ranges"), labels, range, (label) => this.setRange(label));
    segments(byId("follow"), ["all", "selected"], follow, (what) => this.setFollow(what));
    this.setRange(range);
  }

  private keys(): void {
    const deliveries = DELIVERIES.map((delivery, i) => ({
      key: String(i + 1),
      words: delivery.label,
      run: () => this.connection.pickDelivery(delivery.id),
    }));
    startKeys([
      { key: "/", words: "search datastreams", run: () => this.list.focusSearch() },
      ...deliveries,
      { key: "f", words: "next format", run: () => this.connection.nextFormat() },
      { key: "p", words: "hold or release the curves", run: () => this.curves.pause() },
      { key: "r", words: "back to live after a zoom", run: () => this.curves.reset() },
      { key: "c", words: "clear the selection", run: () => this.selection.clear() },
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
    if (document.hidden && this.started) return;
    try {
      this.curves.renew(this.store.describe(await this.gateway.catalog()));
    } catch (error) {
      // Other failures show in the connection's state.
      if (error instanceof Refused && error.status === 401) this.access.ask();
    }
    this.frames.request();
  }

  private async readFormats(): Promise<void> {
    const [known, names] = await Promise.all([loadFormats(), this.gateway.formats()]);
    const formats = offered(known, names);
    const [first] = formats;
    if (first === undefined) return;
    this.choice.format = formats.find(({ name }) => name === this.settings.format) ?? first;
    this.connection.offer(formats);
  }

  private selected(): void {
    writeSettings(this.settings);
    this.figured = 0;
    this.follow();
    this.frames.request();
  }

  private switched(): void {
    this.settings.delivery = this.choice.delivery.id;
    this.settings.format = this.choice.format.name;
    writeSettings(this.settings);
    this.meter.restart();
    this.notice.hide();
    this.follow();
    this.count();
    if (!this.choice.format.topics) this.notice.show(this.aloneText());
  }

  private follow(): void {
    if (this.started) this.live.follow({ ...this.choice, filters: this.filters(), unit: "" });
  }

  /** A format without topics can only follow one datastream. */
  private filters(): readonly string[] {
    const selected = this.store.selected.map(({ topic }) => topic);
    if (selected.length === 0) return this.settings.filters;
    if (!this.choice.format.topics) return selected.slice(0, 1);
    return this.settings.follow === "selected" ? selected : this.settings.filters;
  }

  private aloneText(): string {
    const { name } = this.choice.format;
    const topic = this.store.selected[0]?.topic;
    if (topic === undefined) return `${name} carries no topic: select a datastream to follow it.`;
    return `${name} carries no topic: following ${topic} alone.`;
  }

  private authorize(token: string): void {
    this.useToken(token);
    void this.readCatalog();
    void this.readFormats();
    this.follow();
  }

  private useToken(token: string | undefined): void {
    this.live.authorize(token);
    this.gateway.token = token;
  }

  private state(state: State): void {
    this.connection.show(state);
    if (state.kind === "locked") this.ask(state.realm, state.why);
    if (state.kind === "refused") this.notice.show(`The gateway refuses: ${state.why}`);
  }

  private ask(realm: Realm, why: string): void {
    if (realm === "gateway") this.access.ask();
    else this.account.ask(why);
  }

  private logIn(account: Account): void {
    this.live.logIn(account);
    this.follow();
  }

  private help(): void {
    byId<HTMLDialogElement>("help-dialog").showModal();
  }

  private recolor(): void {
    this.curves.recolor();
    this.figured = 0;
    this.frames.request();
  }

  private draw(now: number): void {
    this.selection.propose();
    this.bars.draw();
    if (this.curves.draw(now)) this.frames.request();
    if (now - this.figured < FIGURES_MS) return;
    this.figured = now;
    this.list.update();
    this.curves.update();
    this.network.update();
    this.connection.showGaps(this.store);
    this.count();
  }

  private presented(ready: number, began: number, presented: number): void {
    this.meter.presented(ready, began, presented);
    this.live.pacer.drew(presented - began);
  }

  private count(): void {
    this.latency.count(`${this.choice.format.name} by ${this.choice.delivery.id}`);
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
    const past = await this.gateway.history(member, now - TRACK_MS, now).catch(() => undefined);
    if (past !== undefined) this.store.retrace(thing, past.lats, past.lons);
  }
}
