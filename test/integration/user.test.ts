import { expect, inject, test } from 'vitest'
import { askedWith, withTokens } from '../helpers/git-accounts.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const host = inject('providerHost')

/** A token that no other test has, so that nothing kept from another test answers. */
const fresh = (provider: 'github' | 'gitlab' | 'bitbucket', behaviour = '') => ({
  provider,
  token: `${GOOD_TOKENS[provider]}-${crypto.randomUUID().slice(0, 8)}${behaviour && `-${behaviour}`}`,
})

type Repository = Record<string, unknown> & { full_name: string; link_header: string | null; git_provider: string }
const names = (repositories: Repository[]) => repositories.map(({ full_name }) => full_name)
const NEXT = /<.*[?&]page=(\d+).*>; rel="next"/

test('without a token every question is refused in the words that clients show', async () => {
  const nobody = await withTokens()
  const asked = async (path: string) => {
    const { status, body } = await nobody.user(path)
    return [status, body]
  }
  const required = [401, 'Git provider token required. (such as GitHub).']
  expect(await asked('info')).toEqual(required)
  expect(await asked('repositories')).toEqual(required)
  expect(await asked('installations?provider=github')).toEqual(required)
  expect(await asked('repository/branches?repository=a/b')).toEqual(required)
  expect(await asked('search/repositories?query=x')).toEqual([401, 'Git provider token required.'])
  expect(await asked('suggested-tasks')).toEqual([401, 'No providers set.'])
  const ann = await withTokens(fresh('github'))
  const other = await ann.user('repositories?selected_provider=gitlab')
  expect([other.status, other.body]).toEqual([401, 'No gitlab token is stored.'])
  const none = await ann.user('installations?provider=gitlab')
  expect([none.status, none.body]).toEqual([400, "Provider gitlab doesn't support installations"])
})

test('GitHub lists its repositories page by page, each item with the header that leads to the next page', async () => {
  const github = fresh('github')
  const ann = await withTokens(github)
  const listed: Repository[] = []
  for (let page: string | undefined = '1'; page !== undefined; ) {
    const query: string = `selected_provider=github&sort=pushed&page=${page}&per_page=100`
    const { status, body } = await ann.user<Repository[]>(`repositories?${query}`)
    expect(status).toBe(200)
    expect(new Set(body.map(({ link_header }) => link_header)).size).toBe(1)
    listed.push(...body)
    page = NEXT.exec(body[0]?.link_header ?? '')?.[1]
  }
  expect(new Set(names(listed)).size).toBe(250)
  expect(listed[0]).toEqual({
    id: '1000',
    full_name: 'ann/repo-0',
    git_provider: 'github',
    is_public: false,
    stargazers_count: 80,
    link_header: expect.stringMatching(NEXT),
    pushed_at: null,
    owner_type: 'user',
    main_branch: null,
  })
  expect(listed[1]).toMatchObject({ is_public: true, owner_type: 'organization' })
  expect(await askedWith(github.token)).toContain(
    'GET /github/user/repos?sort=pushed&direction=desc&per_page=100&page=2 200',
  )
  const usual = await ann.user<Repository[]>('repositories?selected_provider=github')
  expect(usual.body.length).toBe(30)
  const all = await ann.user<Repository[]>('repositories')
  expect([all.body.length, all.body[0]?.link_header]).toEqual([250, null])
  const installed = await ann.user<Repository[]>('repositories?selected_provider=github&installation_id=25381')
  expect(names(installed.body)).toEqual(['ann/tools'])
  expect((await ann.user('installations?provider=github')).body).toEqual(['25381'])
  expect((await ann.user('repositories?page=0')).status).toBe(422)
})

test('GitLab and Bitbucket list theirs, and the lists of all are merged by time and sliced', async () => {
  const ann = await withTokens(fresh('gitlab'), fresh('bitbucket'))
  const lab = await ann.user<Repository[]>('repositories?selected_provider=gitlab&page=1&per_page=30')
  expect([lab.body.length, NEXT.exec(lab.body[0]?.link_header ?? '')?.[1]]).toEqual([30, '2'])
  expect(lab.body[1]).toMatchObject({ full_name: 'example/platform/project-1', is_public: true })
  const end = await ann.user<Repository[]>('repositories?selected_provider=gitlab&page=2&per_page=30')
  expect([end.body.length, NEXT.test(end.body[0]?.link_header ?? '')]).toEqual([15, false])
  expect((await ann.user('installations?provider=bitbucket')).body).toEqual(['example', 'ann'])
  const workspace = 'repositories?selected_provider=bitbucket&installation_id=example&per_page=30'
  const first = await ann.user<Repository[]>(`${workspace}&page=1`)
  expect([first.body.length, NEXT.exec(first.body[29]?.link_header ?? '')?.[1]]).toEqual([30, '2'])
  expect(first.body[0]).toMatchObject({
    id: '{example-0}',
    stargazers_count: null,
    owner_type: 'organization',
    main_branch: 'release/main',
    pushed_at: expect.any(String),
  })
  const rest = await ann.user<Repository[]>(`${workspace}&page=2`)
  expect([rest.body.length, rest.body[0]?.link_header]).toEqual([5, ''])
  // Without a workspace: all of them, in one order.
  const both = await ann.user<Repository[]>('repositories?selected_provider=bitbucket&page=1&per_page=4')
  expect(names(both.body)).toEqual(['example/repo-0', 'ann/repo-0', 'example/repo-1', 'ann/repo-1'])
  expect(both.body[0]?.link_header).toMatch(NEXT)
  const merged = await ann.user<Repository[]>('repositories')
  expect(merged.body.length).toBe(45 + 38)
  expect(merged.body.slice(0, 2).map(({ git_provider }) => git_provider)).toEqual(['gitlab', 'gitlab'])
  const sliced = await ann.user<Repository[]>('repositories?page=2&per_page=50')
  expect(names(sliced.body)).toEqual(names(merged.body).slice(50))
  expect(sliced.body[0]?.link_header).toBe('')
})

test('the user is the one of the first provider that answers', async () => {
  const hub = await withTokens(fresh('github'), fresh('gitlab'))
  expect((await hub.user('info')).body).toEqual({
    id: '1',
    login: 'ann',
    avatar_url: 'https://avatars.example.test/u/1?v=4',
    company: 'Example',
    name: 'Ann Example',
    email: null,
  })
  const lab = await withTokens(fresh('github', 'revoked'), fresh('gitlab'))
  const { status, body, headers } = await lab.user('info')
  expect([status, headers.get('x-provider-errors')]).toEqual([200, 'github=unauthorized'])
  expect(body).toMatchObject({ login: 'ann', company: null, email: 'ann@example.test' })
  const bucket = await withTokens({ provider: 'bitbucket', token: GOOD_TOKENS.appPassword })
  expect((await bucket.user('info')).body).toMatchObject({ id: '557058:ann', login: 'ann', name: 'Ann Example' })
  const nobody = await withTokens(fresh('github', 'revoked'), fresh('gitlab', 'revoked'))
  const refused = await nobody.user('info')
  expect([refused.status, refused.body]).toEqual([401, 'Need valid provider token'])
})

test('a search reads an address, an owner with a name, and words, at each provider in its own way', async () => {
  const ann = await withTokens(fresh('github'), fresh('gitlab'), fresh('bitbucket'))
  const search = async (provider: string | null, query: string, more = '') => {
    const selected = provider === null ? '' : `&selected_provider=${provider}`
    const path = `search/repositories?query=${encodeURIComponent(query)}${selected}${more}`
    return names((await ann.user<Repository[]>(path)).body)
  }
  expect(await search('github', 'kit')).toEqual(['kit in:name user:ann|stars|desc'])
  expect(await search('github', 'bob/kit', '&sort=updated&order=asc')).toEqual(['kit in:name user:bob|updated|asc'])
  expect(await search('github', 'nobody/kit')).toEqual([])
  expect(await search(null, 'https://github.com/ann/tools/tree/main')).toEqual(['ann/tools'])
  expect(await search(null, 'https://gitlab.com/example/platform/tools/-/issues')).toEqual(['example/platform/tools'])
  expect(await search(null, 'https://bitbucket.org/example/tools.git')).toEqual(['example/tools'])
  expect(await search(null, 'https://github.com/ann/nothing')).toEqual([])
  expect(await search('gitlab', 'kit')).toEqual(['example/kit', 'kit/other'])
  expect(await search('gitlab', 'bob/kit')).toEqual(['bob/kit-kit'])
  expect(await search('bitbucket', 'repo-2')).toEqual([
    'example/repo-2',
    'ann/repo-2',
    ...['example/repo-20', 'example/repo-21', 'example/repo-22'],
  ])
  expect(await search('bitbucket', 'ann', '&per_page=2')).toEqual(['ann/repo-0', 'ann/repo-1'])
  expect(await search('bitbucket', 'example/repo-3', '&per_page=1')).toEqual(['example/repo-3'])
  // Several providers are not folded into one: the same item stands twice.
  expect((await search(null, 'kit')).slice(0, 2)).toEqual(Array(2).fill('kit in:name user:ann|stars|desc'))
})

test('suggested tasks are requests in trouble and assigned issues; what a token may not see leaves a gap', async () => {
  const ann = await withTokens(fresh('github'), fresh('gitlab'), fresh('bitbucket'))
  const { status, body } = await ann.user<Record<string, unknown>[]>('suggested-tasks')
  expect(status).toBe(200)
  const told = body.map(
    (task) => `${task.git_provider} ${task.task_type} ${task.repo}#${task.issue_number} ${task.title}`,
  )
  expect(told).toEqual([
    'github MERGE_CONFLICTS ann/tools#4 Conflicts',
    'github FAILING_CHECKS ann/tools#3 Red',
    'github UNRESOLVED_COMMENTS example/site#2 Discussed',
    'github OPEN_ISSUE example/site#7 Broken link',
    'gitlab MERGE_CONFLICTS example/platform/tools#11 Conflicts',
    'gitlab FAILING_CHECKS example/platform/tools#12 Red',
    'gitlab UNRESOLVED_COMMENTS ann/site#13 Discussed',
    'gitlab OPEN_ISSUE example/platform/tools#6 Consequatur vero maxime',
  ])
  const spent = await withTokens(fresh('github', 'graphql-quota'), fresh('gitlab'))
  const partly = await spent.user<unknown[]>('suggested-tasks')
  expect([partly.body.length, partly.headers.get('x-provider-errors')]).toEqual([4, 'github=rate-limited'])
})

/** For whoever never answers; the others are to be waited for, however slow the machine is. */
const SOON = { FETCH_TIMEOUT_SECONDS: '3' }

test('one provider that fails hides nothing of the others, and is named', async () => {
  for (const [behaviour, word] of [
    ['revoked', 'unauthorized'],
    ['quota', 'rate-limited'],
    ['down', 'failed'],
    ['silent', 'timeout'],
    ['page', 'malformed'],
    ['odd', 'malformed'],
    ['huge', 'malformed'],
  ] as const) {
    const ann = await withTokens(fresh('github', behaviour), fresh('gitlab'))
    const { status, body, headers } = await ann.user<Repository[]>('repositories', behaviour === 'silent' ? SOON : {})
    expect([behaviour, status, body.length, headers.get('x-provider-errors')]).toEqual([
      behaviour,
      200,
      45,
      `github=${word}`,
    ])
  }
})

test('suggested tasks are no empty list because those who could tell them are away', async () => {
  const asked = async (...tokens: Parameters<typeof withTokens>) => {
    const { status, body, headers } = await (await withTokens(...tokens)).user('suggested-tasks')
    return [status, body, headers.get('x-provider-errors')]
  }
  const bitbucket = fresh('bitbucket')
  expect(await asked(bitbucket)).toEqual([200, [], null])
  expect(await asked(fresh('github', 'down'), bitbucket)).toEqual([
    502,
    'github: it answered HTTP 503',
    expect.stringMatching(/^github=/),
  ])
  expect((await asked(fresh('github', 'graphql-quota'), fresh('gitlab', 'revoked'), bitbucket))[0]).toBe(502)
})

test('when all fail the answer says so, within the deadline, as a bare string', async () => {
  const fails = async (...behaviours: string[]) => {
    const families = ['github', 'gitlab', 'bitbucket'] as const
    const tokens = behaviours.map((behaviour, index) => fresh(families[index] ?? 'github', behaviour))
    const ann = await withTokens(...tokens)
    // The silent one never answers by itself: that there is an answer at all is the deadline's doing.
    const vars = behaviours.includes('silent') ? { FETCH_TIMEOUT_SECONDS: '1' } : {}
    const { status, body, headers } = await ann.user('search/repositories?query=x', vars)
    expect(JSON.stringify([body, [...headers]])).not.toMatch(/ghp_|glpat-|bb-good/)
    return [status, body, headers.get('retry-after')]
  }
  expect(await fails('revoked')).toEqual([401, 'github: it does not accept the stored token', null])
  expect(await fails('silent')).toEqual([504, 'github: it did not answer in time', null])
  expect(await fails('quota')).toEqual([502, 'github: it is asked too often just now', '60'])
  expect(await fails('odd')).toEqual([502, 'github: it answered something that cannot be read', null])
  expect(await fails('huge')).toEqual([502, 'github: it answered something that cannot be read', null])
  expect(await fails('revoked', 'down')).toEqual([
    502,
    'github: it does not accept the stored token; gitlab: it answered HTTP 503',
    '0',
  ])
})

test('a host that a user named is asked only where the operator allows its network', async () => {
  const lab = { ...fresh('gitlab'), host: `http://${host}` }
  const ann = await withTokens(lab)
  const refused = await ann.user<string>('repositories?selected_provider=gitlab', { ALLOW_PRIVATE_NETWORK: '' })
  expect([refused.status, refused.body]).toEqual([502, expect.stringMatching(/^gitlab: The address is refused/)])
  const allowed = { ALLOW_PRIVATE_NETWORK: host }
  const { status, body } = await ann.user<Repository[]>('repositories?selected_provider=gitlab', allowed)
  expect([status, body.length]).toEqual([200, 30])
  expect((await ann.user<unknown[]>('suggested-tasks', allowed)).body.length).toBe(4)
  expect(await askedWith(lab.token)).toContain('POST /api/graphql 200')
  const address = encodeURIComponent(`http://${host}/example/platform/tools`)
  const found = await ann.user<Repository[]>(`search/repositories?query=${address}`, allowed)
  expect(names(found.body)).toEqual(['example/platform/tools'])
})
