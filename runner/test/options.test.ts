import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DEFAULT_HOSTS } from '../src/network/default-hosts.ts'
import { readOptions, UsageError } from '../src/options.ts'
import { RunnerProcess, temporaryFolder } from './support/runner-process.ts'

const BASE = ['--url', 'https://service.test', '--key', 'k']

test('flags win over the environment, and both over the defaults', () => {
  const env = { BELLWETHER_RUNNER_NAME: 'env', BELLWETHER_RUNNER_CAPACITY: '9', HOME: '/home/x' }
  const options = readOptions([...BASE, '--name', 'flag', '--labels', 'a,b=c', '--allow', 'x.test,*.y.test'], env)
  if (typeof options === 'string') throw new Error(options)
  expect(options).toMatchObject({
    name: 'flag',
    capacity: 9,
    labels: ['a', 'b=c'],
    isolation: 'bwrap',
    network: 'list',
  })
  expect(options.allow).toEqual(['x.test', '*.y.test', ...DEFAULT_HOSTS])
  expect(options.workspaces).toBe('/home/x/.bellwether-runner')
  expect(readOptions([...BASE, '--allow', '=only.test'], {})).toMatchObject({
    allow: ['only.test'],
    isAllowExact: true,
  })
  // A list in parts is one list.
  const parts = readOptions([...BASE, '--allow', '=a.test', '--allow', 'b.test', '--labels', 'x', '--labels=y'], {})
  expect(parts).toMatchObject({ allow: ['a.test', 'b.test'], isAllowExact: true, labels: ['x', 'y'] })
  expect(() => readOptions([...BASE, '--allow', 'a.test', '--allow', '=b.test'], {})).toThrow(/"=b.test"/)
  expect(readOptions(['--help'], {})).toBe('help')
})

const WRONG: readonly (readonly [string[], RegExp])[] = [
  [['--key', 'k'], /--url says/],
  [['--url', 'ftp://x.test', '--key', 'k'], /http/],
  [['--url', 'http://service.test', '--key', 'k'], /in the clear/],
  [['--url', 'https://service.test/below', '--key', 'k'], /alone, such as https:\/\/service\.test$/],
  [['--url', 'https://me:word@service.test', '--key', 'k'], /alone/],
  [['--url', 'https://service.test'], /--key/],
  [[...BASE, '--name', 'x'.repeat(101)], /100 characters/],
  [[...BASE, '--name', 'turned\u202e'], /cannot be seen/],
  [['--url', 'https://service.test', '--key-file', '/nonexistent'], /cannot be read/],
  [[...BASE, '--labels', 'a b'], /no label/],
  [[...BASE, '--capacity', '0'], /from 1/],
  [[...BASE, '--isolation', 'docker'], /one of bwrap, none/],
  [[...BASE, '--network', 'some'], /one of none/],
  [[...BASE, '--allow', 'http://x'], /no host name/],
  [[...BASE, '--disk', 'much'], /a size/],
  [[...BASE, '--cpus', 'all'], /number of cores/],
  [[...BASE, '--cpus', '0'], /number of cores/],
  [[...BASE, '--unknown'], /unknown/i],
]

test('what cannot be meant is said', () => {
  for (const [args, message] of WRONG) {
    expect(() => readOptions(args, {})).toThrow(message)
    expect(() => readOptions(args, {})).toThrow(UsageError)
  }
})

test('a machine without a sandbox is refused with what to install, and a folder serves one runner', async () => {
  const folder = temporaryFolder()
  const args = ['--url', 'http://127.0.0.1:9', '--workspaces', folder]
  const bare = join(folder, 'bin')
  mkdirSync(bare)
  writeFileSync(join(bare, 'bwrap'), '#!/bin/sh\necho "No permissions to create new namespace" >&2; exit 1\n', {
    mode: 0o755,
  })
  writeFileSync(join(bare, 'socat'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const run = (path: string) => {
    const env = { PATH: path, BELLWETHER_RUNNER_KEY: 'k', HOME: folder }
    return spawnSync(process.execPath, [join(import.meta.dirname, '../src/main.ts'), ...args], {
      env,
      encoding: 'utf8',
    })
  }
  expect(run('/nonexistent')).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/apt install bubblewrap socat/),
  })
  expect(run(bare)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/No permissions.*unprivileged_userns_clone/),
  })
  const first = new RunnerProcess([...args, '--isolation', 'none'])
  await first.logged(/pool\.disconnected/)
  // What it has, with versions, before it asks anybody.
  expect(first.log.slice(0, first.log.indexOf('pool.'))).toMatch(
    /tool\.found name=bash version=\d.*tool\.found name=node version=\d+\.\d/s,
  )
  const second = new RunnerProcess([...args, '--isolation', 'none'])
  expect((await second.ended).code).toBe(2)
  expect(second.log).toMatch(/is used by the runner/)
  await first.kill()
  const third = new RunnerProcess([...args, '--isolation', 'none'])
  await third.logged(/pool\.disconnected/)
  await third.kill('SIGTERM')
})

/** The terminal's library is loaded before, because it looks for the part of its own platform. */
const AS_MAC = `import { createRequire } from 'node:module'
createRequire(${JSON.stringify(import.meta.filename)})('@lydell/node-pty')
Object.defineProperty(process, 'platform', { value: 'darwin' })`
const MAC = `--import data:text/javascript,${encodeURIComponent(AS_MAC)}`

test('on a machine that is not Linux it starts with --isolation none alone, and says what that means', async () => {
  const args = ['--url', 'http://127.0.0.1:9', '--workspaces', temporaryFolder()]
  const refused = new RunnerProcess(args, { NODE_OPTIONS: MAC })
  expect(await refused.ended).toMatchObject({ code: 2 })
  expect(refused.log).toMatch(/needs Linux .*this is darwin: there is no isolation here.*--isolation none/)
  const started = new RunnerProcess([...args, '--isolation', 'none'], { NODE_OPTIONS: MAC })
  await started.logged(/pool\.disconnected/)
  expect(started.log).toMatch(/runner\.started .*isolation=none network=all/)
  expect(started.log).toMatch(/isolation\.none .*there is no sandbox: commands run with your rights in all your files/)
  await started.kill()
})

test('the processes of a session are found without /proc as with it', async () => {
  const script = `
    import { spawn } from 'node:child_process'
    const { countDescendants, foregroundGroup, isEnding, killTree, parentOf } = await import(process.argv[1])
    const shell = spawn('sh', ['-c', 'sleep 1000 & sleep 1000 & echo begun; wait'], { stdio: ['ignore', 'pipe', 'ignore'] })
    await new Promise((begun) => shell.stdout.once('data', begun))
    const seen = [countDescendants(shell.pid), parentOf(shell.pid) === process.pid, foregroundGroup(shell.pid), isEnding(shell.pid)]
    const ended = new Promise((resolve) => shell.once('exit', resolve))
    killTree(shell.pid)
    await ended
    console.log(JSON.stringify([...seen, isEnding(shell.pid), parentOf(shell.pid)]))`
  const module = join(import.meta.dirname, '../src/session/processes.ts')
  for (const options of ['', MAC]) {
    const args = ['--input-type=module', '-e', script, module]
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      ...{ env: { ...process.env, NODE_OPTIONS: options }, encoding: 'utf8', detached: true },
    })
    expect([options, stdout, stderr]).toEqual([options, '[2,true,null,false,true,null]\n', ''])
  }
})

test('a folder that cannot be used is named, with why', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../src/main.ts'), '--url', 'http://127.0.0.1:9', ...args], {
      env: { ...process.env, BELLWETHER_RUNNER_KEY: 'k' },
      encoding: 'utf8',
      timeout: 60_000,
    })
  const inFile = join(folder, 'file', 'copies')
  const wrong = [
    [inFile, 'ENOTDIR'],
    // Where nothing can be made, whoever asks.
    ['/proc/copies', 'E'],
  ] as const
  for (const [path, code] of wrong)
    for (const isolation of ['none', 'bwrap'])
      expect([path, isolation, run('--workspaces', path, '--isolation', isolation)]).toMatchObject([
        path,
        isolation,
        {
          status: 2,
          stderr: expect.stringMatching(
            new RegExp(`^(--workspaces .*copies cannot be used: ${code}|.*(Linux|not installed))[^\\n]*\\n$`),
          ),
        },
      ])
})
