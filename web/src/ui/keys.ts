/** Keyboard shortcuts: one table, which is also what the help shows. */

import { byId, el } from "./dom";

/** A shortcut: the key as `KeyboardEvent.key`, and what it does. */
export interface Shortcut {
  key: string;
  words: string;
  run(): void;
}

/** Listens for the shortcuts and writes them into the help. */
export function startKeys(shortcuts: readonly Shortcut[]): void {
  for (const { key, words } of shortcuts)
    byId("keys").append(el("dt", "", el("kbd", "", key)), el("dd", "", words));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const shortcut = shortcuts.find(({ key }) => key === event.key);
    if (shortcut === undefined) return;
    event.preventDefault();
    shortcut.run();
  });
}

function typing(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement) return target.type !== "radio";
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement;
}
