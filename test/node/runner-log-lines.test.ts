import { expect, test } from 'vitest'
import { filesIn, textOf } from '../support/source-tree.ts'

test('every line of a runner’s log that its document explains is one that a runner writes', () => {
  const sources = filesIn('runner/src').filter((path) => path.endsWith('.ts'))
  const written = new Set(
    sources.flatMap((path) =>
      [...textOf(path).matchAll(/\blog(?:ToStderr)?\(\s*'([a-z_.]+)'/g)].map(([, name]) => name),
    ),
  )
  const [, table = ''] = textOf('docs/runners.md').split('| line | what it means |')
  const rows = table.slice(0, table.indexOf('\n\n')).split('\n')
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name),
  )
  expect(explained.length).toBeGreaterThan(10)
  expect(explained.filter((name) => !written.has(name))).toEqual([])
})
