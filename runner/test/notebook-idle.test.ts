// What ends a kernel, with a stand-in for the helper: its time is the test's.

import { afterEach, expect, test, vi } from 'vitest'
import { cellOutputIn } from '../../src/runners/output.ts'
import { Notebook } from '../src/notebook/notebook.ts'
import type { CallEnd } from '../src/session/active-call.ts'

const MINUTE = 60_000

/** Says that it is ready, and answers each order with its number. */
const HELPER = `
process.stdout.write('{"t":"ready","python":"/usr/bin/python3","cwd":"/workspace"}\\n{"t":"text","text":5}\\nno json\\n')
let cells = 0
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (JSON.parse(line).op !== 'run') return
  cells += 1
  process.stdout.write(JSON.stringify({ t: 'text', text: 'cell ' + cells }) + '\\n')
  process.stdout.write('{"t":"done","status":"ok","cwd":"/workspace"}\\n')
})`

function notebook(idleMs: number | null) {
  const launch = () => ({ command: process.execPath, args: ['-e', HELPER], env: {}, cwd: '/' })
  const made = new Notebook({ launch, log: () => {}, idleMs })
  opened.push(made)
  const cell = (text: string) =>
    new Promise<CallEnd & { text: string; shown: string }>((resolve) => {
      let output = ''
      made.take(
        { kind: 'cell', text, env: {} },
        {
          onOutput: (bytes) => {
            output += bytes.toString()
          },
          onBegun: () => {},
          onEnded: (end) => resolve({ ...end, shown: cellOutputIn(output).text }),
        },
      )
    })
  return { made, cell }
}
const opened: Notebook[] = []

afterEach(() => {
  vi.useRealTimers()
  for (const one of opened.splice(0)) one.end()
})

test('a kernel that nobody used for its time is ended, and the next cell says so', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { made, cell } = notebook(60 * MINUTE)
  expect(await cell('a')).toMatchObject({ state: 'ended', shown: 'cell 1' })
  vi.advanceTimersByTime(59 * MINUTE)
  expect(await cell('b')).toMatchObject({ shown: 'cell 2' })
  vi.advanceTimersByTime(59 * MINUTE)
  expect(made.pid).not.toBeNull()
  vi.advanceTimersByTime(MINUTE)
  expect(made.pid).toBeNull()
  expect((await cell('c')).shown).toBe(
    '[The kernel was ended after 60 minutes without a cell. This is a new kernel: all variables are gone.]\ncell 1',
  )
})

test('with no limit a kernel stays, and what is no message of the helper is nothing', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { made, cell } = notebook(null)
  expect(await cell('a')).toMatchObject({ state: 'ended', exitCode: 0, shown: 'cell 1' })
  vi.advanceTimersByTime(10_000 * MINUTE)
  expect(made.pid).not.toBeNull()
  expect((await cell('b')).shown).toBe('cell 2')
})

test('a machine without a kernel refuses a cell with a sentence', async () => {
  const none = new Notebook({ launch: null, log: () => {}, idleMs: null })
  const end = await new Promise<CallEnd>((onEnded) =>
    none.take({ kind: 'cell', text: '1', env: {} }, { onOutput: () => {}, onBegun: () => {}, onEnded }),
  )
  expect(end).toMatchObject({ state: 'refused', text: 'This machine has no notebook kernel.' })
})
