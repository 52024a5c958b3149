// Programs that nobody would want beside them, and what is beside them.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { constants, getPriority, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startProgramHost } from '../../../../scripts/programs/host.ts'
import { HOSTILE } from '../../../../scripts/programs/hostile.ts'
import { lowerAtFirst, lowerWhenLong } from '../../../../scripts/programs/priority.ts'
import { ProgramSlots } from '../../../../scripts/programs/program-slots.ts'
import { readProgramRuntime } from '../../../../scripts/programs/runtime-sources.ts'
import { type ShellRig, startShellRig } from '../../../../scripts/programs/shell-rig.ts'
import { listProcesses, signalIfThere } from '../../../../scripts/start/processes.ts'
import { ROOT } from '../../../support/source-tree.ts'

const EVERYTHING = process.env.PROOF === '1'
/** One in four where there is not time for all. */
const SAMPLE = EVERYTHING ? HOSTILE : HOSTILE.filter((_, i) => i % 4 === 0)
const TIMEOUT_MS = 2000
/** How late an ending may be before it counts as a hang, on the slowest machine. */
const HANG_MS = 20_000
const IN_A_ROW = EVERYTHING ? 200 : 40
const IDLE = { spares: 2, guardian: 1 }

let rig: ShellRig
beforeAll(async () => {
  rig = await startShellRig()
})
afterAll(() => rig.stop())

const node = (code: string) => `cat > program.js <<'END_OF_PROGRAM'\n${code}\nEND_OF_PROGRAM\nnode program.js`
const PATIENT = { timeout: 30_000 }
const isAlive = (pid: number) => listProcesses().some((one) => one.pid === pid)
const untilIdle = () => expect.poll(() => rig.host.pids().length, PATIENT).toBe(IDLE.spares + IDLE.guardian)

test('every hostile program ends at its time or at a limit, and what runs beside them is served', async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(25)
  let isOver = false
  const served = { programs: 0, requests: 0 }
  const probe = async () => {
    while (!isOver) {
      const { output, exitCode } = await rig.run({ script: 'node -p "6 * 7"', group: 'probe' })
      expect([output, exitCode]).toEqual(['42\n', 0])
      served.programs++
      await rig.light()
      served.requests++
    }
  }
  const waiting = [...SAMPLE]
  const endings: unknown[] = []
  const torment = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { code, name, mayEnd } = next
      const { exitCode, tookMs, output } = await rig.run({
        script: node(code),
        timeoutMs: TIMEOUT_MS,
        group: 'hostile',
      })
      const isNamed = exitCode === 124 || (exitCode === 134 && /^node: stopped: .* \d+ MB/m.test(output))
      if ((!isNamed && mayEnd !== true) || tookMs > TIMEOUT_MS + HANG_MS)
        endings.push({ name, exitCode, tookMs, output: output.slice(0, 300) })
    }
  }
  const probing = probe()
  await Promise.all([torment(), torment(), torment()]).finally(() => {
    isOver = true
  })
  await probing
  expect(endings).toEqual([])
  expect(served.programs).toBeGreaterThan(1)
  await untilIdle()
}, 600_000)

test('what a program wrote before it was ended is kept, and why it was ended is said', async () => {
  const regex = '/^(a+)+$/.test("a".repeat(60) + "b")'
  // A spare process is ready for each of them, and the time is enough to begin on any machine.
  await untilIdle()
  const [late, inner] = await Promise.all([
    rig.run({
      script: node(`console.log("before"); process.stderr.write("too\\n"); ${regex}`),
      timeoutMs: 10_000,
      group: 'late',
    }),
    rig.run({
      script: `timeout 10 ${node(`console.log("inner"); ${regex}`).split('\n').at(-1)}; echo $?`,
      files: { '/workspace/program.js': `console.log("inner"); ${regex}` },
      group: 'inner',
    }),
  ])
  expect([late.exitCode, late.timedOut, late.output]).toEqual([
    124,
    true,
    expect.stringMatching(/^before\ntoo\nnode: stopped after \d+(\.\d)? s\nbash: stopped after 10 s/),
  ])
  expect(inner.output).toBe('inner\n124\n')
  await untilIdle()
  const kept = '/workspace/kept'
  const looping = await rig.run({
    script: node('require("fs").writeFileSync("kept", "yes"); for (;;);'),
    timeoutMs: 10_000,
    wanted: [kept],
  })
  expect([looping.exitCode, looping.files[kept]]).toEqual([124, 'yes'])
  const greedy = await rig.run({
    script: node('console.log("first"); const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))'),
  })
  expect([greedy.exitCode, greedy.output]).toEqual([
    134,
    'first\nnode: stopped: JavaScript heap out of memory (a program may have 512 MB)\n',
  ])
})

test('programs run side by side, and a program whose process dies is told of', async () => {
  const busy = [1, 2].map(() =>
    rig.run({ script: node('console.log("busy"); for (;;);'), timeoutMs: 60_000, group: 'busy' }),
  )
  await expect.poll(() => rig.host.pids().length, PATIENT).toBeGreaterThanOrEqual(2 + IDLE.guardian)
  const short = await rig.run({ script: 'node -p 1', group: 'short' })
  expect(short.output).toBe('1\n')
  for (const pid of workers()) signalIfThere(pid, 'SIGKILL')
  for (const { exitCode, output } of await Promise.all(busy))
    expect([exitCode, output]).toEqual([
      134,
      expect.stringContaining('the process that ran the program died (SIGKILL)'),
    ])
  expect((await rig.run({ script: 'node -p 2' })).output).toBe('2\n')
  await untilIdle()
})

/** Of programs and spare ones. */
function workers(): number[] {
  return listProcesses()
    .filter(({ pid, command }) => rig.host.pids().includes(pid) && command.includes('--socket-addr='))
    .map(({ pid }) => pid)
}

test('who stops a program ends it at once, and who waits has a turn before those who have had many', async () => {
  const stopped = await rig.run({
    script: `${node('console.log("begun"); /^(a+)+$/.test("a".repeat(60) + "b")')}; echo after`,
    stopAfterMs: 3000,
  })
  expect([stopped.exitCode, stopped.output]).toEqual([130, 'begun\n'])
  await untilIdle()

  const places = new ProgramSlots(2)
  const never = new AbortController().signal
  const order: string[] = []
  const turn = async (name: string, group: string) => {
    const leave = await places.take(group, never)
    order.push(name)
    await new Promise((resolve) => setTimeout(resolve, 1))
    leave()
  }
  await Promise.all([turn('a1', 'a'), turn('a2', 'a'), turn('a3', 'a'), turn('b1', 'b'), turn('c1', 'c')])
  expect(order.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
  // One place is never a's, however many of a wait.
  expect(order.slice(0, 2)).toEqual(['a1', 'b1'])
  const given = new AbortController()
  const hold = await Promise.all([places.take('x', never), places.take('y', never)])
  const waiting = places.take('z', given.signal)
  given.abort('timeout')
  await expect(waiting).rejects.toBe('timeout')
  for (const leave of hold) leave()
  expect([places.taken, places.waiting]).toEqual([0, 0])
})

test('ten at once all have their turn, and many in a row leave nothing behind', async () => {
  const ten = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      rig.run({
        script: node(`const end = Date.now() + 100; while (Date.now() < end); console.log(${i})`),
        group: `of ten ${i}`,
      }),
    ),
  )
  expect(ten.map(({ output }) => output)).toEqual(ten.map((_, i) => `${i}\n`))
  await untilIdle()
  const descriptors = () => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0)
  const before = descriptors()
  for (let i = 0; i < IN_A_ROW; i++) expect((await rig.run({ script: `node -p ${i}` })).output).toBe(`${i}\n`)
  await untilIdle()
  const folder = dirname(rig.host.socketPath)
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toHaveLength(IDLE.spares + 1)
  await expect.poll(descriptors, PATIENT).toBeLessThanOrEqual(before + 2)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
}, 300_000)

test('a program reaches no network, no disk and no variable of the host', async () => {
  const { output } = await rig.run({
    script: node(`(async () => {
  for (const url of ['http://127.0.0.1:1', 'http://localhost', 'https://example.com', 'http://programs/run']) await fetch(url).then(() => console.log('reached'), () => console.log('no'))
  for (const path of ['/etc/passwd', '/proc/self/environ', '/proc/1/cmdline']) try { require('fs').readFileSync(path); console.log('read') } catch (error) { console.log(error.code) }
  for (const name of ['net', 'cluster', 'worker_threads', 'cloudflare:sockets', 'http']) try { require(name); console.log(name) } catch (error) { console.log(error.code) }
  console.log(Object.keys(process.env).filter((name) => /TOKEN|KEY|NODE|npm/.test(name)).length)
})()`),
  })
  expect(output).toBe(`${'no\n'.repeat(4)}${'ENOENT\n'.repeat(3)}${'MODULE_NOT_FOUND\n'.repeat(5)}0\n`)
})

test('a host that is killed outright leaves no process and no socket behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-host-'))
  const code = `import { startProgramHost } from './scripts/programs/host.ts'
import { readProgramRuntime } from './scripts/programs/runtime-sources.ts'
const folder = ${JSON.stringify(join(folder, 'p'))}
const host = await startProgramHost({ folder, runtime: readProgramRuntime() })
console.log(JSON.stringify(host.pids()))
setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pids: number[] = JSON.parse(await firstLine(child))
  expect(pids.length).toBe(IDLE.spares + IDLE.guardian)
  child.kill('SIGKILL')
  await expect.poll(() => pids.filter(isAlive), PATIENT).toEqual([])
  await expect.poll(() => readdirSync(join(folder, 'p')), PATIENT).toEqual([])
  rmSync(folder, { recursive: true })
})

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('\n')) resolve(text)
    })
    child.once('exit', () => reject(new Error(`it ended after "${text}"`)))
  })
}

test('what computes for long stands back, its session included, and what waits does not', async () => {
  const start = (code: string) =>
    spawn('/bin/sh', ['-c', code], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  const [busy, idle] = [start('while :; do :; done'), start('read -r line')]
  onTestFinished(() => {
    for (const one of [busy, idle]) one.kill('SIGKILL')
  })
  const [busyPid, idlePid] = [busy, idle].map(({ pid }) => pid ?? 0) as [number, number]
  for (const pid of [busyPid, idlePid]) lowerAtFirst(pid)
  const atFirst = getPriority(idlePid)
  expect(atFirst).toBeGreaterThan(0)
  const stops = [busyPid, idlePid].map(lowerWhenLong)
  onTestFinished(() => {
    for (const stop of stops) stop()
  })
  await expect.poll(() => getPriority(busyPid), PATIENT).toBe(constants.priority.PRIORITY_LOW)
  // Only the kernel knows what a process has used; without that the clock decides.
  if (existsSync('/proc/self/schedstat')) expect(getPriority(idlePid)).toBe(atFirst)
  if (!existsSync('/proc/self/autogroup')) return
  const niceOf = (pid: number) => Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1])
  await expect.poll(() => niceOf(busyPid), PATIENT).toBeGreaterThan(0)
  expect(niceOf(idlePid)).toBe(0)
})

test('a host stops with everything it started, and a folder that is too deep for a socket is no obstacle', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'bellwether-host-')), 'deep'.repeat(30))
  const host = await startProgramHost({ folder, runtime: readProgramRuntime(), spares: 1 })
  const pids = host.pids()
  expect(Buffer.byteLength(host.socketPath)).toBeLessThan(104)
  await host.stop()
  await expect.poll(() => pids.filter(isAlive), PATIENT).toEqual([])
  rmSync(dirname(folder), { recursive: true })
})
