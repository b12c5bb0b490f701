/**
 * Vertical bars of the selected datastreams, as in Babovic et al. 2016, section V: the height of a bar is the
 * ratio of the value to the maximum: what the catalog says is the most to expect, else the largest magnitude seen.
 * Those of a chart stand together over its name; where they do not fit beside each other, in rows.
 */

import { grouped, groupName, rowsOf } from "../data/groups";
import { numeric } from "../data/observation";
import type { Datastream, Store } from "../data/store";
import { briefName, numberOf } from "../data/topic";
import { byId, context2d } from "../ui/dom";
import { unitSign, valueText } from "../ui/figures";
import { palette, seriesColor } from "../ui/palette";

/** Below a bar: its name, its maximum, what is measured. */
const LABELS_PX = 56;
const VALUES_PX = 20;
const BAR_MAX_PX = 56;
/** Between rows. */
const APART_PX = 14;
/** What the words of a bar need, and what they can do with where the panels fill the screen and none may grow. */
const WIDE_MIN_PX = 44;
const NARROW_MIN_PX = 34;
const FILLED = matchMedia("(min-width: 1240px)");

export class Bars {
  private readonly canvas = byId<HTMLCanvasElement>("bars");
  private rows = 0;

  constructor(private readonly store: Store) {}

  draw(): void {
    const least = FILLED.matches ? NARROW_MIN_PX : WIDE_MIN_PX;
    const capacity = Math.floor(this.canvas.clientWidth / least);
    const rows = rowsOf(grouped(this.store.selected), capacity);
    this.makeRoom(rows.length);
    const drawing = context2d(this.canvas);
    if (drawing === undefined) return;
    const { ctx, w, h } = drawing;
    if (rows.length === 0) return empty(ctx, w, h);
    const wide = w / Math.max(...rows.map((row) => row.flat().length));
    const pitch = (h + APART_PX) / rows.length;
    for (const [i, row] of rows.entries())
      drawRow(ctx, row, { top: i * pitch, high: pitch - APART_PX, wide });
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

  private makeRoom(rows: number): void {
    if (rows === this.rows) return;
    this.rows = rows;
    this.canvas.style.setProperty("--rows", String(Math.max(1, rows)));
  }
}

function fullOf({ full, maximum }: Datastream): number {
  return full ?? maximum;
}

interface Row {
  top: number;
  high: number;
  /** Of one bar with the space around it. */
  wide: number;
}

function drawRow(ctx: CanvasRenderingContext2D, parts: readonly Datastream[][], row: Row): void {
  const { wide } = row;
  const [top, base] = [row.top + VALUES_PX, row.top + row.high - LABELS_PX];
  let left = 0;
  for (const members of parts) {
    for (const [i, datastream] of members.entries())
      drawBar(ctx, datastream, { left: left + i * wide, wide, top, base });
    heading(ctx, members, { left, wide: members.length * wide, top, base });
    left += members.length * wide;
  }
}

interface Box {
  left: number;
  wide: number;
  top: number;
  base: number;
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
  label(ctx, datastream, box);
}

function label(ctx: CanvasRenderingContext2D, datastream: Datastream, box: Box): void {
  const { ink, dim, font } = palette();
  const middle = box.left + box.wide / 2;
  ctx.textAlign = "center";
  ctx.fillStyle = ink;
  ctx.font = `600 ${box.wide < WIDE_MIN_PX - 2 ? 10.5 : 12}px ${font}`;
  ctx.fillText(valueText(datastream.value), middle, box.top - 7, box.wide - 2);
  ctx.font = `11px ${font}`;
  const name = datastream.thing.slice(datastream.thing.lastIndexOf("/") + 1) || datastream.property;
  ctx.fillText(fitting(ctx, box.wide - 4, name, briefName(name), numberOf(name)), middle, box.base + 15);
  ctx.fillStyle = dim;
  const most = String(Number(fullOf(datastream).toPrecision(4)));
  ctx.fillText(fitting(ctx, box.wide - 4, `of ${most}`, most), middle, box.base + 29);
}

/** What the bars of a group measure, under a line that holds them together. */
function heading(ctx: CanvasRenderingContext2D, members: readonly Datastream[], box: Box): void {
  const { dim, line, font } = palette();
  ctx.fillStyle = line;
  ctx.fillRect(box.left + 4, box.base + 36, box.wide - 8, 1);
  ctx.fillStyle = dim;
  ctx.font = `600 11px ${font}`;
  const name = groupName(members);
  const unit = unitSign(members[0]?.unit);
  const last = name.slice(name.lastIndexOf(" ") + 1);
  const text = fitting(ctx, box.wide - 4, `${name} ${unit}`.trim(), name, last, unit);
  ctx.fillText(text, box.left + box.wide / 2, box.base + 51);
}

/** The first of the texts that fits, else nothing. */
function fitting(ctx: CanvasRenderingContext2D, width: number, ...texts: string[]): string {
  return texts.find((text) => ctx.measureText(text).width <= width) ?? "";
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
