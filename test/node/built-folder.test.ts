// What is built into dist while several starts want it, and while a service serves it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BuiltFolder } from '../../scripts/start/built-folder.ts'
import { tookWhole } from '../../scripts/start/console.ts'

function rig() {
  const place = mkdtempSync(join(tmpdir(), 'bellwether-built-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  const [source, dist] = [join(place, 'source'), join(place, 'dist')]
  const change = (text: string) => writeFileSync(source, text)
  change('one')
  let made = 0
  const make = async (aside: string) => {
    made += 1
    mkdirSync(join(aside, 'assets'), { recursive: true })
    const text = readFileSync(source, 'utf8')
    // Others come to their own look meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
    writeFileSync(join(aside, 'index.html'), text)
    writeFileSync(join(aside, 'assets', `${text}.js`), text)
  }
  const build = { name: 'web', title: 'Building it', sources: [source], proof: 'index.html', make }
  const open = () => new BuiltFolder(build, dist)
  return { place, dist, change, open, made: () => made }
}

const page = (folder: string) => readFileSync(join(folder, 'index.html'), 'utf8')

test('of many starts at once after a change of the sources one builds, and the others take what it built', async () => {
  const { dist, change, open, made } = rig()
  for (const [round, text] of ['one', 'two', 'three'].entries()) {
    change(text)
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const built = open()
        await built.bring()
        expect(page(built.path)).toBe(text)
      }),
    )
    expect(made()).toBe(round + 1)
    expect(readdirSync(dist).toSorted()).toEqual(['web', 'web.lock', 'web.sha256'])
  }
})

test('a build that fails or is killed holds up no other, and leaves nothing of itself', async () => {
  const { dist, open, made } = rig()
  const failing = new BuiltFolder(
    {
      ...{ name: 'web', title: 'Building it', sources: [], proof: 'index.html' },
      make: (aside) => {
        mkdirSync(aside)
        return Promise.reject(new Error('no room'))
      },
    },
    dist,
  )
  await expect(failing.bring()).rejects.toThrow('no room')
  expect(readdirSync(dist)).toEqual(['web.lock'])
  // Another process that has the lock, and what it had built when it was killed.
  const holds = `
    const { DatabaseSync } = require('node:sqlite')
    const lock = new DatabaseSync(${JSON.stringify(join(dist, 'web.lock'))})
    lock.exec('BEGIN EXCLUSIVE')
    console.log('taken')
    setInterval(() => lock, 1000)`
  const other = spawn(process.execPath, ['--no-warnings', '-e', holds], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void other.kill('SIGKILL'))
  await once(other.stdout, 'data')
  mkdirSync(join(dist, 'web-aside'))
  writeFileSync(join(dist, 'web-aside', 'half'), '')
  const waiting = open().bring()
  const left = new AbortController()
  const gone = open().bring(left.signal)
  left.abort(new Error('stopped'))
  await expect(gone).rejects.toThrow()
  expect(made()).toBe(0)
  other.kill('SIGKILL')
  await waiting
  expect(made()).toBe(1)
  expect(readdirSync(open().path).toSorted()).toEqual(['assets', 'index.html'])
  expect(existsSync(join(dist, 'web-aside'))).toBe(false)
})

test('a service keeps the console that it took, whatever is built while it runs, and takes none that is half another', async () => {
  const { place, change, open } = rig()
  const [built, taken] = [open(), join(place, 'taken')]
  await built.bring()
  expect(tookWhole(built, taken)).toBe(true)
  // No second copy on the disk.
  expect(statSync(join(taken, 'index.html')).ino).toBe(statSync(join(built.path, 'index.html')).ino)
  change('two')
  await built.bring()
  expect([page(built.path), page(taken), readdirSync(join(taken, 'assets'))]).toEqual(['two', 'one', ['one.js']])
  // A build that ends while the service takes the console, and one that is in the middle of it.
  const stamps = ['a', 'b']
  expect(tookWhole({ path: built.path, stamp: null }, taken)).toBe(false)
  const changing = {
    path: built.path,
    get stamp() {
      return stamps.pop() ?? null
    },
  }
  expect(tookWhole(changing, taken)).toBe(false)
  const away = { path: join(place, 'none'), stamp: 'a' }
  expect(() => tookWhole(away, taken)).toThrow('ENOENT')
  expect(tookWhole(built, taken)).toBe(true)
  expect([page(taken), readdirSync(join(taken, 'assets'))]).toEqual(['two', ['two.js']])
})
