// Whether every file of the program is reached: one that was written and not listed where it is loaded does nothing, and fails nothing.

import { expect, test } from 'vitest'
import { filesIn, importsOf } from '../support/source-tree.ts'

/** What is started, and what a build takes; the program's runtime begins with `run.ts`. */
const ENTRIES = [
  'client/src/cli/main.ts',
  'runner/src/main.ts',
  'src/containers.ts',
  'src/index.ts',
  'src/kits/node-program/runtime/run.ts',
  'src/web/docs.tsx',
  'src/web/main.tsx',
  'src/web/vite.config.ts',
]

test('a file that nobody imports is an entry: a route, a tool or a command has its line in the list that loads it', () => {
  const sources = filesIn('src', 'durable-objects', 'runner/src', 'client/src').filter((path) =>
    /(?<!\.d)\.tsx?$/.test(path),
  )
  const imported = new Set(sources.flatMap(importsOf).map(({ target }) => target))
  expect(ENTRIES.filter((path) => !sources.includes(path))).toEqual([])
  expect(sources.filter((path) => !imported.has(path) && !ENTRIES.includes(path))).toEqual([])
})
