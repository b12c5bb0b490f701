/**
 * Draws at most once a frame, however many messages arrive in it, and measures what a frame costs.
 *
 * A frame is presented after the callbacks of `requestAnimationFrame`, style, layout and paint. The browser
 * tells no script when; a message posted from inside the callback is delivered after them, which is within a
 * millisecond of the presentation time of Element Timing and needs no element to be observed. In a hidden tab
 * no frame comes, nothing is drawn and nothing piles up: the store is bounded and drawn whole on return.
 */

/** Draws what has changed; `now` on the clock of `performance.now`. */
export type Draw = (now: number) => void;

/** Hears of each frame: when its oldest change was ready, when drawing began, when it was presented. */
export type Presented = (ready: number, began: number, presented: number) => void;

export class Frames {
  private ready: number | undefined;
  private pending = false;
  private readonly after = new MessageChannel();
  private began = 0;
  private readyOfFrame: number | undefined;

  constructor(
    private readonly draw: Draw,
    private readonly presented: Presented,
  ) {
    this.after.port1.onmessage = () => this.end();
  }

  /** Asks for a frame; `ready` marks a message that it will show. */
  request(ready?: number): void {
    this.ready ??= ready;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => this.begin());
  }

  private begin(): void {
    this.pending = false;
    this.readyOfFrame = this.ready;
    this.ready = undefined;
    this.began = performance.now();
    this.draw(this.began);
    this.after.port2.postMessage(null);
  }

  private end(): void {
    if (this.readyOfFrame !== undefined) this.presented(this.readyOfFrame, this.began, performance.now());
  }
}
