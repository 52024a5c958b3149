// What a file exports is used outside of it. Otherwise it is either a detail of the file, or nobody needs it at all; and what is
// exported is never told to be unused by the compiler or the linter.

import { expect, test } from 'vitest'
import { filesIn, textOf } from '../support/source-tree.ts'

const PRODUCTION = ['src', 'durable-objects', 'runner/src', 'client/src', 'scripts']
const VALUE = /^export (?:abstract )?(?:async )?(?:const|let|function\*?|class) ([A-Za-z_$][\w$]*)/gm
const WORD = /[A-Za-z_$][\w$]*/g

const isCode = (path: string) => /\.(tsx?|mjs)$/.test(path) && !/\.d\.ts$|\.generated\.ts$/.test(path)
const files = filesIn(...PRODUCTION, 'test', 'runner/test', 'client/test').filter(isCode)
const usersOf = new Map<string, Set<string>>()
for (const path of files) {
  for (const [word] of textOf(path).matchAll(WORD)) {
    const users = usersOf.get(word) ?? new Set()
    usersOf.set(word, users.add(path))
  }
}

test('every exported value is named in another file', () => {
  const exported = files
    .filter((path) => PRODUCTION.some((folder) => path.startsWith(`${folder}/`)))
    .flatMap((path) => [...textOf(path).matchAll(VALUE)].map(([, name = '']) => ({ path, name })))
  expect(exported.length).toBeGreaterThan(3000)
  const alone = exported.filter(({ name }) => usersOf.get(name)?.size === 1)
  expect(alone.map(({ path, name }) => `${path} ${name}`)).toEqual([])
})
