// Every way out of the service is one of a few files. A request anywhere else would pass no door.

import { expect, test } from 'vitest'
import { filesIn, textOf } from '../support/source-tree.ts'

/** Where a bare `fetch` is, and why it may be. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/lib/guarded-fetch.ts': 'the door itself',
  'src/lib/http-client.ts': 'addresses of the operator and of known providers',
  'src/web/api.ts': 'runs in the browser, and asks the service that it came from',
  'src/web/reference/request.ts': 'the same: what a person fills in on the page of the API',
}

/** Streams of the console, in the browser too. */
const IN_THE_BROWSER = /^src\/web\//

const WAYS_OUT: readonly (readonly [name: string, pattern: RegExp])[] = [
  // Called by its own name: neither a method nor the declaration of one.
  ['a call of fetch', /(?<![\w.#$'"`-]|async |function )fetch\s*(\(|\.call\b|\.apply\b|\.bind\b|\?\.\()/g],
  // Handed on as a value, not as the name of a member or of a parameter, nor as a word in brackets.
  ['fetch as a value', /(\?\?|\|\||&&|=>|[=?:]|[\w)\]>]\(|\breturn)\s*fetch\s*(?=[,);\n\]}]|$)/gm],
  ['fetch of the global object', /\b(globalThis|self|window)\s*(\.|\[\s*['"`])\s*fetch\b(?!\s*[;)>|&,\]}\n]*\btype)/g],
  ['a socket', /\bnew (WebSocket|EventSource|XMLHttpRequest|WebTransport|RTCPeerConnection)\s*\(|\bsendBeacon\s*\(/g],
  ["a runtime's own client", /from '(cloudflare:sockets|node:(https?|http2|net|tls|dgram|dns(\/promises)?))'/g],
  [
    "a library's own client",
    /from '(undici|axios|got|ky|node-fetch|isomorphic-git\/http\/[\w/-]+|socket\.io-client)'/g,
  ],
]

const FILES = filesIn('src', 'durable-objects').filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))

function waysOut(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
  // `typeof fetch` and `typeof globalThis.fetch` are types.
  const values = code.replace(/\btypeof\s+(globalThis\.)?fetch\b/g, 'FetchType')
  return WAYS_OUT.flatMap(([name, pattern]) =>
    [...values.matchAll(pattern)].map(([found]) => `${name}: ${found.trim()}`),
  )
}

test('no request leaves the service but through the door, or to an address of the operator', () => {
  const found = FILES.flatMap((path) => waysOut(textOf(path)).map((way) => ({ path, way })))
  const elsewhere = found.filter(
    ({ path, way }) => ALLOWED[path] === undefined && !(IN_THE_BROWSER.test(path) && way.startsWith('a socket')),
  )
  expect(elsewhere).toEqual([])
  // The list names nothing that has gone.
  expect(Object.keys(ALLOWED).filter((path) => !found.some((one) => one.path === path))).toEqual([])
})

test('a door says whose address is asked, and only where one is made', () => {
  const makers = FILES.filter((path) => /\b(STRANGER|typedByPerson|namedByOperator)\b/.test(textOf(path)))
  expect(makers).toEqual([
    'durable-objects/conversation/repository/git-access.ts',
    'durable-objects/conversation/repository/setup.ts',
    'src/agent/tools/browse.ts',
    'src/git-providers/addresses.ts',
    'src/kits/shell/commands/curl.ts',
    'src/lib/address-policy.ts',
    'src/lib/guarded-fetch.ts',
    'src/lib/http-client.ts',
    'src/llm/client.ts',
    'src/llm/models.ts',
    'src/mcp/remote-server.ts',
    'src/notify/send.ts',
  ])
})

test('the walk sees a way out however it is written, and does not take other things for one', () => {
  const bare = [
    "await fetch('http://x/')",
    'const f = fetch\n',
    'const ask = options.fetch ?? fetch\n',
    'const ask = (url: string) => fetch(url)',
    'return fetch(url)',
    'go({ ask: fetch })',
    'go(fetch)',
    'fetch.call(null, url)',
    'globalThis.fetch(url)',
    "self['fetch'](url)",
    'new WebSocket(url)',
    "import { connect } from 'cloudflare:sockets'",
    "import http from 'node:http'",
    "import http from 'isomorphic-git/http/web'",
  ]
  expect(bare.filter((text) => waysOut(text).length === 0)).toEqual([])
  const others = [
    'override async fetch(request: Request) {',
    'stub.fetch(url)',
    'this.#fetch()',
    'fetch?: typeof fetch',
    'type Ask = typeof globalThis.fetch',
    'const { policy, fetch, limits } = parts',
    '...(fetch && { fetch })',
    '// fetch(url)',
    '/* fetch(url) */',
    'git.line(`origin (fetch)`)',
    "['fetch', runFetch]",
    'guardedFetch(url, {}, door)',
  ]
  expect(others.flatMap(waysOut)).toEqual([])
})
