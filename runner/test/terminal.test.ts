// The terminal of a conversation on its runner, without a service: real shells, and a connection that the test reads.

import { afterEach, expect, test, vi } from 'vitest'
import type { Frame } from '../../src/runners/frames.ts'
import { PORT_WINDOW_BYTES } from '../../src/runners/port-wire.ts'
import { SCROLLBACK_BYTES } from '../../src/runners/terminal-wire.ts'
import type { Peer } from '../src/connect/peer.ts'
import { Scrollback } from '../src/terminal/scrollback.ts'
import { Terminal } from '../src/terminal/terminal.ts'

const MINUTE = 60_000
const SIZE = { cols: 80, rows: 24 }

/** The other side: what came, acknowledged or not. */
class OtherSide {
  text = ''
  bytes = 0
  acks = true
  readonly told: { method: string; params: Record<string, unknown> }[] = []
  readonly terminal: Terminal

  constructor(idleMs: number | null = null, args: readonly string[] = ['--norc', '--noprofile', '-i']) {
    const env = { PATH: process.env.PATH ?? '', PS1: '$ ', HOME: '/' }
    const launch = () => ({ command: 'bash', args: [...args], env, cwd: '/' })
    this.terminal = new Terminal({ launch, log: () => {}, idleMs })
    opened.push(this.terminal)
    this.terminal.connect({
      notify: (method: string, params: Record<string, unknown>) => this.told.push({ method, params }),
      sendFrame: (frame: Frame) => this.#came(frame),
    } as unknown as Peer)
  }

  type(text: string, seq: number, stream = 1): void {
    const head = { t: 'terminal', stream, seq, text: false, end: false } as const
    this.terminal.received({ head, bytes: Buffer.from(text) })
  }

  #came({ head, bytes }: Frame): void {
    if (head.t !== 'terminal') return
    this.text += Buffer.from(bytes).toString()
    this.bytes += bytes.byteLength
    if (this.acks) setImmediate(() => this.terminal.acknowledged(head.stream, head.seq))
  }
}
const opened: Terminal[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const one of opened.splice(0)) one.end()
})

test('a shell that nobody uses is ended after its time, unless something runs in it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const object = new OtherSide(60 * MINUTE)
  expect(object.terminal.open({ ...SIZE, stream: 1, starts: false })).toMatchObject({ terminal: null, reason: '' })
  expect(object.terminal.open({ ...SIZE, stream: 1, starts: true }).terminal).not.toBeNull()
  await vi.waitUntil(() => object.text.includes('$ '))
  object.type('sleep 1000\r', 0)
  await vi.waitUntil(() => object.text.includes('sleep 1000\r\n'))
  await vi.waitUntil(() => object.terminal.hasWork)
  vi.advanceTimersByTime(180 * MINUTE)
  expect(object.terminal.pid).not.toBeNull()
  object.type('\x03', 1)
  await vi.waitUntil(() => object.text.includes('^C'))
  await vi.waitUntil(() => /\^C\r?\n.*\$ $/.test(object.text))
  vi.advanceTimersByTime(61 * MINUTE)
  expect(object.terminal.pid).toBeNull()
  const reason = 'The shell was ended after 60 minutes without use.'
  await vi.waitUntil(() => object.told.some(({ method }) => method === 'terminal/ended'))
  expect(object.told.at(-1)).toEqual({ method: 'terminal/ended', params: { stream: 1, reason } })
  expect(object.terminal.open({ ...SIZE, stream: 2, starts: false })).toMatchObject({ terminal: null, reason })
})

test('who comes later is given what is kept, from a line on; nobody looking holds nothing up', async () => {
  const object = new OtherSide(null, ['-c', 'seq 1 200000; echo end; sleep 1000'])
  object.terminal.open({ ...SIZE, stream: 1, starts: true })
  object.terminal.close()
  const { terminal } = object.terminal.open({ ...SIZE, stream: 2, starts: false })
  object.terminal.close()
  await vi.waitUntil(() => {
    object.text = ''
    const { from, to } = object.terminal.open({ ...SIZE, stream: 3, starts: false })
    object.terminal.close()
    return from > 0 && to === 1_288_895 + 200_000 + 5
  })
  const again = object.terminal.open({ ...SIZE, stream: 4, starts: false })
  expect(again.terminal).toBe(terminal)
  await vi.waitUntil(() => object.text.endsWith('end\r\n'))
  expect(object.text).toMatch(/^\d{6}\r\n\d{6}\r\n/)
  expect(again.to - again.from).toBeGreaterThan(SCROLLBACK_BYTES - 4096)
  expect(again.to - again.from).toBeLessThan(SCROLLBACK_BYTES + 70_000)
})

test('a program stands still while nothing is acknowledged, and what is typed while it does not read is not taken', async () => {
  const object = new OtherSide(null, ['-c', 'stty raw -echo; yes; '])
  object.acks = false
  object.terminal.open({ ...SIZE, stream: 1, starts: true })
  await vi.waitUntil(() => object.bytes >= PORT_WINDOW_BYTES)
  expect(object.bytes).toBeLessThan(PORT_WINDOW_BYTES + 32 * 1024 + 1)
  for (let seq = 0; seq < 8; seq++) object.type('x'.repeat(32 * 1024), seq)
  // More than the window is a fault of the other side's.
  expect(() => object.type('x', 8)).toThrow('more than the window')
  expect(object.told.filter(({ method }) => method === 'frame/ack').length).toBeLessThan(8)
})

test('the newest bytes are kept by their place, and what is still needed is kept whatever the limit', () => {
  const kept = new Scrollback(10)
  for (const text of ['abc\nde', 'fgh\nij', 'klm\nop']) kept.push(Buffer.from(text), Number.POSITIVE_INFINITY)
  expect([kept.from, kept.end, kept.read(kept.from, 99).toString()]).toEqual([10, 18, 'ij'])
  expect(kept.read(12, 3).toString()).toBe('klm')
  expect(kept.read(18, 3).toString()).toBe('')
  kept.push(Buffer.from('0123456789012345'), 7)
  expect(kept.read(7, 2).toString()).toBe('gh')
})
