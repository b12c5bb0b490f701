/** The token box, shown when the gateway answers 401; the token stays in this tab (`sessionStorage`). */

import { byId, setText } from "../ui/dom";

const KEY = "weir.token";

export class Access {
  private readonly dialog = byId<HTMLDialogElement>("access-dialog");
  private readonly field = byId<HTMLInputElement>("token");

  constructor(given: (token: string) => void) {
    byId("access").addEventListener("submit", () => {
      const token = this.field.value.trim();
      if (token === "") return;
      sessionStorage.setItem(KEY, token);
      this.field.value = "";
      given(token);
    });
  }

  /** The token of this tab, if one was given. */
  remembered(): string | undefined {
    return sessionStorage.getItem(KEY) ?? undefined;
  }

  /** Asks for a token; says so where the one it has was refused. */
  ask(): void {
    if (this.dialog.open) return;
    if (this.remembered() !== undefined)
      setText(byId("access-why"), "The gateway does not accept this token. Make one with weir token.");
    this.dialog.showModal();
    this.field.focus();
  }
}
