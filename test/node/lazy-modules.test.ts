import { expect, test } from 'vitest'
import { filesIn, importsOf } from '../support/source-tree.ts'

/** What they name is loaded by asking them. */
const REGISTRIES = ['src/market/providers/registry.ts', 'src/news/providers/registry.ts']

test('every module that the Worker loads when it is needed is ready before a test of it begins', () => {
  const sources = filesIn('src', 'durable-objects').filter(
    (path) => /(?<!\.d)\.ts$/.test(path) && !path.startsWith('src/web/'),
  )
  const lazy = sources
    .filter((path) => !REGISTRIES.includes(path))
    .flatMap(importsOf)
    .filter(({ isLazy, isType, isOurs }) => isLazy && isOurs && !isType)
  const prepared = importsOf('test/helpers/lazy-modules.ts').map(({ target }) => target)
  expect(lazy.length).toBeGreaterThan(0)
  expect(prepared.toSorted()).toEqual([...new Set([...lazy.map(({ target }) => target), ...REGISTRIES])].sort())
})
