// The connection and the runner die at every moment; a command is never run twice and no outcome of a living runner is lost.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Lent, startRunner, temporaryFolder } from './support/runner-process.ts'
import type { Session } from './support/stand-in-session.ts'

/** A sample; `npm run proof` takes all. */
const SCHEDULES = process.env.PROOF === '1' ? 700 : 12
/** Of the runner: each costs the start of another one. */
const DEATHS = process.env.PROOF === '1' ? 300 : 4

/** mulberry32: the same schedule for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

test('a connection cut in the middle of much output loses no byte and gives none twice', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  let cuts = 0
  session.onFrame = (kind, seq) => {
    const isCut = kind === 'output' && cuts < 5 && seq >= cuts * 3 + 2
    if (isCut) {
      cuts += 1
      session.cut()
    }
    return !isCut
  }
  const { output, outcome } = await session.run('seq 1 1500000')
  expect(cuts).toBe(5)
  const wanted = Array.from({ length: 1_500_000 }, (_, index) => `${index + 1}\n`).join('')
  expect(output.length).toBe(wanted.length)
  expect(output === wanted).toBe(true)
  expect(outcome.outputBytes).toBe(wanted.length)
})

test('output beyond the window waits in a file while nobody listens', async () => {
  const { service, folder } = await startRunner()
  const marks = temporaryFolder()
  const session = await service.open('c1')
  await session.push()
  const { key } = await session.start(
    `touch ${marks}/begun; while [ ! -e ${marks}/cut ]; do sleep 0.02; done; seq 1 3000000; touch ${marks}/done`,
  )
  await session.until(() => session.calls.get(key) !== undefined)
  service.refuse(true)
  session.cut()
  await session.until(() => session.rpc === null)
  writeFileSync(join(marks, 'cut'), '')
  const spill = join(folder, 'c1', 'journal', `${key}.output.spill`)
  await expect.poll(() => existsSync(join(marks, 'done')), { timeout: 60_000, interval: 20 }).toBe(true)
  expect(existsSync(spill)).toBe(true)
  service.refuse(false)
  const { output } = await session.ended(key)
  expect(output.length).toBe(22_888_896)
  expect(output.endsWith('2999999\n3000000\n')).toBe(true)
  await expect.poll(() => existsSync(spill), { interval: 20 }).toBe(false)
})

test(`${SCHEDULES} seeded schedules of cut connections: every command once, every byte, every file`, async () => {
  const { service } = await startRunner()
  const counts = temporaryFolder()
  const session = await service.open('c1')
  await session.push()
  for (let seed = 1; seed <= SCHEDULES; seed++) await followSchedule({ session, counts, seed })
}, 1_500_000)

async function followSchedule({
  session,
  counts,
  seed,
}: {
  session: Session
  counts: string
  seed: number
}): Promise<void> {
  const random = randomFrom(seed)
  let cuts = 1 + Math.floor(random() * 3)
  const cutSometimes = () => {
    if (cuts === 0 || random() < 0.5) return true
    cuts -= 1
    session.cut()
    return false
  }
  session.onFrame = cutSometimes
  session.onEnded = () => void cutSometimes()
  const lines = 1 + Math.floor(random() * 40_000)
  const files = Math.floor(random() * 5)
  const command = `echo x >> ${counts}/${seed}; for i in $(seq 1 ${files}); do seq 1 ${lines} > file-$i; done; seq 1 ${lines}; (exit ${seed % 7})`
  const key = `seed-${seed}`
  for (let state = ''; state === ''; ) {
    await session.ready()
    // A socket that is closing is closed in a later turn of the loop.
    await new Promise((resolve) => setImmediate(resolve))
    // The object that lost its answer asks again, as the wire says.
    state = await session.start(command, { key }).then(
      (answer) => answer.state,
      () => '',
    )
  }
  const { output, outcome, tree } = await session.ended(key)
  session.onFrame = () => true
  session.onEnded = () => {}
  const wanted = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('')
  expect({ seed, isWhole: output === wanted, exitCode: outcome.exitCode }).toEqual({
    seed,
    isWhole: true,
    exitCode: seed % 7,
  })
  for (let index = 1; index <= files; index++) {
    const node = tree.get(`file-${index}`)
    expect({ seed, index, isSame: node?.kind === 'file' && node.bytes.toString() === wanted }).toEqual({
      seed,
      index,
      isSame: true,
    })
  }
  expect(readFileSync(join(counts, String(seed)), 'utf8')).toBe('x\n')
}

test(`${DEATHS} seeded deaths of the runner: no command twice, what was told is whole, and the copy is the tree again`, async () => {
  const lent = await startRunner()
  const counts = temporaryFolder()
  const session = await lent.service.open('c1')
  await session.push()
  let known = 0
  for (let seed = 1; seed <= DEATHS; seed++) if (await followDeath({ lent, session, counts, seed })) known += 1
  if (DEATHS >= 100) expect([known > DEATHS / 20, known < DEATHS]).toEqual([true, true])
}, 1_500_000)

type Death = { lent: Lent; session: Session; counts: string; seed: number }

/** Whether the outcome was learned. */
async function followDeath({ lent, session, counts, seed }: Death): Promise<boolean> {
  const random = randomFrom(seed + 100_000)
  let framesLeft = Math.floor(random() * 10)
  session.onFrame = () => {
    framesLeft -= 1
    if (framesLeft === 0) lent.runner.child.kill('SIGKILL')
    return framesLeft > 0
  }
  const lines = 1 + Math.floor(random() * 60_000)
  const key = `death-${seed}`
  const text = `echo x >> ${counts}/${key}; seq 1 ${lines} > made; mv made file; seq 1 ${lines}; (exit ${seed % 7})`
  // The runner may be gone before it answers.
  await session.start(text, { key }).catch(() => null)
  await Promise.race([session.ended(key), lent.runner.ended])
  lent.runner.child.kill('SIGKILL')
  await lent.runner.ended
  await session.until(() => session.rpc === null)
  session.onFrame = () => true
  await lent.restart()
  await lent.service.open('c1')
  const asked = (await session.rpc?.call('call/query', { key })) as { state: string } | undefined
  const isKnown = asked?.state === 'ended' || session.calls.get(key)?.outcome != null
  const wanted = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join('')
  if (isKnown) {
    const { output, outcome, tree } = await session.ended(key)
    const node = tree.get('file')
    const isSame = node?.kind === 'file' && node.bytes.toString() === wanted
    expect({ seed, isWhole: output === wanted, isSame, exitCode: outcome.exitCode }).toEqual({
      ...{ seed, isWhole: true, isSame: true },
      exitCode: seed % 7,
    })
  }
  const runs = existsSync(join(counts, key)) ? readFileSync(join(counts, key), 'utf8') : ''
  expect({ seed, runs: isKnown ? runs : runs.replace('x\n', '') }).toEqual({ seed, runs: isKnown ? 'x\n' : '' })
  if (session.lastHello.tree === null) await session.push()
  const { output } = await session.run('[ ! -e file ] || sha256sum < file')
  const held = session.tree.text('file')
  expect({ seed, sum: output.slice(0, 64) }).toEqual({ seed, sum: held === null ? '' : sumOf(held) })
  return isKnown
}

const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a runner killed in a command: the outcome is unknown, the copy not certain, the key never begun again', async () => {
  const lent = await startRunner()
  const marks = temporaryFolder()
  const session = await lent.service.open('c1')
  await session.push()
  const { key } = await session.start(`echo x >> ${marks}/runs; echo half > half; sleep 100`)
  await session.until(() => session.tree.text('half') === 'half\n')
  const [saved = ''] =
    /\/[\w/.-]*bellwether-shell-\w+/.exec(readFileSync(join(lent.folder, 'c1', 'run', 'rc'), 'utf8')) ?? []
  expect(saved).not.toBe('')
  await lent.runner.kill()
  await session.until(() => session.rpc === null)
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello).toMatchObject({ tree: null, calls: [] })
  expect(session.lastHello.life).not.toBe(session.hellos[0]?.life)
  expect(await session.rpc?.call('call/query', { key })).toEqual({ state: 'unknown' })
  await session.push()
  expect(await session.start(`echo x >> ${marks}/runs`, { key })).toEqual({ key, state: 'unknown' })
  expect((await session.run(`cat half ${marks}/runs`)).output).toBe('half\nx\n')
  // The shell that lost its terminal saved no variables for a next one.
  expect(existsSync(saved)).toBe(false)
})

test('a runner killed while an outcome goes up tells it in its next life, with output and files', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  let kills = 0
  session.onFrame = (kind) => {
    if (kind === 'output' || kills > 0) return kind === 'files'
    kills += 1
    lent.runner.child.kill('SIGKILL')
    return false
  }
  const { key } = await session.start('head -c 3000000 /dev/zero > zeros; echo told; (exit 5)')
  await lent.runner.ended
  await session.until(() => session.rpc === null)
  session.onFrame = () => true
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello.calls).toEqual([{ key, state: 'ended' }])
  const { outcome, output, tree } = await session.ended(key)
  expect({ output, exitCode: outcome.exitCode }).toEqual({ output: 'told\n', exitCode: 5 })
  expect(tree.get('zeros')).toMatchObject({ kind: 'file', mtime: expect.any(Number) })
  expect((await session.run('echo on')).output).toBe('on\n')
})

test('a runner killed while the tree comes down asks for the whole tree', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  for (let index = 0; index < 40; index++) session.tree.write(`f${index}`, Buffer.alloc(400_000, index))
  const pushed = session.push().then(
    () => 'done',
    () => 'cut',
  )
  lent.runner.child.kill('SIGKILL')
  expect(await pushed).toBe('cut')
  await lent.runner.ended
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello.tree).toBe(null)
  await session.push()
  expect((await session.run('cat f* | wc -c')).output.trim()).toBe('16000000')
  const revision = session.tree.revision
  await lent.runner.kill()
  await session.until(() => session.rpc === null)
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello.tree).toEqual({ epoch: session.tree.epoch, revision })
})

test('an answer to an upload that is lost is made up for at the next hello, in this life and in the next', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  session.onEnded = () => {
    session.onEnded = () => {}
    session.cut()
  }
  const first = await session.run('echo one > file')
  expect(first.tree.has('file')).toBe(true)
  await session.until(() => (session.calls.get('step-0')?.ends ?? 0) > 1)
  const { revision } = session.tree
  expect((await session.run('cat file')).output).toBe('one\n')
  expect(session.tree.revision).toBe(revision)

  session.onEnded = () => lent.runner.child.kill('SIGKILL')
  await session.run('echo two > file')
  await lent.runner.ended
  await session.until(() => session.rpc === null)
  session.onEnded = () => {}
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello.tree).toEqual({ epoch: session.tree.epoch, revision })
  await session.until(() => (session.calls.get('step-2')?.ends ?? 0) > 1)
  expect((await session.run('cat file')).output).toBe('two\n')
})

test('a copy that changed while no runner watched is not certain', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  session.tree.write('file', 'as agreed')
  await session.push()
  await lent.runner.kill()
  await session.until(() => session.rpc === null)
  writeFileSync(join(lent.folder, 'c1', 'workspace', 'file'), 'changed')
  await lent.restart()
  await lent.service.open('c1')
  expect(session.lastHello.tree).toBe(null)
})

test('an outcome whose files the service never takes is told without them, with a remark', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  let refusals = 0
  session.tree.begin = () => {
    refusals += 1
    throw Object.assign(new Error('no room'), { code: -32005 })
  }
  const { outcome, output, tree } = await session.run('echo x > file; echo done')
  expect({ output, refusals, files: [...tree.keys()] }).toEqual({ output: 'done\n', refusals: 3, files: [] })
  expect(outcome.remarks).toEqual([expect.stringContaining('could not be sent')])
  expect((await session.run('echo on')).output).toBe('on\n')
})

test('what stays on the runner is told although the connection breaks as it is told for the first time', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const { begin } = session.tree
  session.tree.begin = () => {
    session.tree.begin = begin
    session.cut()
    throw new Error('cut off')
  }
  const { outcome } = await session.run('mkfifo pipe; echo x > file')
  expect(outcome.remarks).toEqual([expect.stringContaining('pipe is a pipe')])
  expect((await session.run('true')).outcome.remarks).toEqual([])
})

test('a service that is away and comes back finds its runner again', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  const { key } = await session.start('sleep 0.3; echo survived')
  lent.service.forget()
  lent.service.pool?.socket.terminate()
  session.cut()
  await lent.service.runner()
  expect(lent.service.hello?.holds).toEqual(['c1'])
  expect((await session.ended(key)).output).toBe('survived\n')
})

test('SIGTERM lets a command finish, takes nothing new and ends; a second one ends at once', async () => {
  const lent = await startRunner()
  const session = await lent.service.open('c1')
  await session.push()
  const { key } = await session.start('read -r line; echo "$line"', { quietMs: 100 })
  await session.ended(key)
  const waiting = await session.start('hello', { kind: 'input', quietMs: 60_000, softMs: 60_000 })
  lent.runner.child.kill('SIGTERM')
  await session.ended(waiting.key)
  expect(await lent.runner.ended).toEqual({ code: 0, signal: null })
  expect(lent.service.isDraining).toBe(true)

  const second = await lent.restart()
  await lent.service.open('c1')
  await session.push()
  const { key: long } = await session.start('sleep 1000')
  second.child.kill('SIGTERM')
  await second.logged(/runner\.draining/)
  await expect(lent.service.open('c2')).rejects.toThrow(/ending/)
  second.child.kill('SIGTERM')
  expect((await second.ended).code).toBe(1)
  expect(session.calls.get(long)?.outcome).toBe(null)
})
