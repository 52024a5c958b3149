import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { REFERENCE_DIRECTORY } from '../../src/agent/microagents.ts'
import { askedWith, withTokens } from '../helpers/git-accounts.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const fresh = (provider: 'github' | 'gitlab' | 'bitbucket', behaviour = '') => ({
  provider,
  token: `${GOOD_TOKENS[provider]}-${crypto.randomUUID().slice(0, 8)}${behaviour && `-${behaviour}`}`,
})

type Branch = { name: string; commit_sha: string; protected: boolean; last_push_date: string | null }
type Listed = { name: string; path: string; created_at: string }

test('branches of all pages come with main first, then the last pushed, those of unknown date at the end', async () => {
  const github = fresh('github')
  const ann = await withTokens(github)
  const { status, body } = await ann.user<Branch[]>('repository/branches?repository=ann/tools')
  expect([status, body.length]).toEqual([200, 130])
  expect([body[0]?.name, body[1]?.name, body.at(-2)?.name, body.at(-1)?.name]).toEqual([
    'main',
    'topic-126',
    'old',
    'undated',
  ])
  expect(body[0]).toEqual({
    name: 'main',
    commit_sha: 'c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc',
    protected: true,
    last_push_date: '2025-01-01T00:00:00.000Z',
  })
  expect(body.at(-1)?.last_push_date).toBeNull()
  expect((await askedWith(github.token)).filter((line) => line.startsWith('GET'))).toEqual([
    'GET /github/repos/ann/tools/branches?per_page=100&page=1 200',
    'GET /github/repos/ann/tools/branches?per_page=100&page=2 200',
  ])
  expect((await ann.user('repository/branches?repository=ann/unknown')).body).toEqual([])
  expect((await ann.user('repository/branches?repository=github.com/ann/tools')).body).toEqual(body)
  for (const name of ['tools', 'ann/../tools', 'ann/tools?x', '/ann/tools', 'ann//tools', '']) {
    const refused = await ann.user(`repository/branches?repository=${encodeURIComponent(name)}`)
    expect([name, refused.status]).toEqual([name, 422])
  }
})

test('branches without their dates are still a list, and the next provider is asked when the first has none', async () => {
  const dateless = await withTokens(fresh('github', 'graphql-quota'))
  const { body } = await dateless.user<Branch[]>('repository/branches?repository=ann/tools')
  expect([body.length, body[0]?.name, new Set(body.map(({ last_push_date }) => last_push_date))]).toEqual([
    130,
    'main',
    new Set([null]),
  ])
  const lab = await withTokens(fresh('bitbucket'), fresh('gitlab'))
  expect((await lab.user('repository/branches?repository=group/deeper/tools')).body).toEqual([
    {
      name: 'master',
      commit_sha: '7b5c3cc8be40ee161ae89a06bba6229da1032a0c',
      protected: true,
      last_push_date: '2025-06-28T03:44:20-07:00',
    },
    expect.objectContaining({ name: 'develop' }),
  ])
  const bucket = await withTokens(fresh('bitbucket'))
  expect((await bucket.user<Branch[]>('repository/branches?repository=example/tools')).body).toEqual([
    { name: 'main', commit_sha: 'f6b7d5e0c8a94c1a', protected: false, last_push_date: '2025-03-01T10:00:00+00:00' },
    expect.objectContaining({ name: 'develop' }),
  ])
  const broken = await withTokens(fresh('github', 'down'), fresh('gitlab', 'revoked'))
  const failed = await broken.user('repository/branches?repository=ann/tools')
  expect([failed.status, failed.body]).toEqual([502, expect.stringMatching(/^github: .*503; gitlab: /)])
})

const list = (body: Listed[]) => body.map(({ name, path }) => `${name} ${path}`)
const OWN = '.bellwether/microagents'

test('microagents are those of both hidden directories, the rules first, on each provider', async () => {
  const one = [
    'cursorrules .cursorrules',
    `deploy ${OWN}/deploy.md`,
    `broken ${OWN}/broken.md`,
    `legacy ${REFERENCE_DIRECTORY}/microagents/legacy.md`,
  ]
  const deep = [...one.slice(0, 3), `inner ${OWN}/deep/inner.md`, ...one.slice(3)]
  for (const [provider, expected] of [
    ['github', one],
    ['gitlab', deep],
    ['bitbucket', one],
  ] as const) {
    const ann = await withTokens(fresh(provider))
    const { status, body } = await ann.user<Listed[]>('repository/example/tools/microagents')
    expect([provider, status, list(body)]).toEqual([provider, 200, expected])
    expect(body[0]?.created_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    expect((await ann.user('repository/example%2Ftools/microagents')).body).toMatchObject(
      body.map(({ name, path }) => ({ name, path })),
    )
    for (const special of [
      '.bellwether',
      'bellwether-config',
      REFERENCE_DIRECTORY,
      `${REFERENCE_DIRECTORY.slice(1)}-config`,
    ]) {
      const { body: own } = await ann.user<Listed[]>(`repository/example/${special}/microagents`)
      expect([special, list(own)]).toEqual([special, ['owner microagents/owner.md']])
    }
    expect((await ann.user('repository/example/bare/microagents')).body).toEqual([])
  }
})

test('the content of a microagent comes without its front matter; what is none is not found', async () => {
  for (const provider of ['github', 'gitlab', 'bitbucket'] as const) {
    const ann = await withTokens(fresh(provider))
    const content = (path: string) =>
      ann.user(`repository/example/tools/microagents/content?file_path=${encodeURIComponent(path)}`)
    expect((await content(`${OWN}/deploy.md`)).body).toEqual({
      content: 'Deployments go through `make release`.',
      path: `${OWN}/deploy.md`,
      triggers: ['deploy'],
      git_provider: provider,
    })
    expect((await content('.cursorrules')).body).toMatchObject({ content: 'Use tabs.', triggers: [] })
    for (const path of [`${OWN}/none.md`, `${OWN}/broken.md`, '../secret.md', '/etc/passwd', OWN]) {
      const { status, body } = await content(path)
      expect([path, status, body]).toEqual([path, 404, `Microagent file ${path} not found in example/tools`])
    }
    // A name of two lines is a wrong name, not an address that is not there.
    expect((await ann.user('repository/example/%0D%0Ax/microagents/content?file_path=a.md')).status).toBe(422)
    const missing = await ann.user<{ detail: { loc: string[] }[] }>('repository/example/tools/microagents/content')
    expect([missing.status, missing.body.detail[0]?.loc]).toEqual([422, ['query', 'file_path']])
  }
})

test('without a token public repositories are read as nobody; where that fails the list is empty and says why', async () => {
  const nobody = await withTokens()
  const { body } = await nobody.user<Listed[]>('repository/example/tools/microagents')
  expect(list(body)).toContain(`deploy ${OWN}/deploy.md`)
  const dead = {
    GITHUB_API_URL: 'http://127.0.0.1:9',
    GITLAB_API_URL: 'http://127.0.0.1:9',
    BITBUCKET_API_URL: 'http://127.0.0.1:9',
  }
  const alone = await nobody.user('repository/example/tools/microagents', dead)
  expect([alone.status, alone.body, alone.headers.get('x-provider-errors')]).toEqual([
    200,
    [],
    'github=unreachable, gitlab=unreachable, bitbucket=unreachable',
  ])
  const content = await nobody.user('repository/example/tools/microagents/content?file_path=a.md', dead)
  expect([content.status, content.body]).toEqual([404, 'Microagent file a.md not found in example/tools'])
  const broken = await withTokens(fresh('gitlab', 'down'))
  expect((await broken.user('repository/example/tools/microagents')).status).toBe(502)
})

test('a question that was just asked is answered from what is kept, for that token alone', async () => {
  const first = fresh('github')
  const ann = await withTokens(first)
  const path = 'repositories?selected_provider=github&page=1&per_page=10'
  const before = await ann.user(path)
  expect((await ann.user(path)).body).toEqual(before.body)
  expect((await askedWith(first.token)).length).toBe(1)
  const second = fresh('github')
  await (await withTokens(second)).user(path)
  expect((await askedWith(second.token)).length).toBe(1)
  // A token that can no longer be opened is told, not worked around.
  await env.DB.prepare(`UPDATE provider_tokens SET token = 'x' || token WHERE owner = ?`).bind(ann.owner).run()
  const { status, body } = await ann.user<string>('info')
  expect([status, body]).toEqual([503, expect.stringMatching(/^Stored tokens cannot be opened: github/)])
})
