import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { requestTools } from '../../../durable-objects/conversation/turn/request-tools.ts'
import type { ToolContext } from '../../../src/agent/tools/tool.ts'
import { PROVIDERS, withTokens } from '../../helpers/git-accounts.ts'
import { GOOD_TOKENS } from '../../support/provider-host-types.ts'

const PULL = { repo_name: 'ann/tools', source_branch: 'topic', target_branch: 'main', title: 'Better tools' }

test('an agent opens requests with the tokens that its owner has, and is offered no others', async () => {
  const { owner } = await withTokens(
    { provider: 'github', token: GOOD_TOKENS.github },
    { provider: 'gitlab', token: GOOD_TOKENS.gitlab },
  )
  const noted: number[] = []
  const parts = {
    env: { ...env, ...PROVIDERS },
    record: { value: { owner } },
    secrets: { variables: { GITHUB_TOKEN: GOOD_TOKENS.github, GITLAB_TOKEN: GOOD_TOKENS.gitlab } },
    notePullRequest: (number: number) => void noted.push(number),
  }
  const tools = requestTools(parts)
  expect(tools.map(({ name, repeatable }) => [name, repeatable])).toEqual([
    ['create_pr', false],
    ['create_mr', false],
  ])
  const stop = new AbortController()
  const run = async (name: string, args: object) => {
    const call = tools.find((tool) => tool.name === name)?.prepare(args)
    const outcome = await call?.run({ signal: stop.signal } as ToolContext)
    return JSON.parse(outcome?.content ?? 'null')
  }
  expect(await run('create_pr', PULL)).toEqual({
    meta: null,
    content: [{ type: 'text', text: 'https://github.com/ann/tools/pull/17?draft' }],
    isError: false,
  })
  const { repo_name, ...branches } = PULL
  expect(await run('create_mr', { id: repo_name, ...branches })).toMatchObject({ isError: false })
  expect(noted).toEqual([17, 9])

  expect(await run('create_pr', { ...PULL, title: 'again' })).toMatchObject({
    content: [{ text: 'github did not open it: Validation Failed: A pull request already exists for topic.' }],
    isError: true,
  })
  expect(await run('create_pr', { ...PULL, draft: 'perhaps' })).toMatchObject({
    content: [{ text: expect.stringMatching(/^The arguments do not fit\. draft: /) }],
    isError: true,
  })
  const [bare] = requestTools({ ...parts, record: { value: { owner: 'nobody' } } })
  const refused = await bare?.prepare(PULL).run({ signal: stop.signal } as ToolContext)
  expect(refused?.content).toContain('No github token is stored.')
  stop.abort(new Error('stopped'))
  await expect(run('create_pr', PULL)).rejects.toThrow('stopped')
  expect(noted).toEqual([17, 9])
})
