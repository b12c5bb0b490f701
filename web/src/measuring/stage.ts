/**
 * Where messages become visible, and when: vertical bars on a canvas, as in Babovic et al. 2016, section V, and
 * a number beside them of which the browser says when it was presented.
 *
 * A script is not told when a canvas is on the screen. So each frame also gets a new text node, whose
 * presentation Element Timing reports; both are in the same frame. Where the browser has no Element Timing, the
 * first task after the frame stands for it, which is within a millisecond as a rule.
 */

import type { History, Track } from "./history";
import type { Stamps } from "./stamps";

/** The entry of Element Timing; `presentationTime` is younger than `renderTime`, which it replaces. */
interface ElementEntry extends PerformanceEntry {
  identifier: string;
  renderTime: number;
  presentationTime?: number;
}

/** How long the browser may take to say when a frame was presented, in milliseconds. */
const REPORT_MS = 1000;

export class Stage {
  private readonly ctx: CanvasRenderingContext2D;
  private readonly after = new MessageChannel();
  private waiting: Stamps[] = [];
  private frame = 0;
  /** Frames whose presentation is not known yet. */
  private readonly open = new Map<string, Stamps[]>();
  private readonly ends: (() => void)[] = [];
  private colors: readonly string[] = [];
  /** Whether each frame leaves a mark in the browser's trace. */
  marks = false;
  /** Hears for how long each frame kept the page's thread busy, in milliseconds. */
  frameTook: (ms: number) => void = () => {};

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly label: HTMLElement,
    private readonly history: History,
  ) {
    this.ctx = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.after.port1.onmessage = ({ data }) => this.afterFrame(data as string);
    if (observes()) new PerformanceObserver((list) => this.reported(list)).observe({ type: "element" });
  }

  /** Asks for a frame that shows the message. */
  show(stamps: Stamps): void {
    this.waiting.push(stamps);
    if (this.waiting.length === 1) requestAnimationFrame(() => this.draw());
  }

  /** Resolves when all that was drawn is known to be presented, or will not be. */
  async settled(): Promise<void> {
    if (this.waiting.length === 0 && this.open.size === 0) return;
    await new Promise<void>((resolve) => {
      this.ends.push(resolve);
      setTimeout(resolve, REPORT_MS);
    });
  }

  private draw(): void {
    const shown = this.waiting;
    this.waiting = [];
    const began = performance.now();
    this.bars();
    const drawn = performance.now();
    const frame = ++this.frame;
    for (const stamps of shown) Object.assign(stamps, { began, drawn, frame });
    const name = `frame-${frame}`;
    if (this.marks) performance.mark(name);
    this.open.set(name, shown);
    this.label.replaceChildren(labelled(name, String(shown.at(-1)?.seq ?? "")));
    this.after.port2.postMessage(name);
  }

  private bars(): void {
    const { width, height } = this.canvas;
    if (this.colors.length === 0) this.colors = colorsOf(this.canvas);
    this.ctx.clearRect(0, 0, width, height);
    const tracks = [...this.history.tracks.values()];
    const wide = width / Math.max(1, tracks.length);
    for (const [i, track] of tracks.entries()) {
      const tall = height * shareOf(track);
      this.ctx.fillStyle = this.colors[i % this.colors.length] as string;
      this.ctx.fillRect(i * wide + wide * 0.1, height - tall, wide * 0.8, tall);
    }
  }

  private afterFrame(name: string): void {
    const now = performance.now();
    const shown = this.open.get(name) ?? [];
    for (const stamps of shown) stamps.presented = now;
    if (shown[0] !== undefined) this.frameTook(now - shown[0].began);
    if (!observes()) this.close(name);
  }

  private reported(list: PerformanceObserverEntryList): void {
    for (const entry of list.getEntries() as ElementEntry[]) {
      const at = entry.presentationTime ?? entry.renderTime;
      for (const stamps of at > 0 ? (this.open.get(entry.identifier) ?? []) : [])
        Object.assign(stamps, { presented: at, observed: true });
      this.close(entry.identifier);
    }
  }

  private close(name: string): void {
    this.open.delete(name);
    // Frames that were replaced before they were painted are never reported.
    for (const older of this.open.keys()) if (frameOf(older) < frameOf(name)) this.open.delete(older);
    if (this.open.size === 0 && this.waiting.length === 0) for (const end of this.ends.splice(0)) end();
  }
}

/** Whether the browser says when elements are presented. */
export function observes(): boolean {
  return PerformanceObserver.supportedEntryTypes?.includes("element") ?? false;
}

function labelled(name: string, text: string): HTMLElement {
  const node = document.createElement("span");
  node.setAttribute("elementtiming", name);
  node.textContent = text;
  return node;
}

function frameOf(name: string): number {
  return Number(name.slice("frame-".length));
}

/** The newest value as a share of the greatest seen. */
function shareOf({ newest, least, most }: Track): number {
  const full = Math.max(Math.abs(least), Math.abs(most));
  return full === 0 ? 0 : Math.abs(newest) / full;
}

function colorsOf(element: Element): string[] {
  const style = getComputedStyle(element);
  return Array.from({ length: 7 }, (_, i) => style.getPropertyValue(`--series-${i}`));
}
