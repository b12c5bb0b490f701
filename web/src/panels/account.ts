/** The account box, shown when a server in between wants to know who somebody is; what is said stays in this tab. */

import type { Account } from "../delivery/delivery";
import { byId, setText } from "../ui/dom";

const KEY = "weir.account";

export class AccountBox {
  private readonly dialog = byId<HTMLDialogElement>("account-dialog");
  private readonly address = byId<HTMLInputElement>("account-address");
  private readonly password = byId<HTMLInputElement>("account-password");

  constructor(given: (account: Account) => void) {
    byId("account").addEventListener("submit", () => {
      const account = { address: this.address.value.trim(), password: this.password.value };
      if (account.address === "") return;
      sessionStorage.setItem(KEY, JSON.stringify(account));
      this.password.value = "";
      given(account);
    });
  }

  /** The account of this tab, if one was given. */
  remembered(): Account | undefined {
    const kept = sessionStorage.getItem(KEY);
    return kept === null ? undefined : (JSON.parse(kept) as Account);
  }

  /** Asks for an account; says why where the one it has was refused. */
  ask(why: string): void {
    if (this.dialog.open) return;
    const known = this.remembered();
    if (known !== undefined) {
      setText(byId("account-why"), `${why}.`);
      this.address.value = known.address;
    }
    this.dialog.showModal();
    (known === undefined ? this.address : this.password).focus();
  }
}
