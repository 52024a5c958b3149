import { TrieRouter } from 'hono/router/trie-router'
import { expect, test } from 'vitest'
import { app } from '../../../src/app.ts'
import { RememberingRouter } from '../../../src/http/remembering-router.ts'

const ROUTES = [...new Map(app.routes.map((route) => [`${route.method} ${route.path}`, route])).values()]

function both(): { remembering: RememberingRouter<number>; trie: TrieRouter<number> } {
  const [remembering, trie] = [new RememberingRouter<number>(), new TrieRouter<number>()]
  for (const [place, { method, path }] of ROUTES.entries()) {
    remembering.add(method, path, place)
    trie.add(method, path, place)
  }
  return { remembering, trie }
}

/** Every path of the service with values in it, and what no route has. */
const PATHS = [
  ...ROUTES.flatMap(({ path }) =>
    ['a', 'b%2Fc', '..', 'events'].map((value) => path.replace(/:\w+(\{\.\+\})?/g, value)),
  ),
  ...['/', '//', '/api', '/api//conversations', '/nothing', `/api/${'x'.repeat(3_000)}`],
]

test('a path finds the same routes and values the first time and every other', () => {
  expect(ROUTES.length).toBeGreaterThan(200)
  const { remembering, trie } = both()
  for (let time = 0; time < 3; time++) {
    for (const path of PATHS)
      for (const method of ['GET', 'POST', 'DELETE', 'TRACE'])
        expect([path, remembering.match(method, path)]).toEqual([path, trie.match(method, path)])
  }
})

test('a route that is added later counts for paths that were asked before', () => {
  const router = new RememberingRouter<string>()
  router.add('GET', '/a', 'first')
  expect(router.match('GET', '/b')).toEqual([[]])
  router.add('GET', '/b', 'second')
  expect(router.match('GET', '/b')).toEqual([[['second', {}]]])
})

test('any number of paths is found, and none of them is mixed up', () => {
  const { remembering, trie } = both()
  for (let at = 0; at < 10_000; at++) {
    const path = `/api/conversations/c${at}`
    if (at % 500 === 0) expect(remembering.match('GET', path)).toEqual(trie.match('GET', path))
    else remembering.match('GET', path)
  }
  expect(remembering.match('GET', '/api/conversations/c1')).toEqual(trie.match('GET', '/api/conversations/c1'))
})
