/** A chart's heading: what is drawn, and its datastreams with colour and latest value; a press takes one off. */

import { groupName } from "../data/groups";
import type { Datastream } from "../data/store";
import { briefName, shortTopic } from "../data/topic";
import { el, setText } from "../ui/dom";
import { unitSign, valueText } from "../ui/figures";
import { seriesColor } from "../ui/palette";

export class Legend {
  readonly root = el("div", "chart-head");
  private readonly values = new Map<Datastream, HTMLElement>();

  private pointed: readonly (number | undefined)[] | undefined;

  constructor(members: readonly Datastream[], toggle: (topic: string) => void) {
    const [first] = members;
    const alike = members.every(({ property }) => property === first?.property);
    const name = groupName(members);
    const unit = unitSign(first?.unit);
    this.root.append(el("h3", "", name, el("span", "", name === "" ? unit : ` ${unit}`)));
    const chips = members.map((datastream) => this.chip(datastream, alike, toggle));
    this.root.append(el("div", "legend", ...chips));
  }

  /** Shows other values than the latest until called without any; in the order of the members. */
  point(values: readonly (number | undefined)[] | undefined): void {
    this.pointed = values;
    this.update();
  }

  /** Brings the values up to date. */
  update(): void {
    for (const [i, [datastream, value]] of [...this.values].entries()) {
      setText(value, valueText(this.pointed === undefined ? datastream.value : this.pointed[i]));
      value.parentElement?.classList.toggle("stale", !datastream.online);
    }
  }

  private chip(datastream: Datastream, alike: boolean, toggle: (topic: string) => void): HTMLElement {
    const { topic, thing } = datastream;
    const mark = el("i");
    mark.style.background = seriesColor(datastream.slot ?? 0);
    const value = el("b");
    const name = alike ? thing.slice(thing.lastIndexOf("/") + 1) : shortTopic(topic);
    const words = [el("span", "long", name || topic), el("span", "short", briefName(name) || topic)];
    const chip = el("button", "chip", mark, ...words, value);
    chip.type = "button";
    chip.title = `take ${topic} off`;
    chip.addEventListener("click", () => toggle(topic));
    this.values.set(datastream, value);
    return chip;
  }
}
