// A session keeps its variables, or says that it was begun anew.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NEW_SESSION, NEW_SHELL } from '../src/session/texts.ts'
import { startRunner, temporaryFolder } from './support/runner-process.ts'

const LOOP = 'while :; do echo x; sleep 0.05; done'

async function begun() {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  return { lent, session }
}

test('a shell that takes its time to its prompt after a kill keeps its variables', async () => {
  const { session } = await begun()
  // As on a machine that has no time for it: the shell itself has the terminal, and is not there yet.
  const pipe = join(temporaryFolder(), 'pipe')
  await session.run(`mkfifo ${pipe}; kept=yes; PROMPT_COMMAND='read -t 1.3 -r _ <> ${pipe}; '"$PROMPT_COMMAND"`)
  await session.run(LOOP, { softMs: 300 })
  const killed = await session.run('', { kind: 'more', hardMs: 300 })
  expect(killed.outcome).toMatchObject({ state: 'killed', remarks: [] })
  // The shell may still say of the program that it was killed.
  const kept = { output: expect.stringMatching(/(^|\n)yes\n$/), outcome: { remarks: [] } }
  expect(await session.run('echo "$kept"')).toMatchObject(kept)
})

test('a loop that is killed again and again, wherever it is, keeps its shell', async () => {
  const { session } = await begun()
  await session.run('kept=yes')
  for (let times = 0; times < 8; times++) {
    // Nearly all of its time the shell itself has the terminal.
    const { outcome } = await session.run('while :; do /bin/true; done', { hardMs: 50 + times })
    expect(outcome).toMatchObject({ state: 'killed', remarks: [] })
  }
  expect((await session.run('echo "$kept"')).output).toMatch(/(^|\n)yes\n$/)
})

test('a shell that cannot be interrupted is killed, and the outcome says what is gone', async () => {
  const { session } = await begun()
  await session.run('kept=yes')
  const { outcome } = await session.run("trap '' INT; while :; do :; done", { hardMs: 300 })
  expect(outcome).toMatchObject({ state: 'killed', exitCode: 137, remarks: [NEW_SHELL.unsaved] })
  expect(await session.run('echo "[$kept]"')).toMatchObject({ output: '[]\n', outcome: { remarks: [] } })
})

test('a command that ends its shell is told what the next one has of it', async () => {
  const { session } = await begun()
  const set = 'cd /usr; export shared=s; plain=p; f() { echo f; }'
  const look = 'pwd; echo "$shared-$plain"; f 2>&1 | tail -c 10'
  const kept = await session.run(`${set}; exit 3`)
  expect(kept.outcome).toMatchObject({ state: 'ended', exitCode: 3, cwd: '/usr', remarks: [NEW_SHELL.saved] })
  expect(await session.run(look)).toMatchObject({ output: '/usr\ns-\nf\n', outcome: { remarks: [] } })
  for (const [end, exitCode] of [
    ['exec true', 0],
    ['kill -9 $$', 137],
    ['trap - EXIT; exit 4', 4],
  ] as const) {
    const { outcome } = await session.run(`${set}; ${end}`)
    expect([end, outcome]).toMatchObject([end, { state: 'ended', exitCode, remarks: [NEW_SHELL.unsaved] }])
    // Nothing of what an earlier shell had saved either.
    expect(await session.run('echo "$shared-$plain"; type -t f')).toMatchObject({
      output: '-\n',
      outcome: { remarks: [] },
    })
  }
  expect((await session.run('(exit 3)')).outcome).toMatchObject({ exitCode: 3, remarks: [] })
})

test('a shell that ends while no call listens is told of with the next one', async () => {
  const { session } = await begun()
  const marks = temporaryFolder()
  const asked = `until [ -e ${marks}/go ]; do sleep 0.05; done`
  await session.run(`kept=yes; { ${asked}; kill -9 $$; touch ${marks}/done; } &`)
  writeFileSync(join(marks, 'go'), '')
  await expect.poll(() => existsSync(join(marks, 'done')), { interval: 20 }).toBe(true)
  // Its successor may not be there yet.
  expect((await session.run('true')).outcome).toMatchObject({ state: 'ended', remarks: [NEW_SHELL.unsaved] })
  expect(await session.run('echo "[$kept]"')).toMatchObject({ output: '[]\n', outcome: { remarks: [] } })
})

test('a runner that was started anew, and one that let the conversation go, say that the session is a new one', async () => {
  const { lent, session } = await begun()
  expect((await session.run('kept=yes')).outcome.remarks).toEqual([])
  await lent.runner.kill()
  await session.until(() => session.rpc === null)
  await lent.restart()
  await lent.service.open('c1')
  const asked = await session.run('echo "[$kept]"; kept=yes')
  expect(asked).toMatchObject({ output: '[]\n', outcome: { remarks: [NEW_SESSION] } })
  expect((await session.run('echo "$kept"')).outcome.remarks).toEqual([])
  await lent.service.pool?.call('conversation/close', { conversation: 'c1', erase: false })
  await session.until(() => session.rpc === null)
  await lent.service.open('c1')
  expect(await session.run('echo "[$kept]"')).toMatchObject({ output: '[]\n', outcome: { remarks: [NEW_SESSION] } })
})

test('a command that was stopped is killed, also when another call has taken its place meanwhile', async () => {
  const { session } = await begun()
  const { key } = await session.start("trap '' INT; echo begun; sleep 1000; echo over")
  await session.until(() => session.outputOf(key).includes('begun'))
  await session.rpc?.call('call/stop', { key })
  expect((await session.run('echo no')).outcome.state).toBe('refused')
  expect((await session.ended(key)).outcome.state).toBe('soft')
  const more = await session.run('', { kind: 'more' })
  expect(more).toMatchObject({ output: expect.stringContaining('over'), outcome: { state: 'ended' } })
})
