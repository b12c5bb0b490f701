/** The few things the panels need to build and update elements; no framework. */

/** The element with an id of index.html; its absence is a mistake in this program. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`index.html has no #${id}`);
  return element as T;
}

/** A new element with a class and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children);
  return element;
}

/** A new SVG element with attributes. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}

/** Sets a text only where it differs: layout is not touched for nothing. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Fills a field set with radio buttons that look like one switch. */
export function segments(
  box: HTMLElement,
  choices: readonly string[],
  chosen: string,
  pick: (choice: string) => void,
): void {
  for (const choice of choices) {
    const input = el("input");
    input.type = "radio";
    input.name = box.id;
    input.value = choice;
    input.checked = choice === chosen;
    input.addEventListener("change", () => pick(choice));
    box.append(el("label", "", input, el("span", "", choice)));
  }
}

/** A canvas matched to its box and the screen's pixels; undefined where it has no size. */
export function context2d(
  canvas: HTMLCanvasElement,
): { ctx: CanvasRenderingContext2D; w: number; h: number } | undefined {
  const { clientWidth: w, clientHeight: h } = canvas;
  const ctx = canvas.getContext("2d");
  if (ctx === null || w === 0 || h === 0) return undefined;
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(w * ratio), Math.round(h * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, w, h);
  return { ctx, w, h };
}
