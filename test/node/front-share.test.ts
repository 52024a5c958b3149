// Who is let into the runtime, when several ask for more than it can do at a time.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type EndTurn, FairShare, LOOK, SHARES, type Shares } from '../../scripts/start/fair-share.ts'
import { Front } from '../../scripts/start/front.ts'
import { OWNER_HEADER } from '../../scripts/start/front-word.ts'
import { freePort } from '../../scripts/start/port.ts'

/** In which no time passes. */
const UNMEASURED: Shares = {
  alone: 1,
  besideOthers: 1,
  recentMs: 600_000,
  longestTurnMs: 600_000,
  partOfTime: 1,
  burstMs: 600_000,
}

/** A runtime that answers when it is told to. Of a key or cookie `ann-1` the owner is `ann`; `made-up-1` is nobody's. */
class HeldRuntime {
  readonly inside: { key: string; response: ServerResponse }[] = []
  /** Keys whose owner the front has asked for. */
  readonly told = new Set<string>()
  readonly url: string

  private constructor(url: string) {
    this.url = url
  }

  static async start(longestTurnMs = 600_000): Promise<HeldRuntime> {
    const take = (request: IncomingMessage, response: ServerResponse) => runtime.#take(request, response)
    const server = createServer((request, response) => take(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const own = await freePort()
    const front = await Front.listen(own, 'word', { ...UNMEASURED, alone: 32, besideOthers: 2, longestTurnMs })
    const runtime = new HeldRuntime(`http://127.0.0.1:${own}`)
    front.serveFrom((server.address() as AddressInfo).port)
    onTestFinished(() => {
      front.close()
      server.close()
      server.closeAllConnections()
    })
    return runtime
  }

  ask(key: string, signal?: AbortSignal): Promise<string> {
    return this.askWith({ 'x-session-api-key': key }, signal)
  }

  askWith(headers: Record<string, string>, signal?: AbortSignal): Promise<string> {
    const answer = fetch(this.url, { headers, ...(signal ? { signal } : {}) })
    return answer.then((response) => response.text())
  }

  /** Until the front knows whose these keys are. It asks for one after the other, so it knows them when it asks for the last. */
  async meet(...keys: string[]): Promise<void> {
    for (const key of [...keys, 'made-up-last']) await this.#serveOne(key)
    await expect.poll(() => [...this.told]).toContain('made-up-last')
    for (const key of keys) await this.#serveOne(key)
  }

  async #serveOne(key: string): Promise<void> {
    const asked = this.ask(key)
    await expect.poll(() => this.keys()).toEqual([key])
    this.answer(key)
    await asked
  }

  keys(): string[] {
    return this.inside.map(({ key }) => key).sort()
  }

  answer(key: string): void {
    const at = this.inside.findIndex((one) => one.key === key)
    const [one] = this.inside.splice(at, 1)
    one?.response.end(`for ${key}`)
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { cookie = '' } = request.headers
    const key = String(request.headers['x-session-api-key'] ?? /bellwether_session=([^;]*)/.exec(cookie)?.[1])
    if (request.headers[OWNER_HEADER] !== undefined) {
      this.told.add(key)
      response.end(JSON.stringify({ owner: key.startsWith('made-up') ? null : key.split('-')[0] }))
      return
    }
    this.inside.push({ key, response })
    response.once('close', () => {
      const at = this.inside.findIndex((one) => one.response === response)
      if (at >= 0) this.inside.splice(at, 1)
    })
  }
}

test('beside somebody else a caller has two requests inside, and the other one goes past the line', async () => {
  const runtime = await HeldRuntime.start()
  await runtime.meet('other', 'busy')
  const flood = Array.from({ length: 6 }, () => runtime.ask('busy'))
  await expect.poll(() => runtime.keys()).toEqual(['busy', 'busy'])
  const past = runtime.ask('other')
  await expect.poll(() => runtime.keys()).toEqual(['busy', 'busy', 'other'])
  runtime.answer('other')
  expect(await past).toBe('for other')
  for (let left = 6; left > 0; left--) {
    await expect.poll(() => runtime.keys()).toEqual(Array(Math.min(left, 2)).fill('busy'))
    runtime.answer('busy')
  }
  expect(await Promise.all(flood)).toEqual(Array(6).fill('for busy'))
})

test('who is alone has many inside', async () => {
  const runtime = await HeldRuntime.start()
  const flood = Array.from({ length: 40 }, () => runtime.ask('made-up'))
  for (let left = 40; left > 0; left--) {
    await expect.poll(() => runtime.inside.length).toBe(Math.min(left, 32))
    runtime.answer('made-up')
  }
  expect(await Promise.all(flood)).toEqual(Array(40).fill('for made-up'))
})

test('what lasts long holds no other of the same caller up', async () => {
  const runtime = await HeldRuntime.start(200)
  const flood = Array.from({ length: 40 }, () => runtime.ask('made-up'))
  await expect.poll(() => runtime.inside.length, { timeout: 10_000 }).toBe(40)
  while (runtime.inside.length > 0) runtime.answer('made-up')
  expect(await Promise.all(flood)).toEqual(Array(40).fill('for made-up'))
})

test('two keys of one owner are one caller, once the runtime has said so', async () => {
  const runtime = await HeldRuntime.start()
  await runtime.meet('other', 'twin-1', 'twin-2')
  const flood = ['twin-1', 'twin-2', 'twin-1', 'twin-2'].map((key) => runtime.ask(key))
  await expect.poll(() => runtime.inside.length).toBe(2)
  const past = runtime.ask('other')
  await expect.poll(() => runtime.keys()).toEqual(['other', 'twin-1', 'twin-2'])
  runtime.answer('other')
  await past
  for (const key of ['twin-1', 'twin-2', 'twin-1', 'twin-2']) {
    await expect.poll(() => runtime.keys()).toContain(key)
    runtime.answer(key)
  }
  await Promise.all(flood)
})

test('keys that are nobody’s, and requests without one, are one caller', async () => {
  const runtime = await HeldRuntime.start()
  await runtime.meet('other')
  const shown: Record<string, string>[] = [
    { 'x-session-api-key': 'made-up-1' },
    { 'x-session-api-key': 'made-up-2' },
    { authorization: 'Bearer made-up-3' },
    { authorization: 'Basic made-up-4' },
    { cookie: 'bellwether_session=made-up-5' },
    {},
  ]
  const flood = shown.map((headers) => runtime.askWith(headers))
  await expect.poll(() => runtime.inside.length).toBe(2)
  const past = runtime.ask('other')
  await expect.poll(() => runtime.keys()).toContain('other')
  expect(runtime.inside).toHaveLength(3)
  runtime.answer('other')
  await past
  for (let left = flood.length; left > 0; left--) {
    await expect.poll(() => runtime.inside.length).toBe(Math.min(left, 2))
    runtime.answer(runtime.keys()[0] ?? '')
  }
  await Promise.all(flood)
})

test('what else stands in a request makes no other caller of its owner', async () => {
  const runtime = await HeldRuntime.start()
  const cookie = 'bellwether_session=signed-1'
  const asked = runtime.askWith({ cookie })
  await expect.poll(() => runtime.keys()).toEqual(['signed-1'])
  runtime.answer('signed-1')
  await asked
  await runtime.meet('other', 'signed-2')
  const shown = [
    { cookie: `a=1; ${cookie}` },
    { cookie: `${cookie}; b=2` },
    { cookie, authorization: 'Basic 3' },
    { authorization: 'bearer   signed-2' },
  ]
  const flood = shown.map((headers) => runtime.askWith(headers))
  await expect.poll(() => runtime.inside.length).toBe(2)
  const past = runtime.ask('other')
  await expect.poll(() => runtime.keys()).toContain('other')
  const nobody = runtime.askWith({})
  await expect.poll(() => runtime.inside.length).toBe(4)
  runtime.answer('other')
  await past
  for (let left = flood.length + 1; left > 0; left--) {
    await expect.poll(() => runtime.inside.length).toBeGreaterThan(0)
    runtime.answer(runtime.keys()[0] ?? '')
  }
  await Promise.all([...flood, nobody])
})

test('who leaves while waiting is not asked for, and gives its place to the next', async () => {
  const runtime = await HeldRuntime.start()
  await runtime.meet('other', 'busy')
  const before = runtime.ask('other')
  await expect.poll(() => runtime.keys()).toEqual(['other'])
  const inside = [runtime.ask('busy'), runtime.ask('busy')]
  await expect.poll(() => runtime.keys()).toEqual(['busy', 'busy', 'other'])
  const leaver = new AbortController()
  const left = runtime.ask('busy', leaver.signal).catch(() => 'left')
  const behind = runtime.ask('busy')
  leaver.abort()
  expect(await left).toBe('left')
  for (let at = 0; at < 3; at++) {
    await expect.poll(() => runtime.keys()).toContain('busy')
    runtime.answer('busy')
  }
  runtime.answer('other')
  expect(await Promise.all([...inside, behind, before])).toEqual(['for busy', 'for busy', 'for busy', 'for other'])
})

test('who leaves before the answer leaves work behind: the turn goes on until it would have been over', async () => {
  for (const [longestTurnMs, begun] of [
    [600_000, 0],
    [50, 1],
  ] as const) {
    const runtime = await HeldRuntime.start(longestTurnMs)
    await runtime.meet('other', 'busy')
    const before = runtime.ask('other')
    await expect.poll(() => runtime.keys()).toEqual(['other'])
    const leaver = new AbortController()
    const left = [1, 2].map(() => runtime.ask('busy', leaver.signal).catch(() => 'left'))
    const busy = () => runtime.keys().filter((key) => key === 'busy').length
    await expect.poll(busy).toBe(2)
    leaver.abort()
    expect(await Promise.all(left)).toEqual(['left', 'left'])
    await expect.poll(busy).toBe(0)
    const behind = runtime.ask('busy').catch(() => 'front closed')
    if (begun === 1) await expect.poll(busy).toBe(1)
    const last = runtime.ask('other')
    await expect.poll(() => runtime.keys().filter((key) => key === 'other').length).toBe(2)
    expect(busy()).toBe(begun)
    runtime.answer('other')
    runtime.answer('other')
    expect(await Promise.all([before, last])).toEqual(['for other', 'for other'])
    void behind
  }
})

test('a quick request waits behind many slow ones of its own caller for one turn of each kind', async () => {
  const share = new FairShare(UNMEASURED)
  const begun: { kind: string; end: EndTurn | null }[] = []
  const ask = async (kind: string) => {
    const end = await share.turn('busy', kind, () => kind === 'left')
    begun.push({ kind, end })
  }
  const kinds = ['change', ...Array(20).fill('coming'), ...Array(20).fill('change'), 'left', 'left', 'read', 'read']
  const asked = kinds.map(ask)
  for (let at = 0; at < kinds.length; at++) {
    await expect.poll(() => begun.length).toBeGreaterThan(at)
    begun[at]?.end?.()
  }
  await Promise.all(asked)
  const stayed = begun.map(({ kind }) => kind).filter((kind) => kind !== 'left')
  expect(stayed.slice(0, 7)).toEqual(['change', 'coming', 'change', 'read', 'coming', 'change', 'read'])
  expect(begun).toHaveLength(kinds.length)
})

/** Time that passes only where a test lets it. */
function stoppedClock(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

test('beside somebody else a caller is inside for its part of the time, after a burst', async () => {
  stoppedClock()
  const share = new FairShare({ ...SHARES, partOfTime: 0.25, burstMs: 50, recentMs: 600_000 })
  const waits: number[] = []
  let isOver = false
  const flood = async () => {
    while (!isOver) {
      const asked = performance.now()
      const end = await share.turn('busy', 'read', () => false)
      waits.push(performance.now() - asked)
      await new Promise((resolve) => setTimeout(resolve, 5))
      end?.()
    }
  }
  const other = share.turn('other', 'read', () => false)
  const flooding = flood()
  await vi.advanceTimersByTimeAsync(60)
  expect(waits.slice(0, 10)).toEqual(Array(10).fill(0))
  const before = waits.length
  await vi.advanceTimersByTimeAsync(10_000)
  // 5 ms of every 20.
  expect((waits.length - before) / 500).toBeCloseTo(1, 1)
  expect(typeof other).toBe('function')
  isOver = true
  await vi.advanceTimersByTimeAsync(1_000)
  await flooding
})

test('who is alone has all of the time, and who was busy then has its part at once when somebody else asks', async () => {
  stoppedClock()
  const share = new FairShare({ ...SHARES, partOfTime: 0.25, burstMs: 50, recentMs: 1_000 })
  const turnOf5 = async (name: string) => {
    const asked = performance.now()
    const end = await share.turn(name, 'read', () => false)
    const waited = performance.now() - asked
    await vi.advanceTimersByTimeAsync(5)
    end?.()
    return waited
  }
  for (let at = 0; at < 200; at++) expect(await turnOf5('busy')).toBe(0)
  expect(share.turn('monitor', LOOK, () => false)).toBeTypeOf('function')
  expect(await turnOf5('busy')).toBe(0)
  expect(await turnOf5('other')).toBe(0)
  const held = share.turn('busy', 'read', () => false)
  expect(held).toBeInstanceOf(Promise)
  await vi.advanceTimersByTimeAsync(100)
  expect(await held).toBeTypeOf('function')
})

test('a caller who comes back one by one is remembered until its part of the time has made up for it', async () => {
  stoppedClock()
  const share = new FairShare({ ...SHARES, partOfTime: 0.25, burstMs: 50, recentMs: 600_000 })
  void share.turn('other', 'read', () => false)
  let atOnce = 0
  let turn = share.turn('busy', 'read', () => false)
  for (; typeof turn === 'function'; turn = share.turn('busy', 'read', () => false)) {
    atOnce += 1
    await vi.advanceTimersByTimeAsync(10)
    turn()
  }
  // Each takes 7.5 ms more than its part.
  expect(atOnce).toBe(7)
  await vi.advanceTimersByTimeAsync(100)
  expect(await turn).toBeTypeOf('function')
})
