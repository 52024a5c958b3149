// A runner that is told to end: what runs comes to its end, or is handed back, and its end is told.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HANDED_BACK } from '../src/session/texts.ts'
import { startRunner, temporaryFolder } from './support/runner-process.ts'

test('one that the service refuses ends after one SIGTERM, says what it could not tell, and tells it when it is let in again', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  const go = join(temporaryFolder(), 'go')
  const { key } = await session.start(`until [ -e ${go} ]; do sleep 0.05; done; echo over`)
  // Its key is revoked: every connection goes, and none is let in.
  lent.service.refuse(true)
  lent.service.pool?.socket.terminate()
  session.cut()
  await lent.runner.logged(/pool\.key_refused/)
  writeFileSync(go, '')
  await lent.runner.logged(/call\.ended/)
  lent.runner.child.kill('SIGTERM')
  expect(await lent.runner.ended).toEqual({ code: 0, signal: null })
  expect(lent.runner.log).toMatch(/conversation\.forsaken.*outcomes=1/)
  lent.service.refuse(false)
  await lent.restart()
  await lent.service.open('c1')
  expect(await session.ended(key)).toMatchObject({ output: 'over\n', outcome: { state: 'ended', exitCode: 0 } })
})

test('one that is for one conversation ends by itself when its key is refused', async () => {
  const lent = await startRunner(['--isolation', 'none', '--once'])
  const session = await lent.service.open('c1')
  await session.push()
  await session.run('true')
  lent.service.refuse(true)
  lent.service.pool?.socket.terminate()
  session.cut()
  expect(await lent.runner.ended).toEqual({ code: 0, signal: null })
})

test('one that is ending tells the pool how many conversations it has left', async () => {
  const lent = await startRunner(['--isolation', 'none', '--capacity', '2'])
  const told: unknown[] = []
  lent.service.onDraining = (params) => told.push(params)
  const [first, second] = [await lent.service.open('c1'), await lent.service.open('c2')]
  await first.push()
  await second.push()
  const { key } = await first.start('read -r line', { quietMs: 100 })
  await first.ended(key)
  const waiting = await first.start('x', { kind: 'input' })
  const { key: long } = await second.start('sleep 0.4; sleep 0.4')
  lent.runner.child.kill('SIGTERM')
  expect((await first.ended(waiting.key)).outcome.state).toBe('ended')
  expect((await second.ended(long)).outcome.state).toBe('ended')
  expect(await lent.runner.ended).toEqual({ code: 0, signal: null })
  expect(told.slice(0, 2)).toEqual([{ conversations: 2 }, { conversations: 1 }])
})

test('one whose machine is stopped hands back: a short command ends, a long one is interrupted, and both are told', async () => {
  const lent = await startRunner(['--isolation', 'none', '--capacity', '3'])
  const sessions = await Promise.all(['c1', 'c2', 'c3'].map((id) => lent.service.open(id)))
  const commands = [
    'echo begun; sleep 0.3; echo over > short',
    'echo begun; sleep 1000',
    "trap '' INT; echo begun; echo kept > file; sleep 1000",
  ]
  const keys: string[] = []
  for (const [index, session] of sessions.entries()) {
    await session.push()
    const { key } = await session.start(commands[index] ?? '')
    await session.until(() => session.outputOf(key).includes('begun'))
    keys.push(key)
  }
  lent.runner.child.kill('SIGUSR2')
  const outcomes = await Promise.all(sessions.map((session, index) => session.ended(keys[index] ?? '')))
  expect(await lent.runner.ended).toEqual({ code: 0, signal: null })
  const [short, long, stubborn] = outcomes
  expect(short).toMatchObject({ outcome: { state: 'ended', exitCode: 0, remarks: [] } })
  expect(short?.tree.has('short')).toBe(true)
  expect(long).toMatchObject({ outcome: { state: 'ended', remarks: [HANDED_BACK] } })
  // Interrupted, or killed where the machine was too busy for it to end by itself.
  expect([130, 137]).toContain(long?.outcome.exitCode)
  expect(stubborn).toMatchObject({ outcome: { state: 'ended', exitCode: 137, remarks: [HANDED_BACK] } })
  expect(stubborn?.tree.has('file')).toBe(true)
  // What comes next is to wait for it.
  expect(lent.service.isDraining).toBe(false)
})
