/** The header: how the connection stands, gaps, and the switches for delivery scheme and format. */

import type { Store } from "../data/store";
import type { Delivery } from "../delivery/delivery";
import { DELIVERIES } from "../delivery/list";
import type { State } from "../delivery/session";
import type { Format } from "../formats/format";
import { byId, el, setText } from "../ui/dom";
import { clock, count } from "../ui/figures";

/** What a person chose. */
export interface Choice {
  delivery: Delivery;
  format: Format;
}

export class Connection {
  private readonly state = byId("state");
  private readonly gaps = byId("gaps");
  private readonly list = byId("gap-list");
  private readonly menu = byId<HTMLSelectElement>("format");
  private shown: State = { kind: "connecting" };
  private gapsShown = -1;

  constructor(
    private readonly choice: Choice,
    private formats: readonly Format[],
    private readonly chosen: (choice: Choice) => void,
  ) {
    byId("deliveries").append(...DELIVERIES.map((delivery, i) => this.radio(delivery, i + 1)));
    this.offer(formats);
    this.menu.addEventListener("change", () => this.pickFormat(this.menu.value));
  }

  /** Puts the formats that both sides know into the menu. */
  offer(formats: readonly Format[]): void {
    this.formats = formats;
    this.menu.replaceChildren(
      ...formats.map(({ name }) => new Option(name, name, false, name === this.choice.format.name)),
    );
  }

  /** Shows the schemes that the gateway can be followed by, as it has these links. */
  link(links: ReadonlyMap<string, string>): void {
    for (const { id, needs } of DELIVERIES)
      if (needs !== undefined && links.has(needs)) radioOf(id)?.closest("label")?.removeAttribute("hidden");
  }

  pickDelivery(id: string): void {
    const delivery = DELIVERIES.find((candidate) => candidate.id === id);
    const radio = radioOf(id);
    if (delivery === undefined || radio === null || radio.closest("label")?.hidden) return;
    radio.checked = true;
    this.choice.delivery = delivery;
    this.chosen(this.choice);
  }

  pickFormat(name: string): void {
    const format = this.formats.find((candidate) => candidate.name === name);
    if (format === undefined) return;
    this.menu.value = name;
    this.choice.format = format;
    this.chosen(this.choice);
  }

  /** Moves on to the next format of the menu. */
  nextFormat(): void {
    const at = this.formats.indexOf(this.choice.format);
    this.pickFormat((this.formats[(at + 1) % this.formats.length] as Format).name);
  }

  show(state: State): void {
    this.shown = state;
    this.update();
  }

  /** Brings the words up to date: the countdown of a retry runs. */
  update(): void {
    this.state.dataset["kind"] = this.shown.kind;
    setText(this.state.lastElementChild as Element, words(this.shown));
    this.state.title = "why" in this.shown ? this.shown.why : "";
  }

  showGaps(store: Store): void {
    if (store.gapCount === this.gapsShown) return;
    this.gapsShown = store.gapCount;
    this.gaps.dataset["some"] = String(store.gapCount > 0);
    setText(this.gaps, store.gapCount === 0 ? "no gaps" : count(store.gapCount, "gap"));
    const rows = store.gaps.map(({ from, to, reason, count: missed }) => {
      const many = missed === undefined ? "" : `, ${count(missed, "message")}`;
      return el(
        "li",
        "",
        el("time", "", `${clock(from)} – ${clock(to)}`),
        el("span", "", `${reasonText(reason)}${many}`),
      );
    });
    const none = el("p", "", "Nothing was missed since this page was opened.");
    this.list.replaceChildren(
      el("h2", "", "Gaps"),
      rows.length === 0 ? none : el("ul", "", ...rows.reverse()),
    );
  }

  private radio(delivery: Delivery, key: number): HTMLElement {
    const input = el("input");
    input.type = "radio";
    input.name = "delivery";
    input.value = delivery.id;
    input.checked = delivery === this.choice.delivery;
    input.addEventListener("change", () => this.pickDelivery(delivery.id));
    const label = el("label", "", input, el("span", "", delivery.label));
    label.title = `${delivery.label}: ${delivery.hint} (${key})`;
    label.hidden = delivery.needs !== undefined && !input.checked;
    return label;
  }
}

function radioOf(id: string): HTMLInputElement | null {
  return document.querySelector(`input[name=delivery][value=${id}]`);
}

/** Why the gateway could not hand on what was missed, for people. */
const REASONS: Record<string, string> = {
  rollback: "the gateway lost messages that were not yet on disk",
  retention: "the messages are older than what the gateway keeps",
  policy: "this page was too slow for the gateway’s queue",
  foreign: "the gateway does not know this page’s position",
  damage: "the gateway’s disk no longer gives them back",
};

function reasonText(reason: string): string {
  return REASONS[reason] ?? reason;
}

function words(state: State): string {
  switch (state.kind) {
    case "waiting": {
      const seconds = Math.max(0, Math.ceil((state.retry - Date.now()) / 1000));
      return seconds === 0 ? "reconnecting" : `reconnecting in ${seconds} s`;
    }
    case "locked":
      return state.realm === "gateway" ? "token wanted" : "account wanted";
    default:
      return state.kind;
  }
}
