/**
 * Topics and topic filters: `+` stands for one level, `#` at the end for all that follow
 * (MQTT 5.0 section 4.7.1). Deliberately without `$` rules: the gateway decides what may be seen.
 */

/** Whether a topic lies in a filter. */
export function matches(filter: string, topic: string): boolean {
  const wanted = filter.split("/");
  const levels = topic.split("/");
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] === "#") return true;
    if (i >= levels.length) return false;
    if (wanted[i] !== "+" && wanted[i] !== levels[i]) return false;
  }
  return wanted.length === levels.length;
}

/** Why a filter is none, or undefined where it is one. */
export function filterFault(filter: string): string | undefined {
  if (filter === "") return "the filter is empty";
  const levels = filter.split("/");
  for (const [i, level] of levels.entries()) {
    if (level.includes("#") && (level !== "#" || i !== levels.length - 1)) {
      return "# stands alone and last, as in heating/#";
    }
    if (level.includes("+") && level !== "+") return "+ stands alone between slashes, as in heating/+/flow";
  }
  return undefined;
}

/**
 * A topic in the path of a URL: levels keep their slashes, all else is escaped. Where a level is `.` or `..`, which are
 * taken out of paths on the way, the slashes are escaped too.
 */
export function topicPath(topic: string): string {
  if (isStep(topic)) throw new RangeError(`the topic ${topic} cannot be asked for by HTTP`);
  const levels = topic.split("/");
  return levels.some(isStep) ? encodeURIComponent(topic) : levels.map(encodeURIComponent).join("/");
}

function isStep(level: string): boolean {
  return level === "." || level === "..";
}

/** A topic's thing (its first two levels at most) and the property that remains. */
export function splitTopic(topic: string): { thing: string; property: string } {
  const levels = topic.split("/");
  const head = Math.min(2, levels.length - 1);
  return { thing: levels.slice(0, head).join("/"), property: levels.slice(head).join("/") };
}

/** A short name for a legend: the last level of the thing and the property. */
export function shortTopic(topic: string): string {
  const { thing, property } = splitTopic(topic);
  const last = thing.slice(thing.lastIndexOf("/") + 1);
  return last === "" ? property : `${last} ${property.replaceAll("/", " ")}`;
}

/** A name in few letters that keeps the number at its end: `sub-3` for `substation-3`. */
export function briefName(name: string): string {
  const end = /-?\d+$/.exec(name)?.[0] ?? "";
  return name.length <= 5 ? name : name.slice(0, Math.min(3, name.length - end.length)) + end;
}

/** The number at the end of a name; nothing where it has none. */
export function numberOf(name: string): string {
  return /\d+$/.exec(name)?.[0] ?? "";
}
