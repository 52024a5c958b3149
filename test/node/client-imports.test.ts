// What the package of the client may lean on: nothing of this repository's, and no package.

import { expect, test } from 'vitest'
import { filesIn, type Import, importsOf } from '../support/source-tree.ts'

const arrow = ({ from, target }: Import) => `${from} → ${target}`

test('the client imports itself and Node, its tests besides what starts a service, and nobody imports the client', () => {
  const imports = filesIn('client')
    .filter((path) => /\.(ts|mjs)$/.test(path) && !path.startsWith('client/dist/'))
    .flatMap(importsOf)
  expect(imports.map(arrow)).toContain('client/src/index.ts → client/src/http.ts')
  const breaches = imports.filter(({ from, target, isOurs }) => {
    if (target.startsWith('node:') || target.startsWith('client/src/')) return false
    if (!from.startsWith('client/test/')) return true
    return isOurs
      ? !/^(client\/test|scripts|test\/support)\/|^src\/(config|lib\/tar)\.ts$/.test(target)
      : target !== 'vitest'
  })
  expect(breaches.map(arrow)).toEqual([])
  const users = [
    ...filesIn('src', 'durable-objects', 'scripts', 'test', 'runner').filter((path) => /\.(tsx?|m?js)$/.test(path)),
  ]
  expect(
    users
      .flatMap(importsOf)
      .filter(({ target }) => target.startsWith('client/'))
      .map(arrow),
  ).toEqual([])
})
