import { expect, test } from 'vitest'
import { askedWith, PROVIDERS, withTokens } from '../helpers/git-accounts.ts'
import { mcpClient } from '../helpers/mcp-client.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const BRANCHES = { source_branch: 'topic', target_branch: 'main' }
const PULL = { repo_name: 'ann/tools', ...BRANCHES, title: 'Better tools' }

const vars = PROVIDERS

test('pull and merge requests are opened with the stored token, and their numbers stand in the conversation', async () => {
  const token = `${GOOD_TOKENS.github}-${crypto.randomUUID()}`
  const { key, json } = await withTokens(
    { provider: 'github', token },
    { provider: 'gitlab', token: GOOD_TOKENS.gitlab },
    { provider: 'bitbucket', token: GOOD_TOKENS.bitbucket },
  )
  const { conversation_id } = await json<{ conversation_id: string }>('/api/conversations', {
    method: 'POST',
    body: {},
  })
  const reference = await mcpClient(key, { vars, headers: { 'X-OpenHands-ServerConversation-ID': conversation_id } })
  const own = await mcpClient(key, { vars, headers: { 'x-bellwether-serverconversation-id': conversation_id } })

  const draft = await reference.call('create_pr', { ...PULL, labels: ['bug'] })
  expect(draft).toEqual({ text: 'https://github.com/ann/tools/pull/17?draft', isError: false })
  const ready = await own.call('create_pr', { ...PULL, draft: false, body: 'Why', labels: ['no such'] })
  expect(ready).toEqual({
    text: 'https://github.com/ann/tools/pull/17\nIt is open, but its labels could not be set.',
    isError: false,
  })
  const merge = { ...BRANCHES, title: 'Merge', description: 'x', labels: ['a', 'b'] }
  expect(await own.call('create_mr', { id: 'group/sub/app', ...merge })).toEqual({
    text: 'https://gitlab.com/group/sub/app/-/merge_requests/9?a,b',
    isError: false,
  })
  expect((await reference.call('create_mr', { id: 278964, ...merge })).text).toContain('/278964/-/merge_requests/9')
  expect(await reference.call('create_bitbucket_pr', { repo_name: 'team/app', ...BRANCHES, title: 'Pull' })).toEqual({
    text: 'https://bitbucket.org/team/app/pull-requests/4?topic',
    isError: false,
  })
  expect(await json(`/api/conversations/${conversation_id}`)).toMatchObject({ pr_number: [17, 9, 4] })
  await expect
    .poll(async () => (await json<{ results: { pr_number: number[] }[] }>('/api/conversations')).results[0]?.pr_number)
    .toEqual([17, 9, 4])
  // Nothing is tried twice: what makes something may have made it already.
  expect(await askedWith(token)).toEqual([
    'POST /github/repos/ann/tools/pulls 201',
    'POST /github/repos/ann/tools/issues/17/labels 200',
    'POST /github/repos/ann/tools/pulls 201',
    'POST /github/repos/ann/tools/issues/17/labels 422',
  ])
})

test('a provider that declines, fails or is not there is an error of the tool in a few words', async () => {
  const { key } = await withTokens(
    { provider: 'github', token: GOOD_TOKENS.github },
    { provider: 'gitlab', token: GOOD_TOKENS.gitlab },
    { provider: 'bitbucket', token: GOOD_TOKENS.bitbucket },
  )
  const { call } = await mcpClient(key, { vars })
  const merge = { id: 1, ...BRANCHES }
  const refusals: [string, Record<string, unknown>, string][] = [
    [
      'create_pr',
      { ...PULL, title: 'again' },
      'github did not open it: Validation Failed: A pull request already exists for topic.',
    ],
    ['create_pr', { ...PULL, title: 'page' }, 'github did not open it: it answered HTTP 422'],
    ['create_pr', { ...PULL, repo_name: 'ann/unknown' }, 'github did not open it: it has no such thing'],
    [
      'create_pr',
      { ...PULL, repo_name: '../user' },
      'github did not open it: the repository is not named as owner/name',
    ],
    [
      'create_mr',
      { ...merge, title: 'again' },
      'gitlab did not open it: Another open merge request already exists for this source branch: !8',
    ],
    ['create_mr', { ...merge, title: 'strange' }, 'gitlab did not open it: it answered something that cannot be read'],
    [
      'create_bitbucket_pr',
      { repo_name: 'team/app', ...BRANCHES, title: 'again' },
      'bitbucket did not open it: There are no changes to be pulled',
    ],
  ]
  for (const [name, args, text] of refusals) expect(await call(name, args)).toEqual({ text, isError: true })

  const bare = await mcpClient((await withTokens()).key, { vars })
  expect(await bare.call('create_pr', PULL)).toEqual({ text: 'No github token is stored.', isError: true })
  const revoked = await withTokens({ provider: 'github', token: `${GOOD_TOKENS.github}-revoked` })
  const refused = await mcpClient(revoked.key, { vars })
  expect(await refused.call('create_pr', PULL)).toEqual({
    text: 'github did not open it: it does not accept the stored token',
    isError: true,
  })
})

test('a number is noted only in a conversation of the asker', async () => {
  const [owner, stranger] = [await withTokens(), await withTokens({ provider: 'github', token: GOOD_TOKENS.github })]
  const { conversation_id } = await owner.json<{ conversation_id: string }>('/api/conversations', {
    method: 'POST',
    body: {},
  })
  for (const id of [conversation_id, 'nobody', '../x', 'x'.repeat(200)]) {
    const { call } = await mcpClient(stranger.key, { vars, headers: { 'x-bellwether-serverconversation-id': id } })
    expect((await call('create_pr', PULL)).isError).toBe(false)
  }
  expect(await owner.json(`/api/conversations/${conversation_id}`)).toMatchObject({ pr_number: [] })
  expect(await stranger.json('/api/conversations/nobody')).toBeNull()
})
