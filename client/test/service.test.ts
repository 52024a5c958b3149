// The library and the command line against a real service, which is cut off and killed under them.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Document, typesOf } from '../../scripts/client-types/types-of.ts'
import { Relay } from '../../scripts/faults/lent/relay.ts'
import { TAR_END, tarHeader, tarPadding } from '../../src/lib/tar.ts'
import { type ScriptedModel, startScriptedModel } from '../../test/support/scripted-model.ts'
import { type Event, ServiceError, Unreachable } from '../src/index.ts'
import { ROOT_KEY, type Running, startKeyed, temporaryFolder } from './support/run.ts'

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

let running: Running
let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
  running = await startKeyed()
})
afterAll(async () => {
  await running.stop()
  await model.close()
})

test('the generated types are those of the document; `npm run build:client-types` makes them anew', async () => {
  const document = (await (await fetch(`${running.service.url}/openapi.json`)).json()) as Document
  const file = join(import.meta.dirname, '../src/api.generated.ts')
  expect(readFileSync(file, 'utf8') === typesOf(document)).toBe(true)
})

test('a turn is shown from its message to its rest, files go in and out, and a fork has them', async () => {
  const { client } = await running.owner('turn')
  const conversation = await client.conversations.create()
  const seen: Event[] = []
  const turn = conversation.turn('echo one > a.txt; cat a.txt')
  for (;;) {
    const next = await turn.next()
    if (next.done) {
      expect(next.value).toMatchObject({ atRest: true, state: 'awaiting_user_input', message: 'one' })
      expect(seen.at(-1)?.id).toBe(next.value.lastEventId)
      break
    }
    if (next.value.type === 'event') seen.push(next.value.event)
  }
  expect(seen[0]).toMatchObject({ source: 'user', action: 'message' })
  const { uploaded_files } = await conversation.files.upload({ 'b.txt': 'two\n' })
  expect(uploaded_files).toEqual(['/workspace/b.txt'])
  const copy = await conversation.fork((await conversation.ask('ls')).lastEventId)
  expect([copy.id === conversation.id, await copy.files.list()]).toEqual([false, ['a.txt', 'b.txt']])
  expect([await copy.files.read('b.txt'), [...(await copy.files.zip()).subarray(0, 2)]]).toEqual([
    'two\n',
    [0x50, 0x4b],
  ])
  const stored = await all(conversation.search({ limit: 3 }))
  expect(stored.map(({ id }) => id)).toEqual(stored.map((_, i) => i))
  expect((await all(client.conversations.list({ limit: 1 }))).length).toBe(2)
})

test('whatever breaks, the events come once, in order and without a gap', async () => {
  const relay = await Relay.open(running.service.port)
  onTestFinished(() => relay.close())
  const direct = await running.owner('breaks')
  const { client } = await running.owner('breaks', relay.url)
  const id = (await direct.client.conversations.create()).id
  const talk = direct.client.conversation(id)
  let last = (await talk.ask('echo begin')).lastEventId
  const ids: number[] = []
  let breaks = 0
  for await (const frame of client.conversation(id).follow()) {
    if (frame.type === 'lost') breaks += 1
    if (frame.type !== 'event') continue
    ids.push(frame.event.id)
    if (ids.length === 5 || ids.length === 18) relay.cut()
    if (frame.event.id < last) continue
    // Everything was seen: more happens while the connection is cut, and once while the service dies.
    if (ids.length > 40) break
    if (ids.length > 20 && running.service.restarts === 0) running.service.kill9Runtime()
    last = (await talk.ask('echo more')).lastEventId
    relay.cut()
  }
  expect(ids).toEqual(ids.map((_, i) => i))
  expect(running.service.restarts).toBeGreaterThan(0)
  expect(breaks).toBeGreaterThan(0)
})

test('the stream of tasks goes on over breaks, each number once, and every task ends in it', async () => {
  const relay = await Relay.open(running.service.port)
  onTestFinished(() => relay.close())
  const { client } = await running.owner('tasks', relay.url)
  // Only the stream is cut: what starts something and is cut is not sent again.
  const { client: direct } = await running.owner('tasks')
  const leave = new AbortController()
  const numbers: number[] = []
  const done = new Set<string>()
  let batch: Promise<unknown> | null = null
  for await (const { event, id, data } of client.analyses.stream({ after: 0, signal: leave.signal })) {
    batch ??= direct.analyses.batch(['AAPL', 'MSFT', '600519'])
    if (id !== null && event !== 'connected') numbers.push(id)
    if (numbers.length % 7 === 6) relay.cut()
    if (event === 'task_completed') done.add(data.stock_code)
    if (done.size === 3) leave.abort()
  }
  await batch
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  expect([...done].sort()).toEqual(['600519', 'AAPL', 'MSFT'])
  const rows = await all(direct.analyses.history({ limit: 2 }))
  expect(rows.length).toBe(3)
  expect(await direct.analyses.markdown(rows[0]?.id ?? 0)).toMatch(/^# /)
  const again = await direct.analyses.run('AAPL')
  expect(again.report.summary.sentiment_score).toEqual(expect.any(Number))
})

test('a wrong key, a missing conversation and bad input are errors with a status, a code and words', async () => {
  const { client, url, cli } = await running.owner('errors')
  const { Bellwether } = await import('../src/index.ts')
  const refused = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof ServiceError)) throw new Error(`not refused: ${String(error)}`)
    return error
  }
  const wrong = await refused(new Bellwether({ url, key: 'wrong' }).call('GET /api/usage'))
  expect([wrong.status, wrong.code, wrong.requestId === null]).toEqual([401, 'unauthorized', false])
  expect(await refused(client.conversation('none').files.zip())).toMatchObject({ status: 404, code: 'not_found' })
  expect(await client.conversation('none').info()).toBe(null)
  const bad = await refused(client.analyses.submit('', {}))
  expect([bad.status, bad.code]).toEqual([400, 'validation_error'])
  const twice = await refused(client.call('GET /api/v1/analysis/tasks', { query: { limit: 0 } }))
  expect([twice.status, twice.problems.length, twice.message]).toEqual([422, 1, expect.stringMatching(/limit/)])
  // Neither of a socket that is refused is there another try.
  expect(await refused(client.conversation('none').events().next())).toMatchObject({ status: 404 })
  await expect(new Bellwether({ url: 'http://127.0.0.1:9', retries: 0 }).call('GET /api/usage')).rejects.toThrow(
    Unreachable,
  )

  const told = await cli(['list'], { env: { BELLWETHER_KEY: 'wrong' } })
  expect([told.code, told.stdout]).toEqual([3, ''])
  expect(told.stderr).toMatch(/401 unauthorized[\s\S]*bellwether config set key/)
})

test('the command line analyses: a table for people, a line of JSON for programs, the failed one beside the others', async () => {
  const { cli } = await running.owner('cli-analyze')
  const shown = await cli(['analyze', 'AAPL', 'ZZZQ', '-l', 'en'])
  expect(shown.code).toBe(1)
  expect(shown.stdout).toMatch(/^code +name +score +verdict/)
  expect(shown.stdout).toMatch(/^AAPL +\S.* \d+ +\S/m)
  expect(shown.stderr).toMatch(/ZZZQ/)
  const lines = await cli(['analyze', '--json', 'AAPL'])
  expect([lines.code, lines.stdout.trim().split('\n').length]).toEqual([0, 1])
  expect(JSON.parse(lines.stdout)).toMatchObject({ stock_code: 'AAPL', report: { summary: {} } })
  expect((await cli(['analyze', 'AAPL', '--report', '-l', 'en'])).stdout).toMatch(/^# /)
})

test('the command line talks, keeps and copies, and nothing remote moves the cursor', async () => {
  const { cli } = await running.owner('cli-chat')
  expect(await cli(['list'])).toEqual({ code: 0, stdout: '', stderr: expect.stringMatching(/^No conversation yet: /) })
  expect(await cli(['list', '--json'])).toMatchObject({ code: 0, stdout: '' })
  const said = await cli(['chat', `printf '\\033[2J\\033]0;x\\007red'; echo $((6*7))`])
  expect([said.code, said.stdout]).toEqual([0, expect.stringContaining('42')])
  expect(said.stdout).not.toContain('\u001b')
  const [, id = ''] = /conversation (\w+)/.exec(said.stderr) ?? []
  const piped = await cli(['chat', '-c', id, '--json', 'echo from'], { input: 'echo stdin' })
  const events = piped.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events.at(-1)).toMatchObject({ conversation_id: id, atRest: true, message: 'from\nstdin' })
  const folder = temporaryFolder()
  const kept = await cli(['export', id, '-o', 'talk.json'], { cwd: folder })
  expect([kept.code, JSON.parse(readFileSync(join(folder, 'talk.json'), 'utf8')).trajectory.length > 5]).toEqual([
    0,
    true,
  ])
  expect((await cli(['export', id, '-o', 'talk.json'], { cwd: folder })).code).toBe(2)
  const [made] = (await cli(['fork', id])).stdout.split('\n')
  expect(made).toMatch(/^\w{32}$/)
  expect(
    (await cli(['list', '--json'])).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).conversation_id)
      .sort(),
  ).toEqual([id, made].sort())
  expect((await cli(['files', 'put', id, 'talk.json'], { cwd: folder })).stdout).toBe('/workspace/talk.json\n')
  expect((await cli(['files', 'ls', id])).stdout).toBe('talk.json\n')
  expect((await cli(['files', 'cat', id, 'nope'])).code).toBe(1)
  const zip = await cli(['files', 'zip', id, 'w.zip'], { cwd: folder })
  expect([zip.code, readFileSync(join(folder, 'w.zip')).subarray(0, 2).toString()]).toEqual([0, 'PK'])
})

test('everything is kept in one file, which goes on where it broke off, and then deleted', async () => {
  const { cli, client } = await running.owner('cli-moves')
  const talk = await client.conversations.create()
  await talk.ask('echo kept > a.txt')
  await talk.files.upload({ 'large.bin': new Uint8Array(3_000_000).fill(7) })
  const folder = temporaryFolder()
  const whole = await cli(['export', 'all.tar', '--json'], { cwd: folder })
  expect([whole.code, JSON.parse(whole.stdout)]).toMatchObject([
    0,
    { file: 'all.tar', conversations: 1, state: 'ready' },
  ])
  const archive = readFileSync(join(folder, 'all.tar'))
  expect(archive.includes(`conversations/${talk.id}/conversation.json`)).toBe(true)
  expect((await cli(['export', 'all.tar'], { cwd: folder })).code).toBe(2)
  // As tar itself reads it.
  const unpacked = spawnSync('tar', ['-xf', 'all.tar'], { cwd: folder, encoding: 'utf8' })
  expect([unpacked.status, unpacked.stderr]).toEqual([0, ''])
  const files = join(folder, 'conversations', talk.id, 'files')
  const sizes = readdirSync(files).map((name) => readFileSync(join(files, name)).length)
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 3_000_000])
  // The same export again: of it a third is there.
  const { export_id } = JSON.parse(whole.stdout)
  const part = join(folder, `b.tar.${export_id.slice(0, 8)}.part`)
  writeFileSync(part, archive.subarray(0, 1_000_000))
  expect((await cli(['export', 'b.tar'], { cwd: folder })).stderr).toMatch(/every checksum right/)
  expect(readFileSync(join(folder, 'b.tar')).equals(archive)).toBe(true)
  writeFileSync(join(folder, `c.tar.${export_id.slice(0, 8)}.part`), Buffer.alloc(1_000_000, 1))
  expect(await cli(['export', 'c.tar'], { cwd: folder })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/damaged/),
  })
  const pieces: Uint8Array[] = []
  const ready = await client.exports.wait()
  for await (const piece of client.exports.read(ready, archive.length - 1024)) pieces.push(piece)
  expect(Buffer.concat(pieces)).toEqual(Buffer.alloc(1024))

  expect((await cli(['erase', 'cli-moves'])).code).toBe(2)
  expect((await cli(['erase', 'somebody-else', '--yes'])).code).toBe(3)
  const ordered = await cli(['erase', 'cli-moves', '--yes', '--no-wait'])
  expect([ordered.code, ordered.stdout]).toEqual([0, expect.stringMatching(/^It is ordered and goes on/)])
})

/** A tar of these entries, in which nothing is compared. */
function tarOf(entries: Record<string, string>): Buffer {
  const parts = Object.entries(entries).flatMap(([path, content]) => {
    const bytes = Buffer.from(content)
    return [
      Buffer.from(tarHeader({ path, size: bytes.length, mtime: 0 })),
      bytes,
      Buffer.from(tarPadding(bytes.length)),
    ]
  })
  return Buffer.concat([...parts, Buffer.from(TAR_END)])
}

test('an archive is taken over by one command, which goes on where it broke off and tells what became of it', async () => {
  const [from, to] = [await running.owner('cli-gives'), await running.owner('cli-takes')]
  const talk = await from.client.conversations.create()
  await talk.ask('echo kept > a.txt')
  await talk.files.upload({ 'large.bin': randomBytes(5_000_000) })
  await from.client.call('POST /api/secrets', { body: { name: 'DEPLOY_KEY', value: 'a-secret-value' } })
  const folder = temporaryFolder()
  const at = (name: string) => join(folder, name)
  expect((await from.cli(['export', 'all.tar'], { cwd: folder })).code).toBe(0)
  const archive = readFileSync(at('all.tar'))
  const take = (...args: string[]) => to.cli(['import', ...args], { cwd: folder })
  expect(await take('--state')).toMatchObject({ code: 0, stdout: 'There is no import.\n' })
  expect((await take('--withdraw')).code).toBe(3)

  // What is no archive is told before anything is sent.
  const flipped = Buffer.from(archive)
  flipped[archive.length >> 1] = (flipped[archive.length >> 1] ?? 0) ^ 1
  const broken: Record<string, Buffer> = {
    ...{ empty: Buffer.alloc(0), text: Buffer.from('hello '.repeat(999)), flipped, cut: archive.subarray(0, 900_000) },
    'no JSON': tarOf({ 'manifest.json': '{nope' }),
    'no manifest': tarOf({ 'manifest.json': 'null' }),
    'an empty manifest': tarOf({ 'manifest.json': '{}' }),
    'a list that is none': tarOf({ 'manifest/0000000000.jsonl': 'x\n', 'manifest.json': '{"id":"x","lists":[]}' }),
  }
  for (const [name, bytes] of Object.entries(broken)) {
    writeFileSync(at('broken.tar'), bytes)
    const told = [1, expect.stringMatching(/^bellwether: the archive is damaged at .*; nothing was sent\n$/)]
    expect([name, await take('broken.tar')]).toMatchObject([name, { code: told[0], stderr: told[1] }])
  }
  for (const args of [['missing.tar'], ['.'], [], ['all.tar', 'all.tar'], ['--state', 'all.tar']])
    expect([args, (await take(...args)).code]).toEqual([args, 2])
  expect(await to.client.imports.state()).toBe(null)

  // Of an earlier try a part is there.
  const begun = await to.client.imports.begin(archive.length)
  const stop = new AbortController()
  const read = async (start: number, end: number) => archive.subarray(start, end)
  const sending = to.client.imports.send(begun, read, { onProgress: () => stop.abort(), signal: stop.signal })
  await expect(sending).rejects.toThrow()
  expect((await take('--state')).stdout).toMatch(/^receiving: 4\.2 MB of 5\.\d MB\n$/)
  const taken = await take('all.tar')
  expect([taken.code, taken.stderr, taken.stdout]).toEqual([
    0,
    '',
    expect.stringMatching(/^Taken over: 1 conversations/),
  ])
  expect(taken.stdout).toContain('To be given again: secret DEPLOY_KEY.')
  const same = to.client.conversations.open(talk.id)
  await same.start()
  expect([await same.files.read('a.txt'), (await same.files.list()).length]).toEqual(['kept\n', 2])
  expect(JSON.parse((await take('--state', '--json')).stdout)).toMatchObject({ phase: 'done', conversations: 1 })

  expect(await take('all.tar')).toMatchObject({ code: 1, stderr: expect.stringMatching(/imported already/) })
  expect(await take('--withdraw')).toMatchObject({ code: 0, stdout: 'The import is withdrawn.\n' })
  expect((await take('--state')).stdout).toBe('There is no import.\n')
})

test('Ctrl-C pauses the agent, and a second one ends the command that runs', async () => {
  const { cli } = await running.owner('cli-interrupt')
  const left = await cli(['chat', 'sleep 1000'], { interruptAt: /^\$ sleep|once more ends/m })
  expect([left.code, left.stderr]).toEqual([130, expect.stringMatching(/pausing[\s\S]*stopping/)])
})

test('an action that waits is not done where nobody can be asked, and done with --yes', async () => {
  const { cli, client } = await running.owner('cli-confirm')
  const script = (name: string) => {
    const call = { id: '1', name: 'execute_bash', arguments: { command: 'echo done > x.txt; cat x.txt' } }
    model.setScript(name, { replies: [{ calls: [call] }, { text: 'as you wish' }] })
    const settings = { llm_model: 'openai/x', llm_base_url: `${model.url}/${name}/v1`, llm_api_key: 'k' }
    return client.call('POST /api/settings', {
      body: { ...settings, confirmation_mode: true, security_analyzer: 'invariant' },
    })
  }
  await script('asked')
  await client.call('POST /api/security/settings', { body: { RISK_SEVERITY: 0 } })
  const held = await cli(['chat', '--agent', 'CodeActAgent', 'do it'])
  expect([held.code, held.stdout]).toEqual([1, expect.stringContaining('waits for you')])
  expect(held.stderr).toMatch(/--yes/)
  await script('unasked')
  const done = await cli(['chat', '--agent', 'CodeActAgent', '--yes', 'do it'])
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/done\nas you wish\n$/)])
})

test('a budget is shown and set by field, and what is no number is refused before it is sent', async () => {
  const { cli } = await running.owner('thrifty')
  const set = await cli(['budget', 'set', '--day-usd', '2.5', '--month-tokens', '1000', '--json'])
  expect([set.code, JSON.parse(set.stdout)]).toMatchObject([
    0,
    { day: { usd: { own: 2.5 } }, month: { tokens: { own: 1_000 } } },
  ])
  expect((await cli(['budget', 'set', '--day-usd', 'none'])).code).toBe(0)
  const shown = await cli(['budget'])
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringMatching(/USD a day +none +0 +0 +\d{4}-\d\d-\d\d[\s\S]*tokens a month +1000 +0 +0/),
  ])
  for (const wrong of [['set'], ['set', '--day-usd', 'much'], ['--day-usd', '1'], ['get']])
    expect([wrong, (await cli(['budget', ...wrong])).code]).toEqual([wrong, 2])
})

test('keys are made, listed and taken back, with the root key', async () => {
  const env = { BELLWETHER_KEY: ROOT_KEY }
  const { cli } = await running.owner('keys')
  const made = await cli(['keys', 'create', 'bob', '--json', '--scopes', 'analysis'], { env })
  const { key, id } = JSON.parse(made.stdout)
  expect([made.code, (await cli(['analyze', 'nonsense-code-1'], { env: { BELLWETHER_KEY: key } })).code]).toEqual([
    0, 3,
  ])
  expect((await cli(['list'], { env: { BELLWETHER_KEY: key } })).stderr).toMatch(/scope/)
  expect((await cli(['keys', 'list', 'bob'], { env })).stdout).toContain(id)
  expect((await cli(['keys', 'revoke', id], { env })).code).toBe(0)
  expect((await cli(['keys', 'create', 'bob', '--scopes', 'all'], { env })).code).toBe(2)
})
