import { expect, onTestFinished, test, vi } from 'vitest'
import { Calls } from '../src/session/calls.ts'
import { Journal } from '../src/session/journal.ts'
import type { Session, ShellEvents } from '../src/session/shell.ts'
import { startRunner, temporaryFolder } from './support/runner-process.ts'

test('a runner says what it is and has, without an Origin, and holds one session for a conversation', async () => {
  const { service } = await startRunner([
    '--isolation',
    'none',
    '--name',
    'box',
    '--labels',
    'gpu,os:linux',
    '--capacity',
    '2',
  ])
  const hello = await service.runner()
  expect(hello.runner).toMatchObject({ name: 'box', labels: ['gpu', 'os:linux'], capacity: 2, isolation: 'none' })
  expect(hello.runner.tools).toContainEqual({ name: 'bash', version: expect.stringMatching(/^5/) })
  expect(service.headers.every(({ origin }) => origin === undefined)).toBe(true)

  const session = await service.open('c1')
  expect(session.lastHello).toMatchObject({ tree: null, calls: [] })
  session.tree.write('hello.txt', 'hello\n')
  await session.push()
  expect(await session.run('cat hello.txt; x=5; cd /; f() { echo "f $x"; }')).toMatchObject({
    output: 'hello\n',
    outcome: { state: 'ended', exitCode: 0, cwd: '/', outputBytes: 6, interpreter: expect.stringContaining('python') },
  })
  expect(await session.run('f; pwd; (exit 7)')).toMatchObject({ output: 'f 5\n/\n', outcome: { exitCode: 7 } })
  // As at a terminal, whatever came between the two, and without a word from a trap.
  await session.run("trap 'echo caught' ERR; true; (exit 7) || (exit 7)")
  expect((await session.run('echo $? $VALUE; echo $?', { env: { VALUE: 'given' } })).output).toBe('7 given\n0\n')
  await session.run('exit 3')
  expect((await session.run('echo $?')).output).toBe('0\n')
})

test('a command that goes quiet goes on: more output, input, keys, and a second command that is refused', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const asked = await session.run('read -r name; echo "got $name"; sleep 100', { quietMs: 200 })
  expect(asked.outcome).toMatchObject({ state: 'quiet', exitCode: -1 })
  expect((await session.run('echo no')).outcome).toMatchObject({
    state: 'refused',
    text: expect.stringContaining('C-c'),
  })
  const answered = await session.run('Ada', { kind: 'input', quietMs: 300 })
  expect(answered).toMatchObject({ output: 'got Ada\n', outcome: { state: 'quiet' } })
  expect(await session.run('C-c', { kind: 'input' })).toMatchObject({ outcome: { state: 'ended', exitCode: 130 } })
  expect((await session.run('', { kind: 'more' })).outcome).toMatchObject({ state: 'refused' })
  expect((await session.run('C-c', { kind: 'input' })).outcome).toMatchObject({ state: 'refused' })
  expect(await session.run('echo again')).toMatchObject({ output: 'again\n', outcome: { state: 'ended', exitCode: 0 } })
})

test('a command that ends while no call listens is told to the next one, with its output', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  await session.run('echo one; read -r line; echo two; exit 4', { quietMs: 200 })
  const { key } = await session.start('go', { kind: 'input', softMs: 1, quietMs: 60_000 })
  const first = await session.ended(key)
  const outputs = [first.output]
  let last = first.outcome
  while (last.state !== 'ended') {
    const more = await session.run('', { kind: 'more', softMs: 500 })
    outputs.push(more.output)
    last = more.outcome
  }
  expect(last).toMatchObject({ state: 'ended', exitCode: 4 })
  expect(outputs.join('')).toContain('two\n')
})

test('a call that the service has given up makes way for the next one, and its command goes on', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  const { key } = await session.start('echo begun; read -r go; echo "went on"')
  await session.until(() => session.outputOf(key).includes('begun'))
  expect((await session.run('echo other')).outcome).toMatchObject({
    state: 'refused',
    text: expect.stringMatching(/^The last command still runs/),
  })
  expect((await session.ended(key)).outcome).toMatchObject({ state: 'soft', exitCode: -1 })
  expect((await session.run('go', { kind: 'input' })).output).toContain('went on\n')
})

test('input that nobody read is no command afterwards', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  await session.run('read -r go; sleep 0.5', { quietMs: 100 })
  await session.run('go', { kind: 'input', quietMs: 50 })
  const { key } = await session.start('touch unread', { kind: 'input' })
  await session.ended(key)
  expect(await session.run('ls')).toMatchObject({ output: '', outcome: { state: 'ended', exitCode: 0 } })
})

test('limits of time: soft leaves the command, hard kills the program and keeps the session, stop interrupts', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  await session.run('kept=yes')
  const soft = await session.run('while :; do echo x; sleep 0.05; done', { softMs: 300 })
  expect(soft.outcome).toMatchObject({ state: 'soft', exitCode: -1 })
  const hard = await session.run('', { kind: 'more', hardMs: 300 })
  expect(hard.outcome).toMatchObject({ state: 'killed' })
  expect(await session.run("trap '' INT; sleep 50", { hardMs: 300 })).toMatchObject({
    outcome: { state: 'killed', exitCode: 137 },
  })
  expect((await session.run('echo "$kept"')).output).toBe('yes\n')
  const { key } = await session.start('trap - INT; echo begun; sleep 60')
  await session.until(() => session.outputOf(key).includes('begun'))
  await session.rpc?.call('call/stop', { key })
  const stopped = (await session.ended(key)).outcome
  expect(stopped.state).toBe('ended')
  // Interrupted, or killed where the machine was too busy for it to end by itself.
  expect([130, 137]).toContain(stopped.exitCode)
})

const ROWS: readonly (readonly [string, { output?: string | RegExp; exitCode: number }])[] = [
  ['printf x', { output: 'x', exitCode: 0 }],
  ['cat <<EOF\na\nb\nEOF', { output: 'a\nb\n', exitCode: 0 }],
  ['echo "unclosed', { output: /unexpected EOF/, exitCode: 2 }],
  ['if true', { output: /syntax error/, exitCode: 2 }],
  ['exit 3', { output: '', exitCode: 3 }],
  ['exec true', { output: '', exitCode: 0 }],
  ['kill -9 $$', { exitCode: 137 }],
  ['IFS=:; x=a:b; echo $x', { output: 'a b\n', exitCode: 0 }],
  ['unset IFS; stty raw echo; echo ok', { exitCode: 0 }],
  ['sleep 0.3', { output: '', exitCode: 0 }],
  ['echo still', { output: 'still\n', exitCode: 0 }],
  ['PROMPT_COMMAND= ; PS1="> "; echo p', { output: /^p\n/, exitCode: 0 }],
]

test('whatever a command leaves behind, the next one is answered', async () => {
  const { service } = await startRunner()
  const session = await service.open('c1')
  await session.push()
  for (const [command, { output, exitCode }] of ROWS.slice(0, -1)) {
    const result = await session.run(command)
    expect({ command, exitCode: result.outcome.exitCode, state: result.outcome.state }).toEqual({
      command,
      exitCode,
      state: 'ended',
    })
    if (output instanceof RegExp) expect(result.output).toMatch(output)
    else if (output !== undefined) expect(result.output).toBe(output)
  }
})

const TIMES = { quietMs: 600, softMs: 900, hardMs: 2_000 }
const runCall = (key: string) => ({
  ...{ key, kind: 'run' as const, text: ':', cwd: '/', env: {}, epoch: 'e', revision: 1 },
  ...TIMES,
})

/** The calls of a conversation whose shell takes each command and says nothing more by itself. */
function callsWith(shell: Partial<Session>) {
  const folder = temporaryFolder()
  const journal = new Journal(folder)
  const told: string[] = []
  const started: ShellEvents[] = []
  const quiet = { pid: null, hasWork: true, prompt: null, ready: async () => {}, isCrowded: async () => false }
  const part = { end: () => {} }
  const calls = new Calls({
    ...{ folder, journal, log: () => {}, lastRemark: () => null, folderInShell: () => null, hadSession: false },
    startShell: (events) => {
      started.push(events)
      return { ...quiet, run: async (_: unknown, onTaken: () => void) => onTaken(), end: () => {}, ...shell } as never
    },
    ...{ notebook: part as never, browser: part as never },
    onEnded: (key) => void told.push(key),
  })
  return { calls, journal, told, started }
}

test('a call whose conversation has ended is written nowhere, whatever its times are', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { calls, journal, told } = callsWith({})
  calls.start(runCall('k'))
  await vi.advanceTimersByTimeAsync(100)
  expect(calls.isCalling).toBe(true)
  calls.end()
  journal.close()
  await vi.advanceTimersByTimeAsync(60_000)
  expect([told, calls.isCalling]).toEqual([[], false])
})

test('a conversation that ends while its shell is asked whether it is crowded starts no other one', async () => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<boolean>()
  const isCrowded = () => {
    asked.resolve()
    return answer.promise
  }
  const { calls, journal, told, started } = callsWith({ isCrowded })
  calls.start(runCall('first'))
  await Promise.resolve()
  started[0]?.onEnded({ status: 0, pid: 1, cwd: '/', user: 'u', host: 'h', interpreter: '' })
  expect(told).toEqual(['first'])
  calls.start(runCall('second'))
  await asked.promise
  calls.end()
  journal.close()
  answer.resolve(true)
  await new Promise(setImmediate)
  expect([told, started.length]).toEqual([['first'], 1])
})
