// `npm start` as a person or a process manager uses it: real npm, real signals, real state.

import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { isMigrated } from '../../scripts/start/migrations.ts'
import { freePort } from '../../scripts/start/port.ts'
import { listProcesses, signalIfThere } from '../../scripts/start/processes.ts'
import { startService } from '../../scripts/start/service.ts'
import { readPlan } from '../../scripts/start/worker-bundle.ts'
import { VARIABLES } from '../../src/config.ts'
import { missingForSandbox } from '../support/lent-machine.ts'
import { startCollector } from '../support/otlp-shape.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { ROOT } from '../support/source-tree.ts'
import { toldOfWork, watchedBy } from './watched.ts'

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

/** `npm start -- --runner` without the service: says when the runner's process is gone. */
const BESIDE = `
  import { startLocalRunner } from './scripts/start/local-runner.ts'
  startLocalRunner({ port: Number(process.env.TEST_PORT), stateDir: process.env.HOME })
  setInterval(() => {
    if (!process.getActiveResourcesInfo().includes('ProcessWrap')) console.log('one process less')
  }, 100)`

/** The lines that are ours, but for what is being built: npm prints the name of the script first, after a `>`. */
const linesOf = (printed: string) => printed.split('\n').filter((line) => !/^$|^>| …$/.test(line))

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
}

/** Everything beneath a process, however deep. */
function descendantsOf(pid: number): { pid: number; parent: number; command: string }[] {
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

  // A build may replace dist/web meanwhile: the service has a console of its own, which outlives its host.
  writeFileSync(join(stateDir, 'start/console/own.txt'), 'of this service')
  const leader = descendantsOf(npm.pid).find(({ command }) => command.includes('host.mjs'))
  signalIfThere(leader?.pid ?? 0, 'SIGKILL')
  await until('the notice of a restart', 5_000, () => npm.printed.stderr.includes('start.runtime_restarted'))
  await until('an answer after the host was killed', 20_000, async () => (await healthOf(port)) === '"OK"')
  expect(await (await fetch(`http://127.0.0.1:${port}/own.txt`)).text()).toBe('of this service')

  await endsWithNpm(npm, 'SIGTERM')
  expect(linesOf(npm.printed.stdout)).toEqual([`ready http://127.0.0.1:${port}`])
  // Nothing but that one notice: no warnings, no chatter.
  expect(linesOf(npm.printed.stderr)).toEqual([expect.stringContaining('was killed by SIGKILL')])
  rmSync(stateDir, { recursive: true })
}, 90_000)

/** What a start that cannot work says before it ends with 1. */
async function refusal(env: Readonly<Record<string, string>>, args: readonly string[] = []): Promise<string[]> {
  const start = run(process.execPath, ['scripts/start.mjs', ...args], env)
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

  const isSecret = (text: string) => text.includes('root" key') || text.includes('BwcHBwcH')
  const commands = listProcesses().map(({ command }) => command)
  expect(commands.some((command) => command.includes('host.mjs'))).toBe(true)
  expect(commands.filter(isSecret)).toEqual([])
  const runtimes = descendantsOf(npm.pid).filter(({ command }) => command.includes('workerd serve'))
  expect(runtimes.length).toBeGreaterThan(0)
  // The runtime is told what the Worker gets; what stands in its own environment its programs could find.
  const environments = existsSync('/proc/self/environ') ? runtimes.map(({ pid }) => `/proc/${pid}/environ`) : []
  expect(environments.filter((file) => isSecret(readFileSync(file, 'latin1')))).toEqual([])
  expect(filesIn(stateDir).filter((file) => isSecret(readFileSync(file, 'latin1')))).toEqual([])

  await endsWithNpm(npm, 'SIGKILL')
  rmSync(stateDir, { recursive: true })
}, 60_000)

test('a service whose every runtime process is killed at once answers again by itself, and each step is told of once', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const [collector, model] = await Promise.all([startCollector(), startScriptedModel({ keepsProcess: false })])
  const service = await startService({ stateDir, env: { ...CLEAN, ...watchedBy(collector) } })
  onTestFinished(() => service.stop())
  await toldOfWork({ service, model, collector }, async () => expect(service.kill9Runtime()).toBeGreaterThan(0))
  await Promise.all([collector.close(), model.close()])
  // Nobody is turned away meanwhile: a request waits for the next runtime.
  const reply = await fetch(`${service.url}/api/options/agents`, { signal: AbortSignal.timeout(20_000) })
  expect(reply.status).toBe(200)
  await until('the notice of a restart', 5_000, () => service.restarts === 1)
  await service.stop()
  expect(await healthOf(service.port)).toBeNull()
  // The next start has nothing to ask the runtime about its database, though the runtime was killed in the middle.
  expect(isMigrated(stateDir, readPlan().migrations)).toBe(true)
  rmSync(stateDir, { recursive: true })
})

test('nobody gets past the front: neither through headers of the development tools nor through the sockets behind it', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(() => service.stop())
  const foreign = { host: 'evil.example', 'mf-original-url': 'http://localhost/api/settings' }
  const statuses = [
    // A page of another name that was made to lead here.
    await statusThrough(service.port, '/api/options/models', foreign),
    await statusThrough(service.port, '/cdn-cgi/handler/scheduled', {}),
    await statusThrough(service.port, '/cdn-cgi/platform-proxy', { 'mf-op': 'GET' }),
    await statusThrough(service.port, '/alive', { 'mf-cf-blob': '{bad' }),
    // Of a page that tells no name.
    await statusThrough(service.port, '/api/runners/socket', { origin: '' }),
    await statusThrough(service.port, '/api/runners/socket', {}),
  ]
  // Nobody answers at the paths of the tools.
  expect(statuses).toEqual([403, 404, 404, 200, 403, 401])

  const behind = portsOf(service.hostPid()).filter((port) => port !== service.port)
  expect(behind.length).toBeGreaterThan(0)
  for (const port of behind) {
    const tried = ['/api/options/models', '/cdn-cgi/handler/scheduled', '/cdn-cgi/mf/scheduled', '/health']
    for (const path of tried) {
      for (const headers of [
        {},
        { 'mf-original-url': `http://localhost${path}` },
        { 'mf-route-override': 'bellwether' },
      ]) {
        const { status, body } = await answerThrough(port, path, headers)
        // Pages of the console are for everybody; whatever the Worker or the tools could say is not.
        expect([path, status, isHarmless(status, body)]).toEqual([path, status, true])
      }
    }
  }
  await service.stop()
  rmSync(stateDir, { recursive: true })
}, 60_000)

const isHarmless = (status: number, body: string) => (status >= 400 && status < 500) || body.includes('<!doctype html>')

type Headers = Readonly<Record<string, string>>

const statusThrough = async (port: number, path: string, headers: Headers): Promise<number> =>
  (await answerThrough(port, path, headers)).status

/** A request with exactly these headers; status 0 when the other side closes without an answer. */
function answerThrough(port: number, path: string, headers: Headers): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const sent = { host: 'localhost', connection: 'close', ...headers }
    const out = request({ host: '127.0.0.1', port, path, headers: sent }, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, body: await text(answer) })
    })
    out.on('error', () => resolve({ status: 0, body: '' }))
    out.end()
  })
}

/** The TCP ports that a process and its children listen on; none where the machine does not tell. */
function portsOf(pid: number): number[] {
  const own = new Set([{ pid }, ...descendantsOf(pid)].flatMap((one) => socketsOf(one.pid)))
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
    return state === '0A' && own.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).flatMap((name) => {
    try {
      return [/^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, name)))?.[1] ?? []].flat()
    } catch {
      // Closed between the listing and the reading.
      return []
    }
  })
}

test('an answer that needs no body is given whole, whatever the size of the body, and harms no request after it', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const service = await startService({ stateDir, env: { ...CLEAN, RATE_LIMIT_WRITES: 'off' } })
  onTestFinished(() => service.stop())
  const post = async (path: string, body: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${service.url}${path}`, { method: 'POST', headers, body })).status
  }
  const statuses: number[] = []
  for (let i = 0; i < 100; i++) {
    statuses.push(await post('/api/nope', i % 5 === 0 ? 'x'.repeat(2_000_000) : '{"a":1}'))
    statuses.push(await post('/api/settings', '{"language":"en"}'))
  }
  expect([...new Set(statuses)].sort()).toEqual([200, 404])
  await service.stop()
  rmSync(stateDir, { recursive: true })
}, 120_000)

test('help, unknown flags, a folder that cannot be written and a full disk are one clear sentence each', async () => {
  const help = run(process.execPath, ['scripts/start.mjs', '--help'], {})
  expect(await help.closed).toBe(0)
  expect(help.printed.stdout).toMatch(/^Usage: npm start[\s\S]*--port[\s\S]*--state/)
  const [unknown, extra, port, folder] = await Promise.all([
    refusal({}, ['--prot', '1']),
    refusal({}, ['later']),
    refusal({}, ['--port', 'x']),
    refusal({ PORT: String(await freePort()) }, ['--state', '/proc/nowhere']),
  ])
  expect(unknown).toEqual(["Unknown option '--prot'. See: npm start -- --help"])
  expect(extra).toEqual([expect.stringMatching(/^Unexpected argument 'later'\. .*See: npm start -- --help$/)])
  expect(port).toEqual(['PORT: found "x", allowed is a whole number from 1 to 65535'])
  expect(folder).toEqual([
    expect.stringMatching(/^BELLWETHER_STATE: the folder \/proc\/nowhere cannot be used: ENOENT/),
  ])
}, 30_000)

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

/** Databases of conversations in a state folder. */
const conversationsIn = (stateDir: string): string[] =>
  readdirSync(join(stateDir, 'v3/do/bellwether-Conversation')).filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))

test('ids that nobody ever used leave no file behind, whoever asks for them in whichever way', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-start-'))
  const service = await startService({ stateDir, env: CLEAN })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true })
  })
  const base = service.url
  const post = (path: string, body: unknown) =>
    fetch(`${base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const made = await post('/api/conversations', { conversation_id: 'mine' })
  expect(made.status).toBe(200)
  const one = '/api/conversations/nothing'
  const asked = (path: string, init: RequestInit = {}) => fetch(`${base}${path}`, init).then(({ status }) => status)
  const before = conversationsIn(stateDir)
  expect(before.length).toBe(1)
  for (let i = 0; i < 5; i++) {
    expect(await asked(`${one}${i}`)).toBe(200)
    for (const call of [
      'events',
      'list-files',
      'git/changes',
      'zip-directory',
      'config',
      'trajectory',
      'security/policy',
    ]) {
      expect([call, await asked(`${one}${i}/${call}`)]).toEqual([call, 404])
    }
    expect(await asked(`${one}${i}`, { method: 'DELETE' })).toBe(200)
    expect((await post(`${one}${i}/stop`, {})).status).toBe(200)
    expect((await post(`${one}${i}/start`, {})).status).toBe(404)
    expect((await post(`${one}${i}/fork`, { event_id: 0 })).status).toBe(404)
    expect((await post(`${one}${i}/events`, { action: 'message', args: { content: 'x' } })).status).toBe(404)
  }
  // One object stands for all of them, and the one that was made is there as before.
  expect(conversationsIn(stateDir).filter((name) => !before.includes(name)).length).toBeLessThan(2)
  expect(await (await fetch(`${base}/api/conversations/mine`)).json()).toMatchObject({ conversation_id: 'mine' })
})

test('a runner beside the service that is killed is started again; one that could never run is not', async (context) => {
  context.skip(missingForSandbox() !== null, 'no sandbox on this machine')
  const home = mkdtempSync(join(tmpdir(), 'bellwether-runner-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  // A runner that root starts becomes another user.
  chmodSync(home, 0o755)
  writeFileSync(join(home, 'runner-token'), 'x'.repeat(43), { mode: 0o600 })
  const port = await freePort()
  const beside = (workspaces: string) =>
    run(process.execPath, ['--input-type=module', '--eval', BESIDE], {
      HOME: home,
      BELLWETHER_RUNNER_WORKSPACES: workspaces,
      TEST_PORT: String(port),
    })
  const { pid, printed } = beside(join(home, 'kept'))
  const runners = () => descendantsOf(pid).filter(({ command }) => command.includes('runner/src/main.ts'))
  await until(`a runner, after:\n${printed.stderr}`, 60_000, () => printed.stderr.includes('runner.started'))
  const first = runners().find(({ parent }) => parent === pid)
  if (first === undefined) throw new Error(`no runner, after:\n${printed.stderr}`)
  signalIfThere(first.pid, 'SIGKILL')
  await until(`the next one, after:\n${printed.stderr}`, 60_000, () =>
    runners().some((one) => one.parent === pid && one.pid !== first.pid),
  )
  expect(printed.stderr).toContain('The runner ended (SIGKILL) and is started again in 2 s.')

  const never = beside('/proc/never')
  await until(`its end, after:\n${never.printed.stderr}`, 60_000, () =>
    never.printed.stdout.includes('one process less'),
  )
  expect(never.printed.stderr).toContain('/proc/never')
  expect(never.printed.stderr).not.toContain('started again')
})
