/**
 * Vertical bars of the selected datastreams, as in Babovic et al. 2016, section V: the height of a bar is the
 * ratio of the value to the maximum: what the catalog says is the most to expect, else the largest magnitude seen.
 */

import { numeric } from "../data/observation";
import type { Datastream, Store } from "../data/store";
import { byId, context2d } from "../ui/dom";
import { number, unitSign, valueText } from "../ui/figures";
import { palette, seriesColor } from "../ui/palette";

const LABELS_PX = 34;
const VALUES_PX = 20;
const BAR_MAX_PX = 56;
/** Narrower bars go without words. */
const WORDS_PX = 46;

export class Bars {
  private readonly canvas = byId<HTMLCanvasElement>("bars");

  constructor(private readonly store: Store) {}

  draw(): void {
    const drawing = context2d(this.canvas);
    if (drawing === undefined) return;
    const { ctx, w, h } = drawing;
    const bars = this.store.selected;
    if (bars.length === 0) return empty(ctx, w, h);
    const words = w / bars.length >= WORDS_PX;
    const base = words ? h - LABELS_PX : h - 4;
    const top = words ? VALUES_PX : 4;
    for (const [i, datastream] of bars.entries()) {
      drawBar(ctx, datastream, { left: (i * w) / bars.length, wide: w / bars.length, top, base, words });
    }
  }

  /** Says the same in words, for who does not see the canvas. */
  describe(): void {
    const words = this.store.selected.map(
      ({ topic, value, unit }) => `${topic} ${valueText(value)} ${unitSign(unit)}`,
    );
    this.canvas.setAttribute(
      "aria-label",
      words.length === 0 ? "No datastream is selected" : words.join(", "),
    );
  }
}

function fullOf({ full, maximum }: Datastream): number {
  return full ?? maximum;
}

interface Box {
  left: number;
  wide: number;
  top: number;
  base: number;
  words: boolean;
}

function drawBar(ctx: CanvasRenderingContext2D, datastream: Datastream, box: Box): void {
  const bar = Math.min(BAR_MAX_PX, box.wide * 0.62);
  const x = box.left + (box.wide - bar) / 2;
  const full = box.base - box.top;
  const share = Math.abs(numeric(datastream.value) ?? 0) / (fullOf(datastream) || 1);
  const height = Math.max(share === 0 ? 0 : 2, full * Math.min(1, share));
  const radius = Math.min(4, bar / 4);
  ctx.fillStyle = palette().track;
  fillRound(ctx, x, box.top, bar, full, radius);
  ctx.fillStyle = seriesColor(datastream.slot ?? 0);
  ctx.globalAlpha = datastream.online ? 1 : 0.35;
  fillRound(ctx, x, box.base - height, bar, height, Math.min(radius, height / 2));
  ctx.globalAlpha = 1;
  if (box.words) label(ctx, datastream, box);
}

function label(ctx: CanvasRenderingContext2D, datastream: Datastream, box: Box): void {
  const { ink, dim, font } = palette();
  const middle = box.left + box.wide / 2;
  ctx.textAlign = "center";
  ctx.fillStyle = ink;
  ctx.font = `600 12px ${font}`;
  ctx.fillText(valueText(datastream.value), middle, 13, box.wide - 2);
  ctx.fillStyle = dim;
  ctx.font = `11px ${font}`;
  const name = datastream.thing.slice(datastream.thing.lastIndexOf("/") + 1) || datastream.property;
  ctx.fillText(fitting(ctx, box.wide - 4, name, brief(name)), middle, box.base + 15);
  const most = number(fullOf(datastream));
  ctx.fillText(fitting(ctx, box.wide - 4, most), middle, box.base + 29);
}

/** The first of the texts that fits, else nothing. */
function fitting(ctx: CanvasRenderingContext2D, width: number, ...texts: string[]): string {
  return texts.find((text) => ctx.measureText(text).width <= width) ?? "";
}

/** A name in few letters that keeps the number at its end: `sub-3` for `substation-3`. */
function brief(name: string): string {
  const end = /-?\d+$/.exec(name)?.[0] ?? "";
  return name.slice(0, 3) + end;
}

function empty(ctx: CanvasRenderingContext2D, w: number, h: number): void {
  ctx.fillStyle = palette().dim;
  ctx.font = `13px ${palette().font}`;
  ctx.textAlign = "center";
  ctx.fillText("Select datastreams to see them as bars.", w / 2, h / 2);
}

function fillRound(
  ctx: CanvasRenderingContext2D,
  x: number,
  y: number,
  w: number,
  h: number,
  r: number,
): void {
  ctx.beginPath();
  ctx.roundRect(x, y, w, h, r);
  ctx.fill();
}
