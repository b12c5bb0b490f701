/** The page that advises: asks the gateway what `weir advise` would say. */

import "../style/base.css";
import "../style/layout.css";
import "../style/advise.css";
import { byId, setText } from "../ui/dom";
import { startTheme, toggleTheme } from "../ui/palette";
import { ask, levels, Misunderstood } from "./answer";
import { command, query, startForm } from "./form";
import { show, showFault } from "./show";

/** Answers to earlier questions that come late are not shown. */
let asked = 0;

async function advise(): Promise<void> {
  const question = query();
  const own = ++asked;
  history.replaceState(null, "", `?${question}`);
  setText(byId("command"), command(question));
  try {
    const answer = await ask(question);
    if (own === asked) show(byId("answer"), answer);
  } catch (fault) {
    if (own !== asked) return;
    const words = fault instanceof Error ? fault.message : String(fault);
    showFault(byId("answer"), fault instanceof Misunderstood ? words : `Nobody answers: ${words}`);
  }
}

async function start(): Promise<void> {
  startTheme();
  byId("theme").addEventListener("click", toggleTheme);
  const known = await levels().catch(() => ({}));
  startForm(known, () => void advise());
  const form = byId<HTMLFormElement>("question");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void advise();
  });
  form.addEventListener("change", () => void advise());
  await advise();
}

void start();
