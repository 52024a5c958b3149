// The terminal of a conversation as its viewers see it, over a runner that does what the test says, lies included.

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { conversation } from '../../src/bindings.ts'
import { type Client, client, ROOT_KEY, request } from '../helpers/app.ts'
import { startConversation } from '../helpers/conversation.ts'
import { type Shell, shownShell, type Viewer } from '../helpers/stand-in-terminal.ts'

const encoder = new TextEncoder()
const WINDOW = 256 * 1024

const shows = (viewer: Viewer, text: string) => expect.poll(() => viewer.text).toBe(text)

test('two people see one shell, who comes later sees what was there, and what would act on their terminals is not among it', async () => {
  const { shell, look } = await shownShell()
  shell.text = 'before\r\n'
  const ann = await look('cols=100&rows=30')
  await shows(ann, 'before\r\n')
  expect(shell.opens).toMatchObject([{ cols: 100, rows: 30, starts: true }])
  expect(ann.last('ready')).toMatchObject({ terminal: 'shell-1', position: 0, reset: true, cols: 100, rows: 30 })
  shell.print('\x1b]52;c;cm0=\x07red \x1b[31')
  await shows(ann, 'before\r\nred ')
  shell.print('m世界\x1b[c')
  const bob = await look()
  await shows(ann, 'before\r\nred \x1b[31m世界')
  await shows(bob, 'before\r\nred \x1b[31m世界')
  await expect.poll(() => ann.last('viewers')).toEqual({ type: 'viewers', count: 2 })
  ann.send(encoder.encode('ls'))
  bob.send(encoder.encode('\r'))
  await expect.poll(() => shell.typed).toBe('ls\r')
  expect(shell.opens.length).toBe(1)
  ann.close()
  bob.close()
  await expect.poll(() => shell.closes).toBe(1)
})

test('a viewer who comes back goes on with what it has, to the byte; with another shell it begins anew', async () => {
  const { shell, look } = await shownShell()
  shell.text = 'one é \x1b[1mtwo'
  const first = await look()
  await shows(first, 'one é \x1b[1mtwo')
  first.close()
  await expect.poll(() => shell.closes).toBe(1)
  shell.print('')
  shell.text += ' three'
  const again = await look(`terminal=shell-1&position=${first.position}`)
  await shows(again, ' three')
  expect(again.last('ready')).toMatchObject({ reset: false, position: first.position })
  const other = await look(`terminal=shell-0&position=${first.position}`)
  await shows(other, 'one é \x1b[1mtwo three')
  expect(other.last('ready')).toMatchObject({ reset: true, position: 0 })
})

test('an object that slept goes on where its viewers are, with output and with what is typed', async () => {
  const { shell, look, chat, owner } = await shownShell()
  shell.text = 'a \x1b[?2004hb'
  const [ann, bob] = [await look(), await look('read_only=true')]
  await shows(ann, 'a b')
  await shows(bob, 'a b')
  const sleep = () => evictDurableObject(conversation(env, owner.owner, chat.id))
  await sleep()
  shell.print(' c\x1b]0;')
  await shows(ann, 'a b c')
  await sleep()
  shell.print('title\x07 d')
  await shows(ann, 'a b c d')
  await shows(bob, 'a b c d')
  await sleep()
  ann.say({ type: 'paste', text: 'x\x1b[201~\ny' })
  await expect.poll(() => shell.typed).toBe('\x1b[200~x[201~\ry\x1b[201~')
  await sleep()
  ann.close()
  bob.close()
  await expect.poll(() => shell.closes).toBeGreaterThan(0)
})

test('the smallest of those who may type gives the size, and who only reads can do nothing', async () => {
  const { shell, look } = await shownShell()
  const ann = await look('cols=120&rows=40')
  const bob = await look('cols=100&rows=50')
  const eve = await look('cols=20&rows=5&read_only=true')
  await expect.poll(() => shell.sizes.at(-1)).toBe('100x40')
  await expect.poll(() => eve.last('ready')).toMatchObject({ read_only: true, cols: 100, rows: 40 })
  ann.say({ type: 'resize', cols: 90, rows: 60 })
  await expect.poll(() => shell.sizes.at(-1)).toBe('90x50')
  await expect.poll(() => eve.last('size')).toEqual({ type: 'size', cols: 90, rows: 50 })
  for (const message of [{ type: 'resize', cols: 10, rows: 10 }, { type: 'paste', text: 'x' }, { type: 'start' }])
    eve.say(message)
  eve.send(encoder.encode('rm'))
  await expect.poll(() => eve.said.filter(({ type }) => type === 'error').length).toBe(4)
  bob.send(encoder.encode('q'))
  await expect.poll(() => shell.typed).toBe('q')
  bob.close()
  await expect.poll(() => shell.sizes.at(-1)).toBe('90x60')
})

test('a viewer who does not keep up is closed, comes back with what it has, and the others miss nothing', async () => {
  const { shell, look, runner } = await shownShell()
  const [fast, slow] = [await look(), await look()]
  slow.acks = false
  await expect.poll(() => slow.last('ready')).toBeDefined()
  let all = ''
  for (let n = 0; slow.closed === null; n++) {
    const piece = `${n} ${'x'.repeat(60_000)}\r\n`
    all += piece
    shell.print(piece)
    await shows(fast, all)
    expect(all.length).toBeLessThan(4 * 1024 * 1024)
  }
  expect(slow.closed).toEqual({ code: 4008, reason: 'too slow: connect again with what you have' })
  expect(runner.line?.closed).toBeNull()
  shell.from = shell.text.length - WINDOW
  const back = await look(`terminal=shell-1&position=${slow.position}`)
  await expect.poll(() => back.position).toBe(shell.text.length)
  const from = Number(back.last('ready')?.position)
  expect(back.text).toBe(all.slice(from))
  expect(from >= slow.position).toBe(true)
})

test('when nobody takes anything the runner is not asked for more', async () => {
  const { shell, look, runner } = await shownShell()
  const viewer = await look()
  viewer.acks = false
  await expect.poll(() => viewer.last('ready')).toBeDefined()
  const acked = () => runner.acks.filter((ack) => ack.startsWith(`terminal:${shell.stream} `)).length
  for (let n = 0; n < 9; n++) {
    shell.print('x'.repeat(32_768))
    await expect.poll(() => viewer.position).toBe(shell.text.length)
  }
  expect(acked()).toBe(8)
  viewer.say({ type: 'ack', position: 2 ** 52 })
  await expect.poll(acked).toBe(9)
})

/** What a viewer sends, and how it is closed for it. */
const BAD: readonly (readonly [string, (viewer: Viewer) => void, number])[] = [
  ['bytes of a megabyte', (v) => v.send(new Uint8Array(1_000_000)), 1009],
  ['a text of a megabyte', (v) => v.say({ type: 'paste', text: 'x'.repeat(1_000_000) }), 1009],
  ['text where bytes are expected', (v) => v.send('ls\r'), 1007],
  ['a size that is none', (v) => v.say({ type: 'resize', cols: 1e9, rows: -1 }), 1007],
  ['a message of another kind', (v) => v.say({ type: 'events' }), 1007],
  ['a place before the beginning', (v) => v.say({ type: 'ack', position: -1 }), 1007],
]

test('a viewer that sends what is no message is closed, and nobody else', async () => {
  const { shell, look } = await shownShell()
  const calm = await look()
  for (const [name, send, code] of BAD) {
    const bad = await look()
    await expect.poll(() => bad.last('ready')).toBeDefined()
    send(bad)
    await expect.poll(() => [name, bad.closed?.code]).toEqual([name, code])
  }
  shell.print('still here')
  await shows(calm, 'still here')
  expect([shell.typed, calm.closed]).toEqual(['', null])
})

test('what is typed and not taken is bounded', async () => {
  const { look, runner, shell } = await shownShell()
  runner.typed = () => {}
  const [eager, calm] = [await look(), await look()]
  await expect.poll(() => eager.last('ready')).toBeDefined()
  for (let n = 0; n < 24; n++) eager.send(new Uint8Array(60_000).fill(0x61))
  await expect.poll(() => eager.closed?.code).toBe(4013)
  shell.print('x')
  await shows(calm, 'x')
})

const refusal = async (by: Client, path: string, headers: Record<string, string> = { upgrade: 'websocket' }) => {
  const answer = await by.ask(`${path}/terminal`, { headers })
  return [answer.status, await answer.text()] as const
}

test('without a runner, for others, stopped, or with too many viewers there is no terminal, and the answer says what to do', async () => {
  const { chat, owner, look } = await shownShell()
  const stranger = await client()
  expect(await refusal(stranger, chat.path)).toEqual(
    await refusal(stranger, '/api/conversations/abc').then(([s, t]) => [s, t.replace('abc', chat.id)]),
  )
  expect((await refusal(stranger, chat.path))[0]).toBe(404)
  expect((await refusal(await client({ owner: owner.owner, scopes: ['analysis'] }), chat.path))[0]).toBe(403)
  const plain = (by: Client, path: string) => by.json(`${path}/terminal`)
  expect(await plain(owner, chat.path)).toEqual({ available: true, reason: null })
  const none = await startConversation({})
  await none.settled()
  expect(await refusal(none.owner, none.path)).toEqual([409, expect.stringContaining('npm run runner')])
  const said = { available: false, reason: expect.stringContaining('npm run runner') }
  expect(await plain(none.owner, none.path)).toEqual(said)
  const edge = await stranger.json<{ conversation_id: string }>('/api/conversations?runtime=edge', {
    method: 'POST',
    body: {},
  })
  expect(await refusal(stranger, `/api/conversations/${edge.conversation_id}`)).toEqual([
    409,
    expect.stringContaining('runtime=runner'),
  ])
  for (let n = 0; n < 16; n++) await look()
  const [status, text] = await refusal(owner, chat.path)
  expect([status, text]).toEqual([429, expect.stringContaining('terminal_viewers')])
  const last = await look.call(null, '').catch((error: Error) => error.message)
  expect(last).toContain('429')
  await owner.ask(`${chat.path}/stop`, { method: 'POST' })
  expect(await refusal(owner, chat.path)).toEqual([409, expect.stringContaining('stopped')])
})

test('the end of the conversation and of the key closes viewers', async () => {
  const { chat, owner, look, shell } = await shownShell()
  const other = await client({ owner: owner.owner })
  const [mine, theirs] = [await look(), await look('', other)]
  await expect.poll(() => theirs.last('ready')).toBeDefined()
  await request(`/api/keys/${other.keyId}`, { method: 'DELETE', headers: { 'x-session-api-key': ROOT_KEY } })
  await expect.poll(() => theirs.closed).toEqual({ code: 1008, reason: 'the key was revoked' })
  shell.print('x')
  await shows(mine, 'x')
  const held = await runInDurableObject(conversation(env, owner.owner, chat.id), (object) => object.heldSockets())
  expect(held).toEqual([{ key: owner.keyId, sockets: 1 }])
  await owner.ask(`${chat.path}/stop`, { method: 'POST' })
  await expect.poll(() => mine.closed).toEqual({ code: 1000, reason: 'stopped' })
})

test('a shell that ended is told, nothing is typed into the void, and another one comes when it is asked for', async () => {
  const { shell, look } = await shownShell()
  const viewer = await look()
  shell.print('bye')
  await shows(viewer, 'bye')
  shell.end('The shell ended (exit code 0).')
  await expect.poll(() => viewer.last('ended')).toEqual({ type: 'ended', message: 'The shell ended (exit code 0).' })
  viewer.send(encoder.encode('x'))
  viewer.say({ type: 'start' })
  await expect.poll(() => viewer.said.filter(({ type }) => type === 'ready').length).toBe(2)
  expect(viewer.last('ready')).toMatchObject({ terminal: 'shell-2', reset: true })
  shell.print('$ ')
  await shows(viewer, 'bye$ ')
  expect(shell.typed).toBe('')
  // One who had the first shell gets no other one unasked, and is told why when there is none.
  shell.end('again')
  await expect.poll(() => viewer.last('ended')?.message).toBe('again')
  const late = await look('terminal=shell-2&position=2')
  await expect.poll(() => late.last('ended')?.message).toBe('again')
})

test('a lost runner is told; the same shell is shown again when it is back, and of another life that it is gone', async () => {
  const { shell, look, runner } = await shownShell()
  const viewer = await look()
  shell.print('one')
  await shows(viewer, 'one')
  shell.line = null
  runner.line?.close()
  await expect.poll(() => viewer.last('lost')).toBeDefined()
  shell.text += ' two'
  await runner.reconnect()
  await shows(viewer, 'one two')
  shell.line = null
  runner.line?.close()
  await expect.poll(() => viewer.said.filter(({ type }) => type === 'lost').length).toBe(2)
  shell.id = ''
  await runner.reconnect()
  await expect.poll(() => viewer.last('ended')?.message).toBe('The shell is gone with its runner.')
  viewer.say({ type: 'start' })
  await expect.poll(() => viewer.last('ready')?.terminal).toMatch(/^shell-[2-9]$/)
})

/** What a runner does with its terminal, and how its connection is closed for it. */
const LIES: readonly (readonly [string, (shell: Shell) => void])[] = [
  ['a piece that comes twice', (shell) => void [0, 0].map((seq) => shell.frame('x', false, seq))],
  ['a piece that was left out', (shell) => shell.frame('x', false, 1)],
  ['a piece after the end', (shell) => void [0, 1].map((seq) => shell.frame('x', true, seq))],
  [
    'more than the window',
    (shell) => {
      for (let seq = 0; seq < 40; seq++) shell.frame('x'.repeat(60_000), false, seq)
    },
  ],
]

test('a runner that lies about its terminal loses its connection, and its viewers are told', async () => {
  for (const [name, lie] of LIES) {
    const { shell, look, runner } = await shownShell()
    const viewer = await look()
    viewer.acks = false
    await expect.poll(() => viewer.last('ready')).toBeDefined()
    const { line } = runner
    lie(shell)
    await expect.poll(() => [name, line?.closed?.code]).toEqual([name, 1008])
    await expect.poll(() => viewer.last('lost')).toBeDefined()
    expect(viewer.closed).toBeNull()
  }
})

test('an answer that is none, and a runner that has no terminal, are told with what to do', async () => {
  for (const [answer, told] of [
    [{ terminal: 7, from: -1, to: 0, reason: '' }, /did not open a terminal/],
    [{ error: { code: -32601, message: 'none' } }, /earlier release/],
  ] as const) {
    const { shell, look, runner } = await shownShell()
    runner.ports = () => answer
    const viewer = await look()
    await expect.poll(() => viewer.last('ended')?.message).toMatch(told)
    // What belongs to no stream is nothing.
    shell.line = runner.line
    shell.frame('x')
    runner.line?.send({ jsonrpc: '2.0', method: 'terminal/ended', params: { stream: 5, reason: 'x' } })
    runner.line?.send({ jsonrpc: '2.0', method: 'frame/ack', params: { stream: 'terminal:99', seq: 3 } })
    runner.ports = (method, params, line) => shell.asked(method, params, line)
    viewer.say({ type: 'start' })
    await expect.poll(() => viewer.last('ready')).toBeDefined()
    expect(viewer.text).toBe('')
  }
})
