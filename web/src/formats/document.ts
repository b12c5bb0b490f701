/**
 * A document in EXI as the tree that a page works with: what `DOMParser` makes of XML, without XML in between.
 *
 * `codec.tape` reads the stream; here each of its steps becomes a node. Beside `codec.js` this file imports nothing.
 */

import type { Alignment, Codec, Tape } from "./codec.js";

/** Steps of a tape, in the order of crates/wasm/src/document.rs. */
const STEP = {
  name: 0,
  element: 1,
  end: 2,
  attribute: 3,
  namespace: 4,
  text: 5,
  comment: 6,
  instruction: 7,
  docType: 8,
} as const;

const XMLNS = "http://www.w3.org/2000/xmlns/";

/**
 * Reads a document in EXI without a schema. Throws `DecodeError` where the stream is none, and what the browser throws
 * where it holds what no tree can, such as a name with a space.
 */
export function readDocument(codec: Codec, payload: Uint8Array, alignment: Alignment = "bit-packed"): Document {
  return treeOf(codec.tape(payload, alignment));
}

/** A name's namespace, and the name as it is written. */
type Name = readonly [uri: string | null, qualified: string];

/** The tree of a tape. */
export function treeOf({ words, text }: Tape): Document {
  const tree = document.implementation.createDocument(null, null);
  const names: Name[] = [];
  let node: Node = tree;
  let at = 0;
  const word = () => words[at++] as number;
  const cut = () => {
    const start = word();
    return text.slice(start, start + word());
  };
  while (at < words.length) {
    switch (word()) {
      case STEP.name:
        names.push([cut() || null, cut()]);
        break;
      case STEP.element:
        node = node.appendChild(tree.createElementNS(...(names[word()] as Name)));
        break;
      case STEP.end:
        node = node.parentNode as Node;
        break;
      case STEP.attribute:
        (node as Element).setAttributeNS(...(names[word()] as Name), cut());
        break;
      case STEP.namespace:
        declare(node as Element, cut(), cut());
        break;
      case STEP.text:
        node.appendChild(tree.createTextNode(cut()));
        break;
      case STEP.comment:
        node.appendChild(tree.createComment(cut()));
        break;
      case STEP.instruction:
        node.appendChild(tree.createProcessingInstruction(cut(), cut()));
        break;
      case STEP.docType:
        tree.appendChild(tree.implementation.createDocumentType(cut(), cut(), cut()));
        break;
    }
  }
  return tree;
}

function declare(element: Element, prefix: string, uri: string): void {
  element.setAttributeNS(XMLNS, prefix === "" ? "xmlns" : `xmlns:${prefix}`, uri);
}
