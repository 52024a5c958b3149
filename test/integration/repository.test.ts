import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { hostRepository, hostUrl, largeRepository, realGit, repositoryUrl } from '../helpers/git-host.ts'

test('a conversation that names a repository clones it, tells how it goes, and works in it', async () => {
  const url = repositoryUrl(
    await hostRepository({ 'README.md': '# Shop\n', 'src/cart.ts': 'export const cart = []\n' }),
  )
  const chat = await startConversation({
    repository: url,
    initial_user_msg: 'pwd; ls; git status --short; git log --oneline | wc -l',
  })
  await chat.settled()
  const events = await chat.events()
  const run = events.find(({ observation }) => observation === 'run')
  expect(run?.content).toMatch(/^\/workspace\/[\w-]+\nREADME\.md\nsrc\n1$/)
  const recall = events.find(({ observation }) => observation === 'recall')
  expect(recall?.extras).toMatchObject({ repo_name: url, repo_directory: expect.stringMatching(/^\/workspace\//) })
  expect(await chat.owner.json(chat.path)).toMatchObject({
    status: 'RUNNING',
    selected_repository: url,
    runtime_status: 'STATUS$READY',
  })
})

test('a clone that fails leaves an error state that names the cause, and the conversation can be used', async () => {
  const chat = await startConversation({ repository: `${hostUrl()}/git/nothing-here.git`, initial_user_msg: 'ls' })
  await expect.poll(async () => (await chat.events()).at(-1)?.extras?.agent_state).toBe('error')
  const events = await chat.events()
  expect(String(events.at(-1)?.extras?.reason)).toContain('Cloning')
  expect(events.some(({ action }) => action === 'run')).toBe(false)
  await chat.post('message', { content: 'echo still here' })
  await chat.settled()
  expect((await chat.events()).some(({ content }) => content === 'still here')).toBe(true)
})

test('a repository at an address that is not public is refused by the door', async () => {
  const chat = await startConversation({ repository: 'http://169.254.169.254/latest/meta-data.git' })
  await expect.poll(async () => (await chat.events()).at(-1)?.extras?.agent_state).toBe('error')
})

test('what names no repository is a 422, and credentials in an address never come back', async () => {
  const ann = await client()
  for (const repository of [
    'shop',
    '../..',
    'ssh://git@host/a/b',
    'file:///etc',
    'https://ann:s3cret@host.example/a.git',
  ]) {
    const response = await ann.ask('/api/conversations', { method: 'POST', body: { repository } })
    const text = await response.text()
    expect([repository, response.status]).toEqual([repository, 422])
    expect(text).not.toContain('s3cret')
  }
})

test('a working copy that has gone is there again after a restart, and a kept one keeps its changes', async () => {
  const url = repositoryUrl(await hostRepository({ 'a.txt': 'one\n' }))
  const chat = await startConversation({ repository: url })
  await chat.settled()
  await chat.post('message', { content: 'echo two >> a.txt' })
  await chat.settled()
  const restart = async () => {
    await chat.owner.ask(`${chat.path}/stop`, { method: 'POST' })
    await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
    await chat.owner.ask(`${chat.path}/start`, { method: 'POST', body: {} })
    await expect.poll(async () => (await chat.owner.json(chat.path)).status).toBe('RUNNING')
  }
  const read = async () => {
    const [folder] = await chat.owner.json<string[]>(`${chat.path}/list-files`)
    return (await chat.owner.json<{ code: string }>(`${chat.path}/select-file?file=${folder}a.txt`)).code
  }
  await restart()
  expect(await read()).toBe('one\ntwo\n')
  await chat.post('message', { content: 'cd /workspace; rm -rf *' })
  await chat.settled()
  await restart()
  expect(await read()).toBe('one\n')
})

test('changes and diffs are those against the remote, and a workspace without a repository says so', async () => {
  const url = repositoryUrl(await hostRepository({ 'a.txt': 'one\n', 'b b.txt': 'two\n', 'old.txt': 'x\n' }))
  const chat = await startConversation({
    repository: url,
    initial_user_msg: 'echo 1 >> a.txt; rm old.txt; echo n > "neu ü.txt"',
  })
  await chat.settled()
  const changes = await chat.owner.json<{ status: string; path: string }[]>(`${chat.path}/git/changes`)
  expect(changes.map(({ status, path }) => `${status} ${path.replace(/^[^/]+\//, '')}`)).toEqual([
    'M a.txt',
    'A neu ü.txt',
    'D old.txt',
  ])
  await chat.post('message', { content: 'git add -A && git commit -qm "second"' })
  await chat.settled()
  expect(await chat.owner.json(`${chat.path}/git/changes`)).toEqual(changes)
  const diff = (path: string) => chat.owner.ask(`${chat.path}/git/diff?path=${encodeURIComponent(path)}`)
  expect(await (await diff(changes[0]?.path ?? '')).json()).toEqual({ original: 'one', modified: 'one\n1' })
  expect(await (await diff(changes[2]?.path ?? '')).json()).toEqual({ original: 'x', modified: '' })
  expect((await diff('../etc/passwd')).status).toBe(422)
  expect((await diff('nothing.txt')).status).toBe(500)
  const bare = await startConversation({}, chat.owner)
  const none = await bare.owner.ask(`${bare.path}/git/changes`)
  expect([none.status, await none.json()]).toEqual([404, { error: 'Not a git repository' }])
})

test('2,000 files and 500 commits: cloned, changed, pushed to the real git, and all there after an eviction', async () => {
  const folder = await largeRepository(`large-${crypto.randomUUID().slice(0, 8)}.git`, { files: 2000, commits: 500 })
  await realGit(folder, 'config', 'http.receivepack', 'true')
  const chat = await startConversation({
    repository: repositoryUrl(folder),
    selected_branch: 'main',
    initial_user_msg:
      'git rev-list --count HEAD; git ls-files | wc -l; for i in 1 2 3; do echo changed >> d$i/s$i/f$i.txt; done; rm d4/s4/f4.txt; echo new > new.txt; git add -A; git commit -qm "by the agent"; git push 2>&1 | tail -1; git rev-parse HEAD',
  })
  await expect
    .poll(() => lastOutput(chat), { timeout: 200_000 })
    .toMatch(/^500\n\s*2000\n[\s\S]*main -> main\n[0-9a-f]{40}$/)
  const head = (await lastOutput(chat)).slice(-40)
  expect(await realGit(folder, 'rev-parse', 'main')).toBe(`${head}\n`)
  expect(await realGit(folder, 'show', '--format=%s', '--name-status', 'main')).toBe(
    'by the agent\n\nM\td1/s1/f1.txt\nM\td2/s2/f2.txt\nM\td3/s3/f3.txt\nD\td4/s4/f4.txt\nA\tnew.txt\n',
  )
  expect(await realGit(folder, 'fsck', '--strict', '--no-dangling')).toBe('')
  await chat.settled()
  await chat.post('message', { content: 'echo local > local.txt' })
  await chat.settled()
  await evictDurableObject(conversation(env, chat.owner.owner, chat.id))
  const changes = await chat.owner.json<{ status: string; path: string }[]>(`${chat.path}/git/changes`)
  expect(changes.map(({ status, path }) => `${status} ${path.replace(/^[^/]+\//, '')}`)).toEqual(['A local.txt'])
  await chat.post('message', { content: 'git status --porcelain; git log -1 --format=%H; git ls-files | wc -l' })
  await expect.poll(() => lastOutput(chat)).toMatch(new RegExp(`^\\?\\? local.txt\n${head}\n\\s*2000$`))
})

test('where a runner is needed and there is none, the files are cloned all the same and the set-up script is not run', async () => {
  const url = repositoryUrl(await hostRepository({ 'a.txt': 'one\n', '.bellwether/setup.sh': 'echo ran > ../ran\n' }))
  const chat = await startConversation({ repository: url }, undefined, '?runtime=runner')
  await chat.settled()
  const answer = (await chat.events()).find(({ observation }) => observation === 'error')
  expect(answer?.content).toMatch(/^The set-up script was not run. No runner is connected/)
  const files = await chat.owner.json<string[]>(`${chat.path}/list-files`)
  expect(files).toHaveLength(1)
  expect(await chat.owner.json(`${chat.path}/select-file?file=${files[0]}a.txt`)).toEqual({ code: 'one\n' })
})

const lastOutput = async (chat: Chat) =>
  String((await chat.events()).findLast(({ observation }) => observation === 'run')?.content)
