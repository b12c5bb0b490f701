/**
 * Colours of the canvases, read from the style sheet so that there is one palette; and the choice of light
 * or dark: the system's, until a person picks one.
 */

/** Colours that canvases need. */
export interface Palette {
  ink: string;
  dim: string;
  line: string;
  track: string;
  gap: string;
  accent: string;
  series: string[];
  font: string;
}

const SERIES = 8;
const KEY = "weir.theme";

let current: Palette | undefined;
const listeners: (() => void)[] = [];

/** The colours in force. */
export function palette(): Palette {
  current ??= read();
  return current;
}

/** Colour of the datastream in a slot; the eight repeat. */
export function seriesColor(slot: number): string {
  return palette().series[slot % SERIES] as string;
}

/** Calls back whenever light and dark change places. */
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

/** Applies the remembered choice and follows the system's. */
export function startTheme(): void {
  const remembered = localStorage.getItem(KEY);
  if (remembered !== null) document.documentElement.dataset["theme"] = remembered;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}

/** Changes between light and dark and remembers it. */
export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset["theme"] = next;
  localStorage.setItem(KEY, next);
  changed();
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : chosen === "dark";
}

function changed(): void {
  current = undefined;
  for (const listener of listeners) listener();
}

function read(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: color("--ink"),
    dim: color("--dim"),
    line: color("--line"),
    track: color("--track"),
    gap: color("--gap"),
    accent: color("--accent"),
    series: Array.from({ length: SERIES }, (_, i) => color(`--series-${i}`)),
    font: getComputedStyle(document.body).fontFamily,
  };
}
