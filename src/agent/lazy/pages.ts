// The one place that loads what pages are read with.

import { createDocument } from '@mixmark-io/domino'

// Lists of nodes can be walked with `for … of` in every browser, and the reader does so; those of this library cannot.
const { body } = createDocument('<p>')
for (const list of [body?.querySelectorAll('p'), body?.querySelectorAll('p, a'), body?.childNodes, body?.children]) {
  const prototype: unknown = Object.getPrototypeOf(list ?? [])
  if (typeof prototype === 'object' && prototype !== null && !(Symbol.iterator in prototype)) {
    Object.defineProperty(prototype, Symbol.iterator, { value: Array.prototype[Symbol.iterator] })
  }
}

export { createDocument } from '@mixmark-io/domino'
export { Readability } from '@mozilla/readability'
export { default as TurndownService } from 'turndown'
