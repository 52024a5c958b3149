// What a runner leaves behind that dies without a word: no process of its sessions goes on.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loopSource } from '../src/session/shell-source.ts'
import { startRunner } from './support/runner-process.ts'
import { sandboxed } from './support/sandboxed.ts'

type Process = { pid: number; parent: number; begun: string; isOver: boolean }

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // Behind the name in parentheses, which may have blanks: state, parent, … and as the 20th the time of its beginning.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return [{ pid: Number(name), parent: Number(fields[1]), begun: fields[19] ?? '', isOver: fields[0] === 'Z' }]
    } catch {
      // It ended since the folder was read.
      return []
    }
  })
}

function below(pid: number): Process[] {
  const all = processes()
  const found = all.filter(({ parent }) => parent === pid)
  for (const { pid: inner } of found) found.push(...all.filter(({ parent }) => parent === inner))
  return found
}

const going = (known: readonly Process[]): number[] =>
  processes()
    .filter(({ isOver }) => !isOver)
    .filter(({ pid, begun }) => known.some((one) => one.pid === pid && one.begun === begun))
    .map(({ pid }) => pid)

/** What the session is doing then. */
const DOINGS = { nothing: null, 'a command': 'sleep 60' }
/** Without a sandbox nobody could end such a command: it has the rights of the runner, and the runner is gone. */
const STUBBORN = { 'a command that ignores signals': "trap '' HUP TERM; sleep 60" }

for (const isolation of ['none', 'bwrap']) {
  const run = isolation === 'none' ? test : sandboxed
  for (const [name, text] of Object.entries({ ...DOINGS, ...(isolation === 'none' ? {} : STUBBORN) })) {
    run(`nothing of a session outlives a runner that is killed: ${isolation}, doing ${name}`, async () => {
      const { service, runner } = await startRunner(['--isolation', isolation])
      const session = await service.open('c1')
      await session.push()
      await session.run('true')
      if (text !== null) await session.start(text, { key: 'long' })
      const started = below(Number(runner.child.pid))
      expect(started.length).toBeGreaterThan(1)
      runner.child.kill('SIGKILL')
      await runner.ended
      await expect.poll(() => going(started), { timeout: 10_000 }).toEqual([])
    })
  }
}

sandboxed('nothing of a sandbox outlives its first process', async () => {
  const { service, runner } = await startRunner(['--isolation', 'bwrap'])
  const session = await service.open('c1')
  await session.push()
  await session.run('true')
  await session.start('sleep 60', { key: 'long' })
  const first = below(Number(runner.child.pid)).filter(({ parent }) => parent === runner.child.pid)
  const inside = first.flatMap(({ pid }) => below(pid))
  expect(inside.length).toBeGreaterThan(1)
  for (const { pid } of first) process.kill(pid, 'SIGKILL')
  await expect.poll(() => going(inside), { timeout: 10_000 }).toEqual([])
})

test('the loop that begins a shell again ends where its terminal is gone', () => {
  const source = loopSource('nonce', { rc: '/dev/null', state: '/dev/null', call: '/dev/null' }, null)
  // A session of its own has no terminal.
  const { status, error } = spawnSync('setsid', ['-w', 'bash', '--norc', '--noprofile', '-i', '-c', source], {
    stdio: 'ignore',
    timeout: 10_000,
    killSignal: 'SIGKILL',
  })
  expect(error).toBeUndefined()
  expect(status).toBe(1)
})
