// The installer against a small project and an npm that only notes how it was called.

import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOf, ROOT } from '../support/source-tree.ts'

type Outcome = { code: number; stdout: string; stderr: string }

const FAKE_NPM = `
const { appendFileSync, mkdirSync, readFileSync } = require('node:fs')
appendFileSync('npm-calls', process.argv.slice(2).join(' ') + ' stdin:' + JSON.stringify(readFileSync(0, 'utf8')) + '\\n')
console.log('npm speaks')
if (process.env.FAIL) process.exit(7)
mkdirSync('node_modules', { recursive: true })
`

function project() {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-install-'))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(ROOT, 'scripts', 'install.mjs'), join(folder, 'scripts', 'install.mjs'))
  writeFileSync(join(folder, 'npm.js'), FAKE_NPM)
  writeFileSync(join(folder, 'npm-calls'), '')
  return {
    lock: (packages: object) => writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages })),
    /** What a person's own `npm ci` leaves. */
    installed: (packages: object) => {
      for (const path of Object.keys(packages)) mkdirSync(join(folder, path), { recursive: true })
      writeFileSync(join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }))
    },
    calls: () => readFileSync(join(folder, 'npm-calls'), 'utf8').split('\n').filter(Boolean),
    run: (env: NodeJS.ProcessEnv = {}) =>
      new Promise<Outcome>((resolve) => {
        const options = { cwd: folder, env: { ...process.env, npm_execpath: join(folder, 'npm.js'), ...env } }
        const child = execFile(process.execPath, ['scripts/install.mjs'], options, (error, stdout, stderr) =>
          resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
        )
        child.stdin?.write('an answer that nobody may ask for')
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

const ZOD = { 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' } }

test('packages are installed when missing or when the lock file changed, and never twice for the same one', async () => {
  const { lock, calls, run, remove } = project()
  lock({ '': {}, ...ZOD })
  const first = await run()
  expect(first).toMatchObject({ code: 0, stdout: '' })
  expect(first.stderr).toMatch(/^Installing packages/)
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
  expect(failed.stderr).toContain('Installing the packages failed: it ended with 7')
  expect((await run()).code).toBe(0)
  expect(calls()).toHaveLength(2)
  remove()
})

test('the installer needs nothing that it would have to install', () => {
  expect(importsOf('scripts/install.mjs').filter(({ target }) => !target.startsWith('node:'))).toEqual([])
})
