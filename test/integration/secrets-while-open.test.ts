// What an owner keeps secret changes while conversations are open: from the answer on, their next request goes by it.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SecretMasker } from '../../durable-objects/conversation/turn/secret-masker.ts'
import { HOLD_MS, SecretHolders } from '../../durable-objects/owner/secret-holders.ts'
import { conversation, conversationId, owner } from '../../src/bindings.ts'
import { createSecret } from '../../src/db/secrets.ts'
import { changingSecrets } from '../../src/routes/secrets-changed.ts'
import { type Client, client } from '../helpers/app.ts'
import { type Chat, startConversation } from '../helpers/conversation.ts'
import { withTokens } from '../helpers/git-accounts.ts'

const secret = (by: Client, method: string, id: string, body?: unknown) =>
  by.ask(`/api/secrets${id}`, { method, ...(body === undefined ? {} : { body }) })

/** Resolves with what the command showed once this many were run. */
async function shown(chat: Chat, count: number): Promise<string | undefined> {
  const outputs = async () => (await chat.events()).filter(({ observation }) => observation === 'run')
  await expect.poll(async () => (await outputs()).length, { interval: 20 }).toBe(count)
  return (await outputs())[count - 1]?.content
}

test('the request after a change is masked by it, over HTTP, over a socket and in a title, and the shell has its variables', async () => {
  const ann = await client()
  const chat = await startConversation({}, ann)
  await chat.settled()
  const socket = await chat.connect()
  await chat.post('run', { command: 'echo before' })
  expect(await shown(chat, 1)).toBe('before')
  let commands = 1
  const ran = async (by: 'http' | 'socket', command: string) => {
    if (by === 'http') await chat.post('run', { command })
    else socket.send({ action: 'run', args: { command } })
    commands += 1
    return shown(chat, commands)
  }
  const hidden = '<secret_hidden>'

  for (const [i, by] of (['http', 'socket'] as const).entries()) {
    const value = `late-secret-value-${i}`
    expect((await secret(ann, 'POST', '', { name: `LATE_${i}`, value })).status).toBe(201)
    expect(await ran(by, `echo '${value}' $LATE_${i} \${#LATE_${i}}`)).toBe(`${hidden} ${hidden} ${value.length}`)
  }
  await secret(ann, 'POST', '', { name: 'TITLED', value: 'late-secret-value-2' })
  await ann.ask(chat.path, { method: 'PATCH', body: { title: 'it is late-secret-value-2' } })
  expect(await ann.json(chat.path)).toMatchObject({ title: `it is ${hidden}` })
  await secret(ann, 'POST', '', { name: 'SAID', value: 'late-secret-value-3' })
  await chat.post('message', { content: "echo 'late-secret-value-3'" })
  commands += 1
  expect(await shown(chat, commands)).toBe(hidden)
  await ann.ask('/api/settings', { method: 'POST', body: { search_api_key: 'late-secret-value-4' } })
  expect(await ran('http', "echo 'late-secret-value-4'")).toBe(hidden)
  // Nobody was told of values that are nowhere but in the frames and in the log.
  const said = JSON.stringify([socket.frames, await chat.events()])
  expect(said.match(/late-secret-value-\d/g)).toBeNull()

  const [old, renamed] = ['LATE_0', 'LATE_9']
  await secret(ann, 'PUT', `/${old}`, { name: renamed })
  const names = `echo "\${${old}-none} \${${renamed}-none}"`
  expect(await ran('socket', names)).toBe(`none ${hidden}`)
  await secret(ann, 'DELETE', `/${renamed}`)
  expect(await ran('http', names)).toBe('none none')
  socket.close()
})

test('as long as nothing changes, no event and no command asks the database for secrets', async () => {
  const chat = await startConversation()
  await chat.settled()
  const { DB } = env
  let reads = 0
  // Conversations of other tests live in this isolate, and may read what their own owners have.
  const counted = (statement: D1PreparedStatement) =>
    new Proxy(statement, {
      get: (target, name) => (name === 'bind' ? bound(target) : Reflect.get(target, name)),
    })
  const bound =
    (statement: D1PreparedStatement) =>
    (...values: unknown[]) => {
      if (values.includes(chat.owner.owner)) reads += 1
      return statement.bind(...values)
    }
  const prepare: D1Database['prepare'] = (sql) => {
    const statement = DB.prepare(sql)
    return /FROM secrets/.test(sql) ? counted(statement) : statement
  }
  Object.assign(env, { DB: { prepare, batch: DB.batch.bind(DB) } })
  onTestFinished(() => void Object.assign(env, { DB }))
  for (const word of ['one', 'two', 'three']) await chat.post('run', { command: `echo ${word}` })
  expect(await shown(chat, 3)).toBe('three')
  expect(reads).toBe(0)
  await changingSecrets(env, chat.owner.owner, async () => {})
  for (const word of ['four', 'five']) await chat.post('run', { command: `echo ${word}` })
  expect(await shown(chat, 5)).toBe('five')
  expect(reads).toBe(1)
})

test('what a command shows is masked by a secret that was stored while it ran', async () => {
  const chat = await startConversation()
  await chat.settled()
  await chat.post('run', { command: 'until [ -e go ]; do sleep 0.02; done; echo stored-meanwhile-1' })
  await expect
    .poll(async () => (await chat.events()).some(({ action }) => action === 'run'), { interval: 20 })
    .toBe(true)
  await secret(chat.owner, 'POST', '', { name: 'MEANWHILE', value: 'stored-meanwhile-1' })
  const form = new FormData()
  form.append('files', new File([''], 'go'))
  await chat.owner.ask(`${chat.path}/upload-files`, { method: 'POST', body: form })
  expect(await shown(chat, 1)).toBe('<secret_hidden>')
})

test('every key of the settings, of providers and of tool servers is masked, and no value that only sets something up', async () => {
  const secrets = {
    llm_api_key: 'canary-llm-key',
    search_api_key: 'canary-search-key',
    sandbox_api_key: 'canary-sandbox-key',
    llm_base_url: 'canary-base-password',
    github: 'canary-github-token',
    bitbucket: 'canary-app-password',
    'api_key of a server (SSE)': 'canary-sse-key',
    'api_key of a server (streamable HTTP)': 'canary-shttp-key',
    'key in an address': 'canary-query-key',
    'password in an address, as it is meant': 'canary word@1',
    'variable of a program': 'canary-env-token',
    'argument of a program': 'canary-argument',
    'argument after an equals sign': 'canary-argument-2',
    'header on a line': 'canary-bearer',
    'server of this conversation alone': 'canary-own-server',
  }
  const ann = await withTokens(
    { provider: 'github', token: secrets.github },
    { provider: 'bitbucket', token: `ann:${secrets.bitbucket}` },
  )
  const program = {
    name: 'local',
    command: 'npx',
    args: [
      '--api-key',
      'canary-argument',
      '--token=canary-argument-2',
      '--header',
      'Authorization: Bearer canary-bearer',
    ],
    env: { MY_TOKEN: 'canary-env-token', NODE_ENV: 'production' },
  }
  const settings = {
    llm_model: 'some/model',
    llm_api_key: secrets.llm_api_key,
    llm_base_url: 'http://ann:canary-base-password@127.0.0.1:1/v1',
    search_api_key: secrets.search_api_key,
    sandbox_api_key: secrets.sandbox_api_key,
    agent: 'ShellAgent',
    mcp_config: {
      sse_servers: [
        { url: 'http://127.0.0.1:1/sse?exaApiKey=canary-query-key&mode=advanced', api_key: 'canary-sse-key' },
      ],
      shttp_servers: [{ url: 'http://u:canary%20word%401@127.0.0.1:1/mcp', api_key: 'canary-shttp-key' }],
      stdio_servers: [program],
    },
  }
  expect((await ann.ask('/api/settings', { method: 'POST', body: settings })).status).toBe(200)
  const own = {
    shttp_servers: [{ url: 'http://127.0.0.1:1/own', api_key: secrets['server of this conversation alone'] }],
  }
  const chat = await startConversation({ mcp_config: own }, ann)
  await chat.post('run', { command: `cat <<'END'\n${Object.values(secrets).join('\n')}\nproduction advanced\nEND` })
  const lines = (await shown(chat, 1))?.split('\n') ?? []
  const all = Object.keys(secrets)
  expect(lines.slice(0, -1).map((line, i) => [all[i], line])).toEqual(all.map((name) => [name, '<secret_hidden>']))
  expect(lines.at(-1)).toBe('production advanced')
})

test('a value that cannot be opened keeps none of the others from being masked', async () => {
  const ann = await withTokens(
    { provider: 'github', token: 'canary-broken' },
    { provider: 'bitbucket', token: 'ann:canary-password' },
  )
  const settings = { llm_api_key: 'canary-broken', search_api_key: 'canary-search-key' }
  await ann.ask('/api/settings', { method: 'POST', body: settings })
  await secret(ann, 'POST', '', { name: 'BROKEN', value: 'canary-broken' })
  await secret(ann, 'POST', '', { name: 'WHOLE', value: 'canary-secret' })
  const chat = await startConversation({}, ann)
  await env.DB.batch([
    env.DB.prepare("UPDATE settings SET value = 'v1.00000000.AAAA' WHERE owner = ? AND field = 'llmApiKey'").bind(
      ann.owner,
    ),
    env.DB.prepare("UPDATE secrets SET value = 'v1.00000000.AAAA' WHERE owner = ? AND name = 'BROKEN'").bind(ann.owner),
    env.DB.prepare(
      "UPDATE provider_tokens SET token = 'v1.00000000.AAAA' WHERE owner = ? AND provider = 'github'",
    ).bind(ann.owner),
  ])
  await changingSecrets(env, ann.owner, async () => {})
  await chat.post('run', { command: "echo 'canary-password canary-search-key canary-secret'" })
  expect(await shown(chat, 1)).toBe('<secret_hidden> <secret_hidden> <secret_hidden>')
})

test('a masker looks again when it was told, when nobody promises to tell it, and when the promise is over', async () => {
  const ann = await client()
  const chat = await startConversation({}, ann)
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  const of = { owner: ann.owner, id: chat.id }
  const stored = (name: string) =>
    createSecret(env, { owner: ann.owner, actor: 'test' }, { name, description: '', value: `value-of-${name}` })
  const read = { count: 0, hold: null as Promise<void> | null, isAway: false }
  const batch: D1Database['batch'] = async (statements) => {
    read.count += 1
    const { hold } = read
    if (read.isAway) throw new Error('away')
    const found = await env.DB.batch<never>(statements)
    await hold
    return found
  }
  const scope = { ...env, DB: { prepare: env.DB.prepare.bind(env.DB), batch } as unknown as D1Database }
  await runInDurableObject(conversation(env, ann.owner, chat.id), async (_, { storage }) => {
    const masker = new SecretMasker(scope, storage.sql, of)
    const names = () => Object.keys(masker.variables)
    await masker.open()
    await masker.open()
    expect([masker.isOpen, read.count, names()]).toEqual([true, 1, []])

    // Behind everybody's back: known when the word is over.
    await stored('A')
    now += HOLD_MS - 1
    expect(masker.isOpen).toBe(true)
    now += 1
    expect(masker.isOpen).toBe(false)
    await masker.open()
    expect([masker.isOpen, names()]).toEqual([true, ['A']])

    // Told in the middle of a read, which may have come before the change; the slower read does not bring back the old.
    const { promise: hold, resolve: letGo } = Promise.withResolvers<void>()
    read.hold = hold
    const slow = masker.refresh()
    await expect.poll(() => read.count).toBe(3)
    read.hold = null
    await stored('B')
    masker.changed()
    expect(masker.isOpen).toBe(false)
    await masker.open()
    letGo()
    await slow
    expect([masker.isOpen, names(), read.count]).toEqual([true, ['A', 'B'], 4])

    // Without the database what is known serves, and for a while nobody waits for it.
    masker.changed()
    read.isAway = true
    await masker.open()
    expect([masker.isOpen, masker.maskText('value-of-B')]).toEqual([true, '<secret_hidden>'])
    now += 5_000
    expect(masker.isOpen).toBe(false)
    read.isAway = false
    await masker.open()
    expect(masker.isOpen).toBe(true)

    // Without the owner's object everybody reads anew.
    const OWNER = { idFromName: () => null, get: () => ({ holdSecrets: () => Promise.reject(new Error('away')) }) }
    const alone = new SecretMasker({ ...scope, OWNER } as unknown as Env, storage.sql, of)
    await alone.open()
    expect([alone.isOpen, Object.keys(alone.variables)]).toEqual([false, ['A', 'B']])
    await stored('C')
    await alone.open()
    expect(Object.keys(alone.variables)).toEqual(['A', 'B', 'C'])
  })
})

test('an owner tells all who know its secrets, again who could not be told, and none whose word is over', async () => {
  const name = `owner-${crypto.randomUUID()}`
  const books = owner(env, name)
  const there = conversationId(env, name, 'there')
  expect(await books.holdSecrets(there)).toBe(HOLD_MS)
  expect(await books.holdSecrets('nobody')).toBe(HOLD_MS)
  // The change stands, whoever could not be told of it; so does its failure.
  expect(await changingSecrets(env, name, async () => 'changed')).toBe('changed')
  await expect(changingSecrets(env, name, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full')
  await runInDurableObject(books, (_, { storage }) => {
    const now = Date.now()
    const holders = new SecretHolders(storage.sql)
    expect(holders.untold(now)).toEqual([{ holder: 'nobody', due: 2 }])
    expect(storage.sql.exec("SELECT 1 FROM alarms WHERE name = 'secrets'").toArray()).toHaveLength(1)
    // The word of an earlier change does not count for a later one; who says anew that it holds them reads them after that.
    holders.told({ holder: 'nobody', due: 1 })
    expect(holders.untold(now)).toHaveLength(1)
    holders.hold('nobody', now)
    expect(holders.untold(now)).toEqual([])
    holders.changed(now + HOLD_MS + 1)
    expect(storage.sql.exec('SELECT * FROM secret_holders').toArray()).toEqual([])
  })
})
