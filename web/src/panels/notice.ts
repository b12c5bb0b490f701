/** A sentence over the page's lower edge, for what a person should know now; it leaves by itself. */

import { NOTICE_MS } from "../limits";
import { byId, setText } from "../ui/dom";

export class Notice {
  private readonly root = byId("notice");
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.root.querySelector("button")?.addEventListener("click", () => this.hide());
  }

  show(sentence: string): void {
    setText(this.root.querySelector("span") as Element, sentence);
    this.root.hidden = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), NOTICE_MS);
  }

  hide(): void {
    this.root.hidden = true;
    setText(this.root.querySelector("span") as Element, "");
  }
}
