// Runs in every test file of the run that finds out which functions a test file calls.

import { afterAll, beforeAll } from 'vitest'

const scope = globalThis as { __marks?: Uint8Array; __loaded?: string }

function called(): string {
  const marks = scope.__marks ?? new Uint8Array(0)
  return [...marks.entries()]
    .filter(([, mark]) => mark === 1)
    .map(([index]) => index)
    .join(' ')
}

beforeAll(() => {
  // Code that ran before the first test ran because modules were loaded.
  scope.__loaded ??= called()
  scope.__marks?.fill(0)
})

// biome-ignore lint/correctness/noEmptyPattern: vitest wants a destructuring pattern here, even for nothing.
afterAll(({}, suite) => {
  if (!('filepath' in suite)) throw new Error('the hook of a whole file got something else')
  Object.assign(suite.meta, { called: called(), loaded: scope.__loaded })
})
