// A repository on a runner: cloned, set up and committed to by the machine's own git and bash, and kept with the conversation.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { type Service, startService } from '../../scripts/start/service.ts'
import { type GitServer, startGitServer } from '../support/git-server.ts'
import { GOOD_TOKENS } from '../support/provider-host-types.ts'

type Event = {
  id: number
  source: string
  action?: string
  observation?: string
  content: string
  args?: { thought?: string }
  extras: { agent_state?: string; reason?: string; hidden?: boolean; metadata?: { suffix: string; exit_code: number } }
}

let service: Service
let host: GitServer
const folder = mkdtempSync(join(tmpdir(), 'bellwether-lent-repository-'))
const runners = new Set<ChildProcess>()

beforeAll(async () => {
  host = await startGitServer()
  service = await startService({ stateDir: join(folder, 'state'), env: { MARKET_DATA: 'sample' } })
})

afterAll(async () => {
  for (const runner of runners) runner.kill('SIGKILL')
  await service?.stop()
  await host?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Without a sandbox, because the git host is on this machine's loopback. Resolves when it is connected. */
async function lend(name: string, ...more: string[]): Promise<ChildProcess> {
  const key = join(folder, 'state', 'runner-token')
  const place = ['--workspaces', join(folder, name), '--name', name, '--isolation', 'none']
  const options = ['--url', service.url, '--key-file', key, ...place, ...more]
  const runner = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  runners.add(runner)
  let log = ''
  await new Promise<void>((resolve, reject) => {
    runner.once('exit', () => reject(new Error(`the runner ended: ${log}`)))
    runner.stderr?.on('data', (text) => {
      log = `${log}${text}`.slice(-10_000)
      if (log.includes('pool.connected')) resolve()
    })
  })
  onTestFinished(async () => {
    await end(runner)
    // The next test is not to meet it.
    await expect.poll(async () => (await connected()).includes(name)).toBe(false)
  })
  return runner
}

async function end(runner: ChildProcess): Promise<void> {
  if (runner.exitCode !== null || runner.signalCode !== null) return
  const gone = new Promise((resolve) => runner.once('exit', resolve))
  runner.kill('SIGKILL')
  await gone
}

async function call<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  return (await (await fetch(`${service.url}${path}`, init)).json()) as T
}

async function connected(): Promise<string[]> {
  const { runners: list } = await call<{ runners: { name: string; state: string }[] }>('/api/runners')
  return list.filter(({ state }) => state === 'connected').map(({ name }) => name)
}

const events = async (path: string) => (await call<{ events: Event[] }>(`${path}/events?limit=100`)).events

async function order(cwd: string, git: string[][], files: { path: string; base64: string }[] = []): Promise<void> {
  const response = await fetch(`${host.url}/order`, { method: 'POST', body: JSON.stringify({ cwd, git, files }) })
  const reports = (await response.json()) as { exitCode: number; stderr: string }[]
  for (const { exitCode, stderr } of reports) if (exitCode !== 0) throw new Error(stderr)
}

/** A bare repository with one commit of these files. */
async function hosted(name: string, files: Record<string, string>): Promise<string> {
  const work = `work-${name.replace('/', '-')}`
  const written = Object.entries(files).map(([path, text]) => ({ path: `${work}/${path}`, base64: btoa(text) }))
  await order(work, [['init', '-q', '-b', 'main']], written)
  await order(work, [
    ['add', '-Af'],
    ['commit', '-qm', 'first'],
    ['clone', '-q', '--bare', '.', `../${name}.git`],
  ])
  return `${host.url}/git/${name}.git`
}

async function begun(repository: string, body: object = {}, query = ''): Promise<string> {
  const made = await call<{ conversation_id: string }>(`/api/conversations${query}`, 'POST', { repository, ...body })
  return `/api/conversations/${made.conversation_id}`
}

const state = async (path: string) => (await events(path)).findLast(({ extras }) => extras?.agent_state)?.extras

async function ready(path: string): Promise<string> {
  await expect.poll(async () => (await state(path))?.agent_state).toMatch(/awaiting_user_input|error/)
  expect(await state(path)).toMatchObject({ agent_state: 'awaiting_user_input' })
  return path
}

async function run(path: string, content: string): Promise<Event> {
  const outcomes = async () =>
    (await events(path)).filter(
      ({ observation, cause }: Event & { cause?: number }) =>
        observation && cause !== undefined && observation !== 'recall',
    )
  const before = (await outcomes()).length
  await call(`${path}/events`, 'POST', { action: 'message', args: { content } })
  await expect.poll(async () => (await outcomes()).length).toBe(before + 1)
  return (await outcomes()).at(-1) as Event
}

const told = async (path: string) =>
  (await events(path))
    .filter(({ action, source }) => action === 'think' && source === 'environment')
    .map(({ args }) => String(args?.thought))

test('a repository is cloned, set up and committed to on the runner, and its changes and diffs are the conversation’s', async () => {
  await lend('one')
  const url = await hosted('shop', {
    'a.txt': 'one\n',
    '.gitignore': 'build/\n*.log\n',
    'target/kept.txt': 'tracked\n',
    'big.log': 'tracked although ignored\n'.repeat(60_000),
    '.bellwether/setup.sh': 'echo ready; export TEAM=blue; say() { echo "said $1"; }; echo $$ > ../setup.log\n',
    '.bellwether/pre-commit.sh': 'if grep -q secret a.txt; then echo "no secrets"; exit 1; fi\n',
  })
  const path = await ready(await begun(url))
  expect(await told(path)).toEqual([expect.stringContaining('runner one (linux')])
  const [script] = (await events(path)).filter(({ action }) => action === 'run')
  expect(script).toMatchObject({
    source: 'environment',
    args: { command: 'source .bellwether/setup.sh', hidden: true },
  })
  expect((await events(path)).find(({ extras }) => extras?.hidden)).toMatchObject({ content: 'ready' })
  expect(await call<string[]>(`${path}/list-files`)).toEqual(['shop/', 'setup.log'])
  expect(await call(`${path}/select-file?file=shop/target/kept.txt`)).toEqual({ code: 'tracked\n' })
  // The session of the script is that of the commands, and the branch is a new one.
  const first = await run(
    path,
    'say $TEAM; basename "$PWD"; [ $$ = "$(cat ../setup.log)" ] && git branch --show-current; git config user.name',
  )
  expect(first.content).toMatch(/^said blue\nshop\nbellwether-[a-z0-9]{8}\nbellwether$/)
  expect((await run(path, 'echo secret >> a.txt; git commit -qam bad; echo "exit $?"')).content).toBe(
    'no secrets\nexit 1',
  )
  expect(
    (await run(path, 'echo two >> a.txt; sed -i /secret/d a.txt; git commit -qam good; echo "exit $?"')).content,
  ).toBe('exit 0')
  expect(await call(`${path}/git/changes`)).toEqual([{ status: 'M', path: 'shop/a.txt' }])
  expect(await call(`${path}/git/diff?path=shop/a.txt`)).toEqual({ original: 'one', modified: 'one\ntwo' })
  // What git ignores stays beyond a size, and is named; what is small comes.
  const built = await run(
    path,
    'mkdir -p build small && head -c 3000000 /dev/zero > build/out.bin && echo x > note.log; head -c 3000000 /dev/zero > plain.bin',
  )
  expect(built.content).toContain('build is ignored by git and larger than 1 MiB: it stays on the runner.')
  expect(await call(`${path}/select-file?file=shop/note.log`)).toEqual({ code: 'x\n' })
  expect(await call(`${path}/select-file?file=shop/big.log`)).toMatchObject({
    code: expect.stringContaining('tracked'),
  })
  expect(await call<string[]>(`${path}/list-files?path=shop`)).toContain('shop/plain.bin')
  expect((await fetch(`${service.url}${path}/select-file?file=shop/build/out.bin`)).status).not.toBe(200)
  expect((await run(path, 'wc -c < build/out.bin')).content).toBe('3000000')
  // Another runner is told what is missing.
  for (const runner of runners) await end(runner)
  await lend('two')
  expect((await run(path, 'ls build; git log --oneline | wc -l')).content).toMatch(/No such file[\s\S]*\n2$/)
  expect((await told(path)).at(-1)).toMatch(/runner two .*stayed on the runner before: shop\/build/)
})

test('what cannot be cloned leaves an error state that says why, as at the edge', async () => {
  await lend('three')
  const reason = async (path: string) => {
    await expect.poll(async () => (await state(path))?.agent_state).toBe('error')
    return (await state(path))?.reason
  }
  const url = await hosted('plain', { 'a.txt': 'one\n' })
  expect(await reason(await begun(url, { selected_branch: 'nowhere' }))).toContain('Remote branch nowhere not found')
  expect(await reason(await begun(await hosted('private/vault', { 'a.txt': 'one\n' })))).toContain(
    'could not read Username',
  )
  expect(await reason(await begun('http://127.0.0.1:9/a/b.git'))).toContain('127.0.0.1 port 9')
  await order('empty.git', [['init', '-q', '--bare', '-b', 'main']])
  const empty = await ready(await begun(`${host.url}/git/empty.git`))
  expect((await run(empty, 'git status --short; ls -A; git remote')).content).toBe('.git\norigin')
})

test('thousands of files and a history beyond the limit: the last commit comes whole, packs fit into the workspace, and progress is told', async () => {
  await lend('large')
  const random = () => ({ path: 'work-large/big.bin', base64: randomBytes(15_000_000).toString('base64') })
  const small = Array.from({ length: 2_000 }, (_, i) => ({
    path: `work-large/d${i % 40}/f${i}.txt`,
    base64: btoa(`file ${i}\n`),
  }))
  await order('work-large', [['init', '-q', '-b', 'main']], [random(), ...small])
  await order('work-large', [
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ])
  await order('work-large', [['commit', '-qam', 'second']], [random()])
  await order('work-large', [['clone', '-q', '--bare', '.', '../large.git']])
  const path = await begun(`${host.url}/git/large.git`)
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}/ws`)
  const frames: string[] = []
  socket.addEventListener('message', ({ data }) => frames.push(String(data)))
  onTestFinished(() => socket.close())
  await ready(path)
  await expect.poll(() => frames.join()).toContain('"STATUS$READY"')
  expect(frames.join()).toMatch(/SETTING_UP_WORKSPACE[^}]*(Receiving objects|whole history)/)
  const said = await run(
    path,
    'git log --oneline | wc -l; git ls-files | wc -l; git status --short; git fsck 2>&1 | grep -c error; find .git -size +25M',
  )
  expect(said.content).toBe('1\n2001\n0')
  expect(await call(`${path}/select-file?file=large/d7/f1967.txt`)).toEqual({ code: 'file 1967\n' })
  await run(path, 'echo changed > d7/f1967.txt')
  expect(await call(`${path}/git/changes`)).toEqual([{ status: 'M', path: 'large/d7/f1967.txt' }])
  expect(await call(`${path}/git/diff?path=large/d7/f1967.txt`)).toEqual({ original: 'file 1967', modified: 'changed' })
})

test('a runner that dies in a clone costs the clone alone: another one begins it anew, and no half of it is seen', async () => {
  const gate = await holdingGate(host.url)
  onTestFinished(() => gate.close())
  const url = await hosted('held', { 'a.txt': 'one\n' })
  const first = await lend('four')
  const path = await begun(url.replace(host.url, gate.url), { selected_branch: 'main' }, '?runtime=runner')
  await gate.isHeld
  expect(await call(path)).toMatchObject({ status: 'STARTING', runtime_status: 'STATUS$STARTING_RUNTIME' })
  await end(first)
  gate.letGo()
  await lend('five')
  await ready(path)
  expect((await run(path, 'git status --short | wc -l; cat a.txt; ls -A ..')).content).toBe('0\none\nheld')
  expect(await told(path)).toEqual([expect.stringContaining('runner four'), expect.stringContaining('runner five')])
})

// It stores a token for everybody, so it is the last.
test('a private repository is cloned and pushed to with the stored token, which stands in no file', async () => {
  const gate = await holdingGate(host.url)
  onTestFinished(() => gate.close())
  gate.letGo()
  await hosted('private/safe', { 'a.txt': 'one\n' })
  await order('private/safe.git', [['config', 'http.receivepack', 'true']])
  const tokens = { provider_tokens: { github: { token: GOOD_TOKENS.github, host: gate.url } } }
  expect(await call('/api/add-git-providers', 'POST', tokens)).toMatchObject({ message: expect.any(String) })
  await lend('six')
  const path = await ready(await begun('private/safe', { git_provider: 'github', selected_branch: 'main' }))
  const said = await run(
    path,
    'echo two >> a.txt; git commit -qam second && git push -q && git fetch && echo pushed; grep -rl ghp_ .; cat .git/config',
  )
  expect(said.content).toContain(`pushed\n[core]`)
  expect(said.content).toContain(`${gate.url}/private/safe.git`)
  expect(said.content).not.toContain(GOOD_TOKENS.github)
})

/** In front of the git host: the first pack that is asked for is held back. */
async function holdingGate(upstream: string) {
  const held = Promise.withResolvers<void>()
  const let_ = Promise.withResolvers<void>()
  const server = createServer((incoming, response) => {
    // The provider's root, where a token is tried.
    if (/^\/api\/v3\/?$/.test(incoming.url ?? '')) {
      response.setHeader('content-type', 'application/json')
      return void response.end(JSON.stringify({ current_user_url: '/user' }))
    }
    const isPack = incoming.method === 'POST'
    if (isPack) held.resolve()
    const forward = () => {
      const outgoing = ask(`${upstream}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: incoming.headers,
      })
      outgoing.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      outgoing.on('error', () => response.destroy())
      incoming.pipe(outgoing)
    }
    if (isPack) void let_.promise.then(forward)
    else forward()
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, isHeld: held.promise, letGo: let_.resolve, close }
}
