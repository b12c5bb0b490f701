/**
 * Which datastreams are on screen: those the address names, else a telling few that change as the network
 * becomes known, until a person picks.
 */

import type { Datastream, Store } from "./data/store";
import { initialSelection, type Settings } from "./settings";

/** What follows from a change. */
export interface Consequences {
  added(datastream: Datastream): void;
  /** There is no room for one more. */
  full(): void;
  changed(): void;
}

export class Selection {
  private automatic = true;
  private revision = -1;

  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
    private readonly then: Consequences,
  ) {}

  /** Takes a datastream on or off. */
  toggle(topic: string): void {
    this.pick([topic]);
  }

  /** Takes all of a thing on, or off where all are on already. */
  toggleThing(thing: string): void {
    const members = [...this.store.datastreams.values()].filter((datastream) => datastream.thing === thing);
    const missing = members.filter(({ slot }) => slot === undefined);
    this.pick((missing.length > 0 ? missing : members).map(({ topic }) => topic));
  }

  clear(): void {
    this.pick(this.store.selected.map(({ topic }) => topic));
  }

  /** Chooses for the person where nothing was picked and datastreams have come. */
  propose(): void {
    if (!this.automatic || this.revision === this.store.revision) return;
    this.revision = this.store.revision;
    const wanted = initialSelection(this.settings, [...this.store.datastreams.keys()]);
    const added = wanted.filter((topic) => this.store.datastreams.get(topic)?.slot === undefined);
    if (added.length === 0) return;
    for (const { topic } of [...this.store.selected]) if (!wanted.includes(topic)) this.store.deselect(topic);
    for (const topic of added) this.add(topic);
    this.then.changed();
  }

  private pick(topics: readonly string[]): void {
    this.automatic = false;
    for (const topic of topics) {
      if (this.store.datastreams.get(topic)?.slot !== undefined) this.store.deselect(topic);
      else this.add(topic);
    }
    this.settings.select = this.store.selected.map(({ topic }) => topic);
    this.then.changed();
  }

  private add(topic: string): void {
    const datastream = this.store.select(topic);
    if (datastream !== undefined) this.then.added(datastream);
    else this.then.full();
  }
}
