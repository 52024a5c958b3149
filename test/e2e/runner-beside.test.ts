// `npm start -- --runner`, stopped as a person stops it while commands run.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { listProcesses, signalIfThere } from '../../scripts/start/processes.ts'
import { VARIABLES } from '../../src/config.ts'
import { ROOT } from '../support/source-tree.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

type StoredEvent = {
  observation?: string
  content?: string
  extras?: { metadata?: { exit_code: number; suffix: string } }
}

/** Leads a group, as a shell starts it: the signal of a Ctrl-C goes to all in it. */
async function started({ state, port, args }: { state: string; port: number; args: readonly string[] }) {
  const child = spawn(process.execPath, ['scripts/start.mjs', ...args], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...CLEAN,
      ...{ PORT: String(port), BELLWETHER_STATE: join(state, 'service'), MARKET_DATA: 'sample' },
      ...{ BELLWETHER_RUNNER_WORKSPACES: join(state, 'runner'), BELLWETHER_RUNNER_ISOLATION: 'none' },
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const pid = child.pid ?? 0
  onTestFinished(async () => {
    signalIfThere(pid, 'SIGTERM')
    await ended
  })
  const isSo = (pattern: RegExp) => expect.poll(() => printed, { interval: 50 }).toMatch(pattern)
  return { pid, ended, isSo, printed: () => printed }
}

test('a Ctrl-C lets a command of the runner end, or interrupts it and tells how it came out; nothing is left behind', async () => {
  const state = mkdtempSync(join(tmpdir(), 'bellwether-beside-'))
  onTestFinished(() => rmSync(state, { recursive: true, force: true }))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const first = await started({ state, port, args: ['--runner'] })
  await first.isSo(/ready http/)
  await first.isSo(/pool\.connected/)
  const conversation = async (text: string) => {
    const reply = await fetch(`${url}/api/conversations?runtime=runner`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ initial_user_msg: text }),
    })
    return ((await reply.json()) as { conversation_id: string }).conversation_id
  }
  const marks = ['one', 'two'].map((name) => join(state, name))
  const long = await conversation(`echo begun | tee ${marks[0]} > made; sleep 1000`)
  const short = await conversation(
    `touch ${marks[1]}; until [ -e ${state}/go ]; do sleep 0.05; done; echo came to its end`,
  )
  await expect.poll(() => marks.every((mark) => existsSync(mark)), { interval: 50 }).toBe(true)

  const family = new Set(
    listProcesses()
      .filter(({ group }) => group === first.pid)
      .map(({ pid }) => pid),
  )
  const from = performance.now()
  process.kill(-first.pid, 'SIGINT')
  writeFileSync(join(state, 'go'), '')
  expect([0, 1]).toContain(await first.ended)
  expect(performance.now() - from).toBeLessThan(20_000)
  // A stop takes five seconds at most: on a machine that has no time for it what is not told by then is lost, which is said.
  const isInTime = /runner\.ended/.test(first.printed())
  await expect
    .poll(() => listProcesses().filter(({ pid, command }) => family.has(pid) || command.includes(state)))
    .toEqual([])

  const second = await started({ state, port, args: ['--runner'] })
  await second.isSo(/pool\.connected/)
  const outcomeOf = async (id: string) => {
    const reply = await fetch(`${url}/api/conversations/${id}/events?limit=100`)
    const { events } = (await reply.json()) as { events: StoredEvent[] }
    return events.findLast(({ observation }) => observation === 'run' || observation === 'error')
  }
  for (const id of [long, short]) await expect.poll(() => outcomeOf(id)).toBeDefined()
  const [interrupted, ended] = [await outcomeOf(long), await outcomeOf(short)]
  if (isInTime) {
    expect(interrupted?.extras?.metadata?.suffix).toContain('The runner was stopped while this ran')
    expect([130, 137]).toContain(interrupted?.extras?.metadata?.exit_code)
    expect(ended).toMatchObject({ content: 'came to its end', extras: { metadata: { exit_code: 0 } } })
  } else expect(interrupted?.content).toMatch(/The runner was stopped while this ran|outcome is unknown/)
  const made = await fetch(`${url}/api/conversations/${long}/select-file?file=made`)
  expect(await made.json()).toMatchObject({ code: 'begun\n' })
})
