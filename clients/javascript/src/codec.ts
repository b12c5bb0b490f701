/** Loads the codec once: beside the module in a browser, from its file in Node.js. */

import { Codec } from "../../../web/src/formats/codec";

let loading: Promise<Codec> | undefined;

/** Another failure may be another time: what failed is tried again. */
export function loadCodec(url?: string | URL): Promise<Codec> {
  loading ??= load(url ?? new URL("./codec.wasm", import.meta.url)).catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(url: string | URL): Promise<Codec> {
  const address = new URL(url, import.meta.url);
  if (address.protocol !== "file:") return Codec.load(fetch(address));
  const { readFile } = await import("node:fs/promises" as string);
  return Codec.load(await readFile(address));
}
