// `npm start` as a person or a process manager uses it: real npm, real signals, real state.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../scripts/start/port.ts'
import { listProcesses, signalIfThere } from '../../scripts/start/processes.ts'
import { startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { ROOT } from '../support/source-tree.ts'

/** What the person who runs the tests has set must not decide them. */
const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))

type Run = ReturnType<typeof run>

/** A command in the project's folder, with what it prints. */
function run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...CLEAN, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk) => {
    printed.stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    printed.stderr += chunk
  })
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const pid = child.pid ?? 0
  onTestFinished(() => {
    for (const one of [{ pid }, ...descendantsOf(pid)]) signalIfThere(one.pid, 'SIGKILL')
  })
  return { pid, printed, closed }
}

async function until(what: string, timeoutMs: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(50)
  }
}

const healthOf = (port: number): Promise<string | null> =>
  fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(1_000) }).then(
    (reply) => (reply.ok ? reply.text() : null),
    () => null,
  )

/** The lines that are ours: npm prints the name of the script first, after a `>`. */
const linesOf = (printed: string) => printed.split('\n').filter((line) => line !== '' && !line.startsWith('>'))

/** Everything beneath a process, however deep. */
function descendantsOf(pid: number): { pid: number; command: string }[] {
  const children = listProcesses().filter(({ parent }) => parent === pid)
  return [...children, ...children.flatMap((child) => descendantsOf(child.pid))]
}

test('npm start serves, refuses what is taken, survives a crash and leaves nothing behind', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const port = await freePort()
  const npm = run('npm', ['start'], { PORT: String(port), BELLWETHER_STATE: stateDir })
  await until(`ready, after:\n${npm.printed.stderr}`, 60_000, () => npm.printed.stdout.includes('ready '))
  expect(await healthOf(port)).toBe('"OK"')
  // Local mode is what it sets: no key is asked for.
  expect((await fetch(`http://127.0.0.1:${port}/api/options/models`)).status).toBe(200)

  const [samePort, sameState] = await Promise.all([
    refusal({ PORT: String(port), BELLWETHER_STATE: `${stateDir}-other` }),
    refusal({ PORT: String(await freePort()), BELLWETHER_STATE: stateDir }),
  ])
  expect(samePort).toEqual([
    expect.stringMatching(new RegExp(`^Port ${port} is taken\\. Stop what uses it, or start with`)),
  ])
  expect(sameState).toEqual([expect.stringMatching(/^The state folder .* is in use by process \d+\./)])

  const leader = descendantsOf(npm.pid).find(({ command }) => command.includes('--persist-to'))
  signalIfThere(leader?.pid ?? 0, 'SIGKILL')
  await until('the notice of a restart', 5_000, () => npm.printed.stderr.includes('start.runtime_restarted'))
  await until('an answer after wrangler was killed', 20_000, async () => (await healthOf(port)) === '"OK"')

  await endsWithNpm(npm, 'SIGTERM')
  expect(linesOf(npm.printed.stdout)).toEqual([`ready http://127.0.0.1:${port}`])
  // Nothing but that one notice: no warnings, no chatter.
  expect(linesOf(npm.printed.stderr)).toEqual([expect.stringContaining('was killed by SIGKILL')])
  rmSync(stateDir, { recursive: true })
}, 90_000)

/** What a start that cannot work says before it ends with 1. */
async function refusal(env: Readonly<Record<string, string>>): Promise<string[]> {
  const start = run(process.execPath, ['scripts/start.mjs'], env)
  expect(await start.closed).toBe(1)
  expect(start.printed.stdout).toBe('')
  return linesOf(start.printed.stderr)
}

/** npm alone gets the signal: everything beneath it must be told, or find out by itself. */
async function endsWithNpm(npm: Run, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const family = new Set(descendantsOf(npm.pid).map(({ pid }) => pid))
  expect(family.size).toBeGreaterThan(2)
  signalIfThere(npm.pid, signal)
  await until('nothing is left', 5_000, () => listProcesses().every(({ pid }) => !family.has(pid)))
  await npm.closed
}

test('the variables of the environment reach the Worker, whatever they hold, and no command line shows a secret', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const port = await freePort()
  const rootKey = `a 'quoted' "root" key with $HOME, \`sh\`, # and \\ in it \\'`
  const secrets = { ROOT_API_KEY: rootKey, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }
  const npm = run('npm', ['start'], { PORT: String(port), BELLWETHER_STATE: stateDir, AUTH_MODE: 'keys', ...secrets })
  await until('ready', 60_000, () => npm.printed.stdout.includes('ready '))
  const statusOf = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status
  expect(await statusOf('/health')).toBe(200)
  expect(await statusOf('/api/options/models')).toBe(401)
  expect(await statusOf('/api/keys', { 'x-session-api-key': rootKey })).toBe(200)

  const commands = listProcesses().map(({ command }) => command)
  expect(commands.some((command) => command.includes(stateDir))).toBe(true)
  expect(commands.filter((command) => command.includes('root" key') || command.includes('BwcHBwcH'))).toEqual([])
  const envFile = join(stateDir, 'start', 'vars.env')
  expect((statSync(envFile).mode & 0o777).toString(8)).toBe('600')

  await endsWithNpm(npm, 'SIGKILL')
  expect(existsSync(envFile)).toBe(false)
  rmSync(stateDir, { recursive: true })
}, 60_000)

test('a service whose every runtime process is killed at once answers again by itself', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(() => service.stop())
  expect(service.kill9Runtime()).toBeGreaterThan(0)
  await until('an answer after the runtimes were killed', 20_000, async () => (await healthOf(service.port)) === '"OK"')
  expect(service.restarts).toBe(1)
  await service.stop()
  expect(await healthOf(service.port)).toBeNull()
  rmSync(stateDir, { recursive: true })
}, 60_000)

test('a bad variable stops the start with its name, what was found and what is allowed', async () => {
  const [mode, port, keys] = await Promise.all([
    refusal({ AUTH_MODE: 'maybe' }),
    refusal({ PORT: '80a' }),
    refusal({ AUTH_MODE: 'keys', ROOT_API_KEY: 'too short' }),
  ])
  expect(mode).toEqual(['AUTH_MODE: found "maybe", allowed is "keys" or "local"'])
  expect(port).toEqual(['PORT: found "80a", allowed is a whole number from 1 to 65535'])
  expect(keys).toEqual([
    expect.stringMatching(/^ROOT_API_KEY: found a value that does not fit, allowed is .*32 characters/),
  ])
}, 30_000)
