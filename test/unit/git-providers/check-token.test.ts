import { expect, test } from 'vitest'
import { apiUrlOf, readHost } from '../../../src/git-providers/addresses.ts'
import { checkToken } from '../../../src/git-providers/check-token.ts'
import { CLOSED } from '../../helpers/policies.ts'

const urls = { github: 'http://hub.test', gitlab: 'http://lab.test/v4', bitbucket: 'http://bucket.test/2.0' }

/** Checks a token against a provider that gives this answer, and tells what it was asked. */
async function ask(provider: string, token: string, answer: () => Response) {
  const asked: { url: string; headers: Record<string, string> }[] = []
  const fetch = async (url: string, { headers }: RequestInit) => {
    asked.push({ url, headers: headers as Record<string, string> })
    return answer()
  }
  const options = { urls, door: { policy: CLOSED }, timeoutMs: 30_000, fetch }
  return { verdict: await checkToken({ provider, token, host: null }, options), asked }
}

test('each provider is asked its own question, with the token in the form that it takes', async () => {
  const cases = [
    ['github', 'ghp_x', 'http://hub.test/', 'Bearer ghp_x', { current_user_url: 'u' }],
    ['gitlab', 'glpat-x', 'http://lab.test/v4/user', 'Bearer glpat-x', { id: 1 }],
    ['bitbucket', 'plain', 'http://bucket.test/2.0/user', 'Bearer plain', { uuid: '{1}' }],
    ['bitbucket', 'ann:pass', 'http://bucket.test/2.0/user', `Basic ${btoa('ann:pass')}`, { uuid: '{1}' }],
  ] as const
  for (const [provider, token, url, authorization, answer] of cases) {
    const { verdict, asked } = await ask(provider, token, () => Response.json(answer))
    expect([provider, verdict, asked]).toEqual([
      provider,
      { ok: true },
      [{ url, headers: { accept: 'application/json', 'user-agent': 'bellwether', authorization } }],
    ])
  }
})

test('only a provider that says no makes a token bad; trouble on the way does not', async () => {
  const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    Response.json(body, { status, headers })
  const unreachable = (detail: string) => ({ ok: false, reason: 'unreachable', detail })
  const bad = { ok: false, reason: 'invalid' }
  const cases: [() => Response, unknown][] = [
    [() => json(401, { message: 'Bad credentials' }), bad],
    [() => json(403, { message: 'Resource not accessible' }), bad],
    [() => json(403, {}, { 'x-ratelimit-remaining': '0' }), unreachable('it is asked too often just now')],
    [() => json(403, {}, { 'retry-after': '60' }), unreachable('it is asked too often just now')],
    [() => json(404, {}), unreachable('what answered is no github API')],
    [() => json(200, { id: 1 }), unreachable('what answered is no github API')],
    [() => json(200, null), unreachable('what answered is no github API')],
    [() => new Response('<html>'), unreachable('what answered is no github API')],
    [() => json(500, {}, { 'retry-after': '0' }), unreachable('it answered HTTP 500')],
    [
      () => {
        throw new Error('connection refused')
      },
      unreachable('it cannot be reached'),
    ],
  ]
  for (const [answer, expected] of cases) expect((await ask('github', 'ghp_x', answer)).verdict).toEqual(expected)
  for (const [provider, token] of [
    ['enterprise_sso', 'x'],
    ['github', 'a\r\nb: c'],
    ['github', ''],
  ] as const) {
    const { verdict, asked } = await ask(provider, token, () => Response.json({}))
    expect([verdict, asked]).toEqual([bad, []])
  }
})

test('a host is read as people write it, and leads to where each provider keeps its API', () => {
  const read = (provider: string, text: string) => {
    const verdict = readHost(provider, text)
    return verdict.ok ? [verdict.host, apiUrlOf(provider, verdict.host, urls)] : verdict.reason
  }
  expect(read('github', 'github.com')).toEqual([null, urls.github])
  expect(read('gitlab', 'https://GITLAB.com/')).toEqual([null, urls.gitlab])
  expect(read('github', ' git.corp.example ')).toEqual(['git.corp.example', 'https://git.corp.example/api/v3'])
  expect(read('gitlab', 'https://lab.example:8443')).toEqual(['lab.example:8443', 'https://lab.example:8443/api/v4'])
  expect(read('gitlab', 'http://lab.example')).toEqual(['http://lab.example', 'http://lab.example/api/v4'])
  expect(read('bitbucket', 'bb.example')).toEqual(['bb.example', 'https://api.bb.example/2.0'])
  for (const text of ['', 'a b', 'a/b', 'u@h', 'h:0', 'h:99999', 'javascript:x', '//h', 'h?x', 'h\\x', '.h', 'h.-']) {
    expect([text, read('gitlab', text)]).toEqual([text, expect.stringMatching(/^a host is a name/)])
  }
})
