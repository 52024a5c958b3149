import { env } from 'cloudflare:workers'
import { expect, inject, test } from 'vitest'
import { ownerProviderTokens } from '../../src/db/provider-tokens.ts'
import { type Client, client, request } from '../helpers/app.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const host = inject('providerHost')
const PROVIDERS = {
  GITHUB_API_URL: `http://${host}/github`,
  GITLAB_API_URL: `http://${host}/gitlab`,
  BITBUCKET_API_URL: `http://${host}/bitbucket`,
  FETCH_TIMEOUT_SECONDS: '30',
}
const PRIVATE = { ALLOW_PRIVATE_NETWORK: host }

type Tokens = Record<string, unknown>

const store = (by: Client, provider_tokens: Tokens, vars: Record<string, string> = {}) =>
  request(
    '/api/add-git-providers',
    {
      method: 'POST',
      headers: { 'x-session-api-key': by.key, 'content-type': 'application/json' },
      body: JSON.stringify({ provider_tokens }),
    },
    { ...PROVIDERS, ...vars },
  )

const answerOf = async (response: Response) => [response.status, await response.json()]
const stored = [200, { message: 'Git providers stored' }]
const refused = (provider: string) => [
  401,
  { error: `Invalid token. Please make sure it is a valid ${provider} token.` },
]
const setOf = async (by: Client) => {
  const saved = await by.ask('/api/settings', { method: 'POST', body: {} })
  expect(saved.status).toBe(200)
  return (await by.json('/api/settings')).provider_tokens_set
}
const openTokens = async (by: Client) => {
  const found = await ownerProviderTokens(env, by.owner)
  return found.ok ? found.tokens : found
}

test('tokens that their providers accept are stored sealed, in order, and shown only as hosts', async () => {
  const ann = await client()
  const { github, gitlab, appPassword } = GOOD_TOKENS
  expect(await answerOf(await store(ann, { gitlab: { token: ` ${gitlab}\n`, host: '' } }))).toEqual(stored)
  const rest = { github: { token: github, host: 'github.com', user_id: '7' }, bitbucket: { token: appPassword } }
  expect(await answerOf(await store(ann, rest))).toEqual(stored)
  // Tokens alone are no settings.
  expect((await ann.ask('/api/settings')).status).toBe(404)
  expect(await setOf(ann)).toEqual({ github: null, gitlab: null, bitbucket: null })
  expect(await openTokens(ann)).toEqual([
    { provider: 'gitlab', token: gitlab, host: null, userId: null },
    { provider: 'github', token: github, host: null, userId: '7' },
    { provider: 'bitbucket', token: appPassword, host: null, userId: null },
  ])
  const { results } = await env.DB.prepare('SELECT * FROM provider_tokens').all()
  for (const token of Object.values(GOOD_TOKENS)) expect(JSON.stringify(results)).not.toContain(token)

  // What the web client sends when only one of the three was touched.
  const untouched = { token: '', host: '' }
  const one = { github: untouched, gitlab: untouched, bitbucket: { token: GOOD_TOKENS.bitbucket, host: '' } }
  expect(await answerOf(await store(ann, one))).toEqual(stored)
  expect(await answerOf(await store(ann, {}))).toEqual(stored)
  expect(await openTokens(ann)).toMatchObject([{ token: gitlab }, { token: github }, { token: GOOD_TOKENS.bitbucket }])
  expect(await openTokens(await client())).toEqual([])

  const unset = [200, { message: 'Unset Git provider tokens' }]
  await ann.ask('/api/secrets', { method: 'POST', body: { name: 'KEPT', value: 'x' } })
  for (let i = 0; i < 2; i++) {
    expect(await answerOf(await ann.ask('/api/unset-provider-tokens', { method: 'POST' }))).toEqual(unset)
    expect(await setOf(ann)).toEqual({})
  }
  expect(await ann.json('/api/secrets')).toEqual({ custom_secrets: [{ name: 'KEPT', description: '' }] })
})

test('one bad token refuses the whole request: nothing of it is stored, and the answer does not show it', async () => {
  const ann = await client()
  const good = { gitlab: { token: GOOD_TOKENS.gitlab } }
  const bad: [string, string][] = [
    ['github', 'ghp_canary_wrong'],
    ['github', GOOD_TOKENS.gitlab],
    ['bitbucket', 'ann:wrong-canary'],
    ['bitbucket', GOOD_TOKENS.github],
    ['github', 'line\nbreak'],
    ['github', '令牌'],
    ['enterprise_sso', 'anything'],
  ]
  for (const [provider, token] of bad) {
    const response = await store(ann, { ...good, [provider]: { token } })
    expect([token, ...(await answerOf(response))]).toEqual([token, ...refused(provider)])
  }
  expect(await openTokens(ann)).toEqual([])
})

test('a provider that cannot be asked is a 502 that says why, and nothing is stored', async () => {
  const ann = await client()
  const both = { github: { token: GOOD_TOKENS.github }, gitlab: { token: GOOD_TOKENS.gitlab } }
  const troubles: [path: string, why: RegExp][] = [
    ['/down', /it answered HTTP 503$/],
    ['/page', /what answered is no gitlab API$/],
    ['/nowhere', /what answered is no gitlab API$/],
    ['/huge', /it answered HTTP 200$|it cannot be reached$/],
    ['/silent', /it did not answer in time$/],
  ]
  for (const [path, why] of troubles) {
    const vars = { GITLAB_API_URL: `http://${host}${path}`, ...(path === '/silent' && { FETCH_TIMEOUT_SECONDS: '1' }) }
    const response = await store(ann, both, vars)
    expect([path, ...(await answerOf(response))]).toEqual([path, 502, { error: expect.stringMatching(why) }])
  }
  const quota = await store(ann, { github: { token: 'ghp_overquota' } })
  expect(await answerOf(quota)).toEqual([
    502,
    { error: 'The github token could not be checked: it is asked too often just now' },
  ])
  expect(await openTokens(ann)).toEqual([])
})

test('a host of their own is asked through the guarded door, kept, and gets a stored token only after accepting it', async () => {
  const ann = await client()
  const { github, gitlab } = GOOD_TOKENS
  const own = `http://${host}`
  const inside = await store(ann, { gitlab: { token: gitlab, host: own } }, { ALLOW_PRIVATE_NETWORK: '' })
  expect(await answerOf(inside)).toEqual([502, { error: expect.stringMatching(/The address is refused/) }])
  expect(await answerOf(await store(ann, { gitlab: { token: gitlab, host: own } }, PRIVATE))).toEqual(stored)
  expect(await answerOf(await store(ann, { github: { token: github } }))).toEqual(stored)
  expect(await setOf(ann)).toEqual({ gitlab: own, github: null })

  // An empty token keeps the stored one; a named host is new, and is asked first.
  expect(await answerOf(await store(ann, { github: { token: '', host: `${own}/` } }, PRIVATE))).toEqual(stored)
  expect(await setOf(ann)).toEqual({ gitlab: own, github: own })
  await store(ann, { gitlab: { token: '', host: '' }, github: { token: null, host: null } })
  expect(await setOf(ann)).toEqual({ gitlab: own, github: own })
  const wrong = await store(
    ann,
    { gitlab: { token: '', host: 'gitlab.com' } },
    { GITLAB_API_URL: `http://${host}/bitbucket` },
  )
  expect(await answerOf(wrong)).toEqual(refused('gitlab'))
  expect(await answerOf(await store(ann, { gitlab: { token: '', host: 'GitLab.com' } }))).toEqual(stored)
  expect(await setOf(ann)).toEqual({ gitlab: null, github: own })
  expect(await openTokens(ann)).toMatchObject([{ token: gitlab }, { token: github }])
  // Nothing is stored of a provider that has no token.
  expect(await answerOf(await store(ann, { bitbucket: { token: '', host: 'bb.example.com' } }))).toEqual(stored)
  expect(await openTokens(ann)).toHaveLength(2)
})

test('unknown providers, wrong shapes and hosts that are none are named, and no token is shown', async () => {
  const ann = await client()
  const canary = 'ghp_canary_5e1b'
  const unknown = await store(ann, { gitea: { token: canary }, github: { token: canary } })
  const text = await unknown.text()
  expect([unknown.status, text.includes(canary)]).toEqual([422, false])
  const expected = "'github', 'gitlab', 'bitbucket' or 'enterprise_sso'"
  expect(JSON.parse(text)).toEqual({
    detail: [
      {
        type: 'enum',
        loc: ['body', 'provider_tokens', 'gitea', '[key]'],
        msg: `Input should be ${expected}`,
        input: 'gitea',
        ctx: { expected },
      },
    ],
  })
  const shapes: unknown[] = [
    { github: canary },
    { github: { token: { token: canary } } },
    { github: { token: canary, host: 5 } },
    { github: { token: canary, user_id: 'x'.repeat(256) } },
    { github: [canary] },
    [canary],
    canary,
    null,
  ]
  for (const tokens of shapes) {
    const response = await store(ann, tokens as Tokens)
    expect([tokens, response.status, (await response.text()).includes(canary)]).toEqual([tokens, 422, false])
  }
  const hosts = [
    'http://',
    'ftp://git.example.com',
    'git.example.com/path',
    'user@git.example.com',
    'git.example.com:99999',
    'git example.com',
    'git.example.com?x=1',
    'git.example.com#x',
    '-.example',
  ]
  for (const bad of hosts) {
    const response = await store(ann, { gitlab: { token: canary, host: bad } })
    const { detail } = await response.json<{ detail: { type: string; loc: string[]; input: unknown }[] }>()
    expect([bad, response.status, detail.map(({ type, loc }) => [type, loc.join('.')])]).toEqual([
      bad,
      422,
      [['value_error', 'body.provider_tokens.gitlab.host']],
    ])
  }
  expect(await openTokens(ann)).toEqual([])
})

test('a tampered token is told when it is needed, and unsetting gets rid of it', async () => {
  const ann = await client()
  await store(ann, { github: { token: GOOD_TOKENS.github } })
  await env.DB.prepare("UPDATE provider_tokens SET token = token || 'A' WHERE owner = ?").bind(ann.owner).run()
  expect(await openTokens(ann)).toMatchObject({ ok: false, unreadable: ['github'] })
  expect(await setOf(ann)).toEqual({ github: null })
  const moved = await store(ann, { github: { token: '', host: 'git.example.com' } })
  expect(await answerOf(moved)).toEqual([500, { error: expect.stringMatching(/cannot be opened: github\./) }])
  expect((await ann.ask('/api/unset-provider-tokens', { method: 'POST' })).status).toBe(200)
  expect(await openTokens(ann)).toEqual([])
})
