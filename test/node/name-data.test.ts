// The list of names as data: what the documents say it holds, and that nothing evaluates it before somebody asks for a name.

import { expect, test } from 'vitest'
import { countsTable } from '../../scripts/names/counts.ts'
import { filesIn, importsOf, textOf } from '../support/source-tree.ts'

const DATA = 'src/kits/market-names/packaged.generated.ts'

test('the document tells the counts of the packaged list', async () => {
  expect(textOf('docs/market-data.md')).toContain(await countsTable())
})

/** Every module of ours that is evaluated with these. */
function evaluatedWith(entries: readonly string[]): Set<string> {
  const reached = new Set<string>()
  const open = [...entries]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path) || !path.endsWith('.ts')) continue
    reached.add(path)
    for (const one of importsOf(path)) if (one.isOurs && !one.isType && !one.isLazy) open.push(one.target)
  }
  return reached
}

test('the Worker starts without the list of names, and one place loads it, when it is asked for a name', () => {
  const atStart = evaluatedWith(['src/index.ts'])
  expect(atStart.size).toBeGreaterThan(100)
  expect(atStart).not.toContain(DATA)
  const loaders = filesIn('src', 'durable-objects')
    .filter((path) => path.endsWith('.ts'))
    .flatMap(importsOf)
    .filter(({ target }) => target === DATA)
  expect(loaders.map(({ from, isLazy }) => [from, isLazy])).toEqual([['src/kits/market-names/packaged.ts', true]])
})

test('the conversations do not even evaluate the kit that would load it', () => {
  const entries = filesIn('src/routes/conversations', 'durable-objects/conversation').filter((path) =>
    path.endsWith('.ts'),
  )
  const reached = evaluatedWith(entries)
  expect(reached.size).toBeGreaterThan(100)
  expect([...reached].filter((path) => path.startsWith('src/kits/market-names/'))).toEqual([])
})
