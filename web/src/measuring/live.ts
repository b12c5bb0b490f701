/** The page by itself: follows the gateway's live stream in a scheme and a format that a person picks. */

import { renderSVG } from "uqr";
import type { Format } from "../formats/format";
import { byId, el } from "../ui/dom";
import { Cell, SCHEMES } from "./cell";
import type { History } from "./history";
import type { Stage } from "./stage";
import { showDoing, showMessages } from "./view";

/** How wide the code of the page's address is drawn, in pixels. */
const CODE_PX = 132;
/** Time between two updates of the figures, in milliseconds. */
const SHOW_MS = 500;
/** Messages that the figures are of. */
const RECENT = 300;
/** Pause before what has ended is followed again, in milliseconds. */
const AGAIN_MS = 2000;

export class Watch {
  private cell: Cell | undefined;
  /** Counts choices: what belongs to an older one is passed over. */
  private turn = 0;

  constructor(
    private readonly base: URL,
    private readonly formats: readonly Format[],
    private readonly history: History,
    private readonly stage: Stage,
    private readonly offset: () => number,
  ) {}

  start(): void {
    const asked = new URLSearchParams(location.search);
    fill("delivery", Object.keys(SCHEMES), asked.get("delivery") ?? "websocket");
    const names = this.formats.filter(({ topics }) => topics).map(({ name }) => name);
    fill("format", names, asked.get("format") ?? "json");
    byId<HTMLInputElement>("filter").value = asked.get("topic") ?? "#";
    byId("choice").classList.remove("hidden");
    byId("phone").innerHTML = renderSVG(location.href, { pixelSize: 1, border: 2 });
    byId("phone").style.width = `${CODE_PX}px`;
    byId("phone-box").classList.remove("hidden");
    byId("choice").addEventListener("change", () => void this.follow());
    byId("choice").addEventListener("submit", (event) => event.preventDefault());
    setInterval(() => this.show(), SHOW_MS);
    void this.follow();
  }

  private async follow(): Promise<void> {
    const turn = ++this.turn;
    await this.cell?.finish(0);
    const format = this.formats.find(({ name }) => name === value("format"));
    if (format === undefined || turn !== this.turn) return;
    this.history.clear();
    const job = { delivery: value("delivery"), format: format.name, filter: value("filter") };
    const pace = byId<HTMLInputElement>("pace").checked;
    const cell = new Cell(this.base, { ...job, pace }, format, this.history, this.stage);
    this.cell = cell;
    try {
      await cell.begin();
      showDoing(`${job.format} by ${job.delivery}, ${job.filter}`);
    } catch (error) {
      if (turn !== this.turn) return;
      showDoing(error instanceof Error ? error.message : String(error));
      setTimeout(() => turn === this.turn && void this.follow(), AGAIN_MS);
    }
  }

  private show(): void {
    if (document.hidden || this.cell === undefined) return;
    showMessages(this.cell.stamps.slice(-RECENT), this.offset());
  }
}

function fill(id: string, names: readonly string[], chosen: string): void {
  byId(id).append(
    ...names.map((name) => {
      const option = el("option", "", name);
      option.selected = name === chosen;
      return option;
    }),
  );
}

function value(id: string): string {
  return byId<HTMLInputElement | HTMLSelectElement>(id).value;
}
