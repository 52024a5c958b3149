// Whether every file of the program is reached, and every unit tested: what was written and not listed where it is loaded does
// nothing, and fails nothing.

import { expect, test } from 'vitest'
import { INDICATORS } from '../../src/market/indicators/index.ts'
import { SEARCH_NAMES } from '../../src/news/providers/registry.ts'
import { filesIn, importsOf, textOf } from '../support/source-tree.ts'

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

test('each source of market data has a test that imports it', () => {
  const sources = importsOf('src/market/providers/registry.ts').filter(({ isLazy, isType }) => isLazy && !isType)
  const tests = filesIn('test').filter((path) => path.endsWith('.test.ts'))
  const tested = new Set(tests.flatMap(importsOf).map(({ target }) => target))
  expect(sources.length).toBeGreaterThan(5)
  expect(sources.map(({ target }) => target).filter((path) => !tested.has(path))).toEqual([])
})

test('each source of news answers in its test, and each indicator has a series that a test names', () => {
  const news = textOf('test/unit/news/providers.test.ts')
  expect(SEARCH_NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(news))).toEqual([])
  const tests = [...filesIn('test/unit/market-indicators'), 'test/node/indicator-oracles.test.ts']
    .map(textOf)
    .join('\n')
  const isNamed = ([name, { field }]: [string, { field: string | null }]) =>
    [name, field].some((word) => word !== null && new RegExp(`\\b${word}\\b`).test(tests))
  const lines = INDICATORS.map((indicator) => Object.entries<{ field: string | null }>(indicator.lines))
  expect(lines.filter((ones) => !ones.some(isNamed)).map((ones) => ones.map(([name]) => name))).toEqual([])
})
