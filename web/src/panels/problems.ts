/** What of messages was not understood: how many datastreams have it, and for each what is to be done. */

import type { Datastream } from "../data/store";
import { PROBLEMS_SHOWN } from "../limits";
import { byId, el, setText } from "../ui/dom";
import { count } from "../ui/figures";

let shown = "";

/** Brings the button and its list up to date; without problems there is none. */
export function showProblems(datastreams: Iterable<Datastream>): void {
  const all = [...datastreams].filter(({ problem }) => problem !== undefined);
  const state = JSON.stringify(all.map(({ topic, problem }) => [topic, problem]));
  if (state === shown) return;
  shown = state;
  const button = byId("problems");
  button.hidden = all.length === 0;
  setText(button, count(all.length, "problem"));
  const rest = all.length - PROBLEMS_SHOWN;
  const more = rest > 0 ? [el("p", "", `and ${rest} more: GET /catalog has them`)] : [];
  const items = all.slice(0, PROBLEMS_SHOWN).map(item);
  byId("problem-list").replaceChildren(el("h2", "", "Not understood"), el("ul", "", ...items), ...more);
}

function item({ topic, problem }: Datastream): HTMLElement {
  const { what = "", at, times = 1 } = problem ?? {};
  const last = at === undefined ? "" : `, last ${new Date(at).toLocaleString()}`;
  return el("li", "", el("b", "", topic), what, el("span", "", `${count(times, "time")}${last}`));
}
