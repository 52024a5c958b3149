// The one place that loads the libraries that read web pages.

import { createDocument } from '@mixmark-io/domino'

// Readability iterates node lists with `for … of`, as browsers allow; the lists of this library lack that, so it is
// added.
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
