// `node:fs` of the isolate beside the real one, in this process: what both answer, and how both fail.

import realFs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { fs as ourFs } from '../../../../src/kits/node-program/runtime/fs.ts'
import { mount, takeChanges } from '../../../../src/kits/node-program/runtime/tree.ts'

const folder = realFs.realpathSync(realFs.mkdtempSync(join(tmpdir(), 'bellwether-fs-')))
mount([{ path: folder, kind: 'directory', mode: 0o755, mtimeMs: 0, size: 0 }], {
  cwd: folder,
  stdin: '',
  closed: () => false,
})

type Step = readonly [name: string, ...args: unknown[]]

/** What a call answers or throws, with the paths of the folder taken out. */
function outcome(fs: object, [name, ...args]: Step): unknown {
  const run: unknown = Reflect.get(fs, name)
  if (typeof run !== 'function') return `${name} is missing`
  try {
    return shown(Reflect.apply(run, fs, args))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const about = Object.fromEntries(Object.entries(error).filter(([key]) => key !== 'stack'))
    return { thrown: `${error.name}: ${error.message}`, ...about }
  }
}

function shown(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || !('isFile' in value)) return inspect(value)
  const of = (method: string) => Reflect.apply(Reflect.get(value, method), value, [])
  return ['isFile', 'isDirectory', 'isSymbolicLink', 'isFIFO'].map(of)
}

/** Both do all of it, one step after the other; where they differ is what is answered. */
function differences(steps: readonly Step[]): unknown[] {
  return steps.flatMap((step) => {
    const [real, ours] = [outcome(realFs, step), outcome(ourFs, step)]
    return inspect(real) === inspect(ours) ? [] : [{ step, real, ours }]
  })
}

const at = (name: string) => join(folder, name)

test('each error has the code, the number and the words of the real one', () => {
  const file = at('errors/file')
  expect(
    differences([
      ['mkdirSync', at('errors')],
      ['writeFileSync', file, 'x'],
      ['mkdirSync', at('errors/full/inner'), { recursive: true }],
      ['symlinkSync', 'loop', at('errors/loop')],
      ...[
        'readFileSync',
        'statSync',
        'lstatSync',
        'accessSync',
        'readdirSync',
        'rmSync',
        'unlinkSync',
        'rmdirSync',
      ].map((name): Step => [name, at('errors/missing')]),
      ...['readlinkSync', 'realpathSync', 'truncateSync', 'openSync'].map((name): Step => [name, at('errors/missing')]),
      ['chmodSync', at('errors/missing'), 0o600],
      ['utimesSync', at('errors/missing'), 1, 1],
      ['readFileSync', at('errors')],
      ['readFileSync', join(file, 'below')],
      ['writeFileSync', join(file, 'below'), ''],
      ['writeFileSync', at('errors'), ''],
      ['writeFileSync', at('errors/none/below'), ''],
      ['writeFileSync', file, '', { flag: 'wx' }],
      ['readdirSync', file],
      ['mkdirSync', file],
      ['mkdirSync', file, { recursive: true }],
      ['mkdirSync', join(file, 'a'), { recursive: true }],
      ['rmdirSync', file],
      ['rmdirSync', at('errors/full')],
      ['rmSync', at('errors/missing'), { force: true }],
      ['readlinkSync', file],
      ['readFileSync', at('errors/loop')],
      ['symlinkSync', 'x', file],
      ['renameSync', at('errors/missing'), at('errors/new')],
      ['renameSync', file, at('errors/full')],
      ['renameSync', at('errors/full'), at('errors/full/inner/deeper')],
      ['copyFileSync', at('errors/missing'), at('errors/new')],
      ['openSync', file, 'wx'],
      ['closeSync', 4000],
      ['fstatSync', 4000],
      ['readFileSync', ''],
      ['statSync', at('errors/missing'), { throwIfNoEntry: false }],
    ]),
  ).toEqual([])
})

test('what is no path, no data and no callback is refused in the words of the real one', () => {
  class Thing {}
  const values = [undefined, null, 5n, {}, [], new Thing(), Object.create(null), true, Symbol('s'), () => 1, Number.NaN]
  expect(
    differences([
      ...values.map((value): Step => ['statSync', value]),
      ...values.map((value): Step => ['mkdirSync', value]),
      ...values.map((value): Step => ['writeFileSync', at('data'), value]),
      ...values
        .filter((value) => value && typeof value !== 'function')
        .map((value): Step => ['readFile', at('data'), 'utf8', value]),
      ['readFile', at('data'), 'utf8', 'a word that is longer than twenty-eight characters'],
      ['readFile', at('data'), 'utf8', "it's"],
    ]),
  ).toEqual([])
})

test('what was written, moved, linked and cut is read back alike', () => {
  const a = at('work/a')
  expect(
    differences([
      ['mkdirSync', at('work/deep/er'), { recursive: true }],
      ['writeFileSync', a, 'häuser\n'],
      ['appendFileSync', a, Buffer.from('more')],
      ['readFileSync', a, 'utf8'],
      ['readFileSync', a],
      ['readFileSync', a, { encoding: 'hex' }],
      ['writeFileSync', at('work/b'), 'aGk=', 'base64'],
      ['readFileSync', at('work/b'), 'latin1'],
      ['truncateSync', a, 3],
      ['readFileSync', a, 'latin1'],
      ['truncateSync', a, 6],
      ['readFileSync', a],
      ['symlinkSync', 'a', at('work/link')],
      ['lstatSync', at('work/link')],
      ['statSync', at('work/link')],
      ['realpathSync', at('work/deep/../link')],
      ['readdirSync', at('work'), { recursive: true }],
      ['copyFileSync', at('work/b'), at('work/deep/b')],
      ['cpSync', at('work/deep'), at('work/copy'), { recursive: true }],
      ['readdirSync', at('work/copy')],
      ['cpSync', at('work/deep'), at('work/far/away/copy'), { recursive: true }],
      ['readdirSync', at('work/far'), { recursive: true }],
      ['rmSync', at('work/far'), { recursive: true }],
      ['renameSync', at('work/copy'), at('work/moved')],
      ['existsSync', at('work/copy')],
      ['existsSync', at('work/moved/b')],
      ['existsSync', {}],
      ['rmSync', at('work/moved'), { recursive: true }],
      ['unlinkSync', at('work/link')],
      ['readdirSync', at('work')],
    ]),
  ).toEqual([])
})

test('what changed is told as the state that each path is in, once', () => {
  takeChanges()
  outcome(ourFs, ['writeFileSync', at('told'), 'one'])
  outcome(ourFs, ['writeFileSync', at('told'), 'two'])
  outcome(ourFs, ['mkdirSync', at('gone')])
  outcome(ourFs, ['rmdirSync', at('gone')])
  expect(takeChanges()).toEqual([
    { path: at('gone'), kind: 'gone' },
    { path: at('told'), kind: 'file', mode: 0o644, bytes: new TextEncoder().encode('two') },
  ])
  expect(takeChanges()).toEqual([])
})
