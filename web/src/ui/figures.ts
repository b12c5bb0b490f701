/** How numbers, units, times and values are written for people. */

import type { Value } from "../data/observation";

/** UCUM codes whose usual sign differs. */
const SIGNS: Record<string, string> = {
  Cel: "°C",
  "kW.h": "kWh",
  "[degF]": "°F",
  deg: "°",
  "m3/h": "m³/h",
  m3: "m³",
  "m/s2": "m/s²",
  "W/m2": "W/m²",
  "1": "",
  "{rpm}": "rpm",
  "/min": "/min",
};

/** A unit as people write it. */
export function unitSign(unit: string | undefined): string {
  return unit === undefined ? "" : (SIGNS[unit] ?? unit);
}

/** A value in about four significant digits; decimals stay put while the magnitude does. */
export function valueText(value: Value | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "string") return value;
  return typeof value === "number" ? number(value) : JSON.stringify(value);
}

/** A number in about four significant digits. */
export function number(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 1e10) return value.toExponential(2);
  if (magnitude >= 1e5) return grouped(value);
  if (magnitude >= 1000) return value.toFixed(0);
  if (magnitude >= 100) return value.toFixed(1);
  if (magnitude >= 1 || magnitude === 0) return value.toFixed(2);
  return value.toFixed(3);
}

/** Milliseconds; two decimals below ten, none from a hundred on. */
export function milliseconds(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude >= 10_000) return `${(value / 1000).toFixed(0)} s`;
  if (magnitude >= 100) return value.toFixed(0);
  return value.toFixed(magnitude >= 10 ? 1 : 2);
}

/** A whole number with thousands apart. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
}

/** A count with its noun. */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
}

/** How long ago, coarsely. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** Time of day, local. */
export function clock(ms: number): string {
  return new Date(ms).toLocaleTimeString("en-GB");
}
