/** Loads the codec, once, and tells all formats that the page then reads. */

import { Codec } from "./codec";
import type { Format } from "./format";
import { FORMATS, withCodec } from "./list";

/** Where the module was put; nothing where the build had no toolchain for it (scripts/wasm). */
const built: Record<string, string> = import.meta.glob("./codec.wasm", {
  query: "?url",
  import: "default",
  eager: true,
});

let loading: Promise<readonly Format[]> | undefined;

/** All formats; those of the list alone where there is no codec. */
export function loadFormats(): Promise<readonly Format[]> {
  loading ??= load();
  return loading;
}

async function load(): Promise<readonly Format[]> {
  const url = built["./codec.wasm"];
  if (url === undefined) return FORMATS;
  try {
    return withCodec(await Codec.load(fetch(url)));
  } catch (error) {
    console.warn("the codec could not be loaded:", error);
    return FORMATS;
  }
}
