// Chooses the entries of the kits' corpora that run in every run of the suite, and writes them to
// test/fixtures/shell/sample: together they cover nearly the same code as the whole corpora.
//
//   npm run sample [-- --as-kept] [--seconds N] [--gaps]
//
// Each entry runs once in our shell, over code that leaves a mark wherever a condition, a case or a fallback goes one way or the
// other; which words of the code an entry says or hears counts as well. `--as-kept` takes the record of the last time, `--seconds`
// is what the sample may take, and `--gaps` prints the places that no entry at all reaches.
// What runs in the isolate of a program (src/kits/node-program/runtime) leaves no marks.

import { requireNode } from './node-version.mjs'

requireNode('npm run sample')
const { main } = await import('./kit-sample/main.ts')
await main(process.argv.slice(2))
