/** The page's settings; they live in the address, so that a view can be sent to somebody. */

import { filterFault } from "./data/topic";

/** What the address says. */
export interface Settings {
  delivery: string;
  format: string;
  range: string;
  /** Whether all filters are followed live, or the selected datastreams alone. */
  follow: "all" | "selected";
  filters: string[];
  /** Selected topics; undefined where the address names none. */
  select: string[] | undefined;
}

/** Lengths of the live time axis. */
export const RANGES = [
  { label: "1 min", ms: 60_000 },
  { label: "5 min", ms: 300_000 },
  { label: "15 min", ms: 900_000 },
  { label: "1 h", ms: 3_600_000 },
  { label: "24 h", ms: 86_400_000 },
] as const;

const DEFAULTS = { delivery: "sse", format: "json", range: "5 min", follow: "all", filters: ["#"] };

/** Reads the settings; what is missing or no filter takes its default. */
export function readSettings(search: string): Settings {
  const query = new URLSearchParams(search);
  const filters = query.getAll("topic").filter((filter) => filterFault(filter) === undefined);
  const range = query.get("range");
  return {
    delivery: query.get("delivery") ?? DEFAULTS.delivery,
    format: query.get("format") ?? DEFAULTS.format,
    range: RANGES.some(({ label }) => label === range) ? (range as string) : DEFAULTS.range,
    follow: query.get("follow") === "selected" ? "selected" : "all",
    filters: filters.length === 0 ? DEFAULTS.filters : filters,
    select: query.has("select") ? query.getAll("select").filter((topic) => topic !== "") : undefined,
  };
}

/** Writes the settings into the address without adding to the browser's history. */
export function writeSettings(settings: Settings): void {
  const query = new URLSearchParams();
  for (const name of ["delivery", "format", "range", "follow"] as const) {
    if (settings[name] !== DEFAULTS[name]) query.set(name, settings[name]);
  }
  if (settings.filters.join() !== DEFAULTS.filters.join())
    for (const topic of settings.filters) query.append("topic", topic);
  for (const topic of settings.select ?? []) query.append("select", topic);
  if (settings.select?.length === 0) query.append("select", "");
  const text = query.toString();
  history.replaceState(null, "", text === "" ? location.pathname : `?${text}`);
}

/** What to select at first: what the address names, else supply and return of a heating network, else a few. */
export function initialSelection(settings: Settings, topics: readonly string[]): string[] {
  if (settings.select !== undefined) return settings.select.filter((topic) => topics.includes(topic));
  const names = new Intl.Collator("en", { numeric: true });
  const sorted = [...topics].sort(names.compare);
  const telling = [
    ...sorted.filter((topic) => /(plant|substation-[1-4])\/supply\/temperature$/.test(topic)),
    ...sorted.filter((topic) => /(plant|substation-[1-4])\/return\/temperature$/.test(topic)),
    ...sorted.filter((topic) => /substation-[1-4]\/power$/.test(topic)),
  ];
  return telling.length > 0 ? telling.slice(0, 14) : sorted.slice(0, 6);
}
