import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { storeTokens } from '../../src/db/provider-tokens.ts'
import { type Client, client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { hostRepository, hostUrl, realGit, repositoryUrl } from '../helpers/git-host.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

const TOKEN = GOOD_TOKENS.github

/** An owner whose GitHub is the loopback host. */
async function owner(token: string = TOKEN, host = hostUrl()): Promise<Client> {
  const by = await client()
  await storeTokens(env, {
    owner: by.owner,
    actor: 'test',
    changes: [{ provider: 'github', token, host, userId: null }],
  })
  return by
}

async function privateRepository(files: Record<string, string>): Promise<{ name: string; folder: string }> {
  const name = `private/p-${crypto.randomUUID().slice(0, 8)}`
  return { name, folder: await hostRepository(files, `${name}.git`) }
}

const outputs = async (chat: Chat) =>
  (await chat.events()).filter(({ observation }) => observation === 'run').map(({ content }) => String(content))

async function say(chat: Chat, command: string): Promise<string> {
  // Counted before it is said: the answer may be there before the next request is.
  const count = (await outputs(chat)).length
  await chat.post('message', { content: command })
  await expect.poll(async () => (await outputs(chat)).length).toBeGreaterThan(count)
  await chat.settled()
  return (await outputs(chat)).at(-1) ?? ''
}

test('a private repository is checked, cloned, pushed to and fetched with the stored token, which is written nowhere', async () => {
  const { name, folder } = await privateRepository({ 'a.txt': 'one\n' })
  const by = await owner()
  const settings = { git_user_name: 'Ann Example', git_user_email: 'ann@example.com' }
  expect((await by.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const chat = await startConversation({ repository: name, git_provider: 'github', selected_branch: 'main' }, by)
  await chat.settled()
  expect(await by.json(chat.path)).toMatchObject({ selected_repository: name, git_provider: 'github' })
  const said = await say(
    chat,
    'git remote -v; git config user.email; echo two >> a.txt; git commit -qam second && git push -q && git fetch && echo pushed; cat .git/config; env',
  )
  expect(said).toContain(`origin\t${hostUrl()}/${name}.git (push)\nann@example.com\npushed`)
  expect(said).not.toContain(TOKEN)
  expect(await realGit(folder, 'log', '-1', '--format=%s|%an|%ae|%cn', 'main')).toBe(
    'second|Ann Example|ann@example.com|Ann Example\n',
  )
  expect(await realGit(folder, 'show', 'main:a.txt')).toBe('one\ntwo\n')
  // In no file of the workspace, not even those of git.
  expect(await say(chat, 'grep -rl ghp_ / 2> /dev/null | grep -v "^/\\(proc\\|dev\\)"; echo searched')).toBe('searched')

  await by.ask(`${chat.path}/stop`, { method: 'POST' })
  await evictDurableObject(conversation(env, by.owner, chat.id))
  await by.ask(`${chat.path}/start`, { method: 'POST', body: {} })
  await expect.poll(async () => (await by.json(chat.path)).status).toBe('RUNNING')
  expect(await say(chat, 'git log --oneline | wc -l; git push')).toContain('Everything up-to-date')
})

test('what no stored token may read is a 400 that names it, before anything is made', async () => {
  const { name } = await privateRepository({ 'a.txt': 'one\n' })
  const message = (repository: string) => ({
    status: 'error',
    message: `Unable to access repo ${repository}`,
    msg_id: 'STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR',
  })
  const create = async (by: Client, body: Record<string, unknown>) => {
    const response = await by.ask('/api/conversations', { method: 'POST', body })
    return [response.status, await response.json()]
  }
  const by = await owner()
  for (const repository of ['private/nothing', `${hostUrl()}/private/nothing.git`])
    expect(await create(by, { repository })).toEqual([400, message(repository)])
  expect(await create(await owner('ghp_wrong'), { repository: name })).toEqual([400, message(name)])
  expect((await by.json<{ results: unknown[] }>('/api/conversations')).results).toEqual([])
  // The other provider was named, but only this one has a token.
  expect((await create(by, { repository: name, git_provider: 'gitlab' }))[0]).toBe(200)
})

test('an unreachable provider does not hold up the creation, and an address elsewhere is not asked with the token', async () => {
  const { name } = await privateRepository({ 'a.txt': 'one\n' })
  const lost = await owner(TOKEN, 'http://127.0.0.1:9')
  const chat = await startConversation({ repository: name }, lost)
  await expect.poll(async () => (await chat.events()).at(-1)?.extras?.agent_state).toBe('error')
  expect(String((await chat.events()).at(-1)?.extras?.reason)).toContain('cannot be reached')

  const refused = await startConversation({ repository: `${hostUrl()}/${name}.git` }, lost)
  await expect.poll(async () => (await refused.events()).at(-1)?.extras?.agent_state).toBe('error')
  expect(String((await refused.events()).at(-1)?.extras?.reason)).toContain('could not read Username')
  await lost.ask(`${refused.path}/stop`, { method: 'POST' })
  const socket = await refused.connect()
  await socket.until(({ frames }) => JSON.stringify(frames).includes('STATUS$GIT_PROVIDER_AUTHENTICATION_ERROR'))
  socket.close()
})

test('the set-up script runs once, hidden, in the shell that follows; the pre-commit script may refuse a commit', async () => {
  const url = repositoryUrl(
    await hostRepository({
      'a.txt': 'one\n',
      '.bellwether/setup.sh': 'echo ready; export TEAM=blue; times=x; echo once >> /workspace/setup.log\ncd /tmp\n',
      '.bellwether/pre-commit.sh':
        'if grep -q secret a.txt; then echo "no secrets"; exit 1; fi\necho checked >> checks.txt; git add checks.txt\n',
      '.openhands/setup.sh': 'echo never\n',
    }),
  )
  const chat = await startConversation({
    repository: url,
    initial_user_msg: 'pwd; echo $TEAM; cat /workspace/setup.log',
  })
  await chat.settled()
  const events = await chat.events()
  const script = events.find(({ action }) => action === 'run')
  expect(script).toMatchObject({
    source: 'environment',
    args: { command: 'source .bellwether/setup.sh', hidden: true },
  })
  expect(events.find(({ cause }) => cause === script?.id)).toMatchObject({
    source: 'environment',
    observation: 'run',
    content: 'ready',
    extras: { hidden: true },
  })
  expect((await outputs(chat)).at(-1)).toMatch(/^\/workspace\/repo[\w-]*\nblue\nonce$/)
  expect(
    await say(chat, 'echo secret >> a.txt; git commit -qam bad; echo "exit $?"; git log --oneline | wc -l'),
  ).toMatch(/^no secrets\nexit 1\n\s*1$/)
  expect(
    await say(
      chat,
      'echo fine > a.txt; git commit -qam good; git show --stat --format=%s HEAD | head -4; cat .git/hooks/pre-commit',
    ),
  ).toMatch(/^good\n[\s\S]*checks\.txt[\s\S]*exec bash \.bellwether\/pre-commit\.sh$/)
  expect(await say(chat, 'echo secret > a.txt; git commit -qanm forced; echo "exit $?"')).toBe('exit 0')
  await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
  await chat.owner.ask(`${chat.path}/start`, { method: 'POST', body: {} })
  expect(await say(chat, 'cat /workspace/setup.log')).toBe('once')
})

test('a set-up script that is cut off is answered for and not run again, and the working copy is kept', async () => {
  const script = 'echo begun >> /workspace/setup.log; while true; do sleep 1; done\n'
  const url = repositoryUrl(await hostRepository({ 'a.txt': 'one\n', '.bellwether/setup.sh': script }))
  const chat = await startConversation({ repository: url })
  const action = async () => (await chat.events()).find((event) => event.action === 'run')
  await expect.poll(action).toBeDefined()
  const log = async () => (await chat.owner.ask(`${chat.path}/select-file?file=setup.log`)).text()
  await expect.poll(log).toContain('begun')
  await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  await chat.owner.ask(`${chat.path}/start`, { method: 'POST', body: {} })
  await chat.settled()
  const answer = (await chat.events()).find(({ cause }) => cause !== undefined)
  expect(answer).toMatchObject({ cause: (await action())?.id, observation: 'error', source: 'environment' })
  expect(String(answer?.content)).toContain('was not run again')
  expect(await say(chat, 'cat a.txt /workspace/setup.log')).toBe('one\nbegun')
})
