// How names lead to files inside the isolate, and what modules, mocks and tables are, beside the real ones.

import { createRequire } from 'node:module'
import realTest from 'node:test'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { tableOf } from '../../../../src/kits/node-program/runtime/console-table.ts'
import { wrongType } from '../../../../src/kits/node-program/runtime/errors.ts'
import { placed, setHeads } from '../../../../src/kits/node-program/runtime/frames.ts'
import { namespaceOf, requiredNamespace } from '../../../../src/kits/node-program/runtime/namespaces.ts'
import type { ModuleDescription, Target } from '../../../../src/kits/node-program/runtime/protocol.ts'
import {
  builtinOf,
  missingError,
  pathsAbove,
  setNames,
  targetOf,
  urlOf,
} from '../../../../src/kits/node-program/runtime/resolution.ts'
import { Mocks } from '../../../../src/kits/node-program/runtime/test-mocks.ts'

function file(requires: Record<string, Target> = {}): ModuleDescription {
  return { kind: 'script', isAsync: false, isMain: false, statics: [], imports: {}, requires, head: 0 }
}

const MAIN = '/workspace/app/main.js'
setNames({
  graph: {
    [MAIN]: file({ pkg: { kind: 'file', path: '/workspace/node_modules/pkg/cjs.js' } }),
    '/workspace/app/lib/index.js': file(),
    '/workspace/app/a b.js': file(),
    '/workspace/app/data.json': file(),
    '/workspace/node_modules/plain/index.js': file(),
  },
  builtins: { fs: 'the files', path: 'the paths', test: 'the tests' },
})

test('a name that is put together leads where the files are; one that was known beforehand leads where it was resolved to', () => {
  const path = (name: string) => {
    const target = targetOf(MAIN, name, 'require')
    return target.kind === 'file' ? target.path : target.kind
  }
  expect(path('./lib')).toBe('/workspace/app/lib/index.js')
  expect(path('./lib/')).toBe('/workspace/app/lib/index.js')
  expect(path('./lib/../a b')).toBe('/workspace/app/a b.js')
  expect(path('file:///workspace/app/data.json')).toBe('/workspace/app/data.json')
  expect(path('plain')).toBe('/workspace/node_modules/plain/index.js')
  expect(path('pkg')).toBe('/workspace/node_modules/pkg/cjs.js')
  expect(['./none', 'none', 'test'].map(path)).toEqual(['missing', 'missing', 'missing'])
  expect(['fs', 'node:fs', 'node:test'].map(path)).toEqual(['builtin', 'builtin', 'builtin'])
})

test('a name that every object has is a name like any other', () => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    expect(targetOf(MAIN, name, 'require')).toMatchObject({ kind: 'missing', why: `Cannot find module '${name}'` })
    expect(builtinOf(name)).toBeUndefined()
  }
})

test('who asked for a missing file is told, back to the first', () => {
  const target = targetOf(MAIN, './none', 'require')
  if (target.kind !== 'missing') throw new Error('it is there')
  const error = missingError(target, { filename: '/workspace/b.js', parent: { filename: MAIN, parent: null } })
  expect(error).toMatchObject({ code: 'MODULE_NOT_FOUND', requireStack: ['/workspace/b.js', MAIN] })
  expect(error.message).toBe(`Cannot find module './none'\nRequire stack:\n- /workspace/b.js\n- ${MAIN}`)
})

test('the folders of packages are looked through as the real one does', () => {
  for (const folder of ['', '/a', '/a/b', '/a/node_modules/b/c', '/node_modules']) {
    const real = createRequire(`${folder}/x.js`).resolve.paths('pkg') ?? []
    const ours = pathsAbove(folder || '/')
    // Behind them come the folders of the person and of the installation.
    expect(real.slice(0, ours.length)).toEqual(ours)
    expect(ours.at(-1)).toBe('/node_modules')
  }
  expect(urlOf('/workspace/a b%#?.js')).toBe('file:///workspace/a%20b%25%23%3F.js')
})

test('a module as an object: its names look up what the exports are by then', () => {
  const exported: Record<string, unknown> = { one: 1, default: 'no' }
  const namespace = namespaceOf(exported)
  exported.one = 2
  expect(Object.keys(namespace)).toEqual(['one', 'default'])
  expect([namespace.one, namespace.default]).toEqual([2, exported])
  expect(inspect(namespaceOf({ a: 'x' }), { depth: 0 })).toBe("[Module: null prototype] { a: 'x', default: [Object] }")
  expect(Object.keys(Object(requiredNamespace(namespace)))).toEqual(['__esModule', 'one', 'default'])
  expect(requiredNamespace(namespaceOf({ 'module.exports': 7 }))).toBe(7)
})

test('an argument of the wrong type is described as the real one describes it', () => {
  const decode = (value: unknown) => {
    try {
      Reflect.apply(Buffer.from, Buffer, [value])
      return null
    } catch (error) {
      return error instanceof Error ? error.message.replace(/^.*Received /, '') : null
    }
  }
  for (const value of [undefined, null, 5, -0, 3n, true, Symbol('s'), () => 1, function named() {}, {}]) {
    const real = decode(value)
    expect(real).not.toBeNull()
    expect(wrongType('It must be a text', value).message).toBe(`It must be a text. Received ${real}`)
  }
})

test('frames of what runs a program are left out, and columns of first lines are those of the file', () => {
  setHeads({ '/workspace/main.js': 10 })
  const stack = [
    'Error: bad',
    '    at f (workspace/main.js:1:22)',
    '    at g (workspace/main.js:2:1)',
    '    at requireFile (bellwether/modules.ts:9:9)',
    '    at async Run.run (bellwether/main.js:1:1) {',
    "  code: 'E_X'",
    '}',
  ].join('\n')
  expect(placed(stack)).toBe(
    "Error: bad\n    at f (/workspace/main.js:1:12)\n    at g (/workspace/main.js:2:1) {\n  code: 'E_X'\n}",
  )
})

test('mocks remember calls and put back what was there, as the real ones do', () => {
  const results = [new Mocks(), realTest.mock].map((mock) => {
    const object = {
      get value() {
        return 1
      },
      add: (n: number) => n + 1,
    }
    const original = object.add
    const fn = mock.method(object, 'add', (n: number) => n * 10)
    const seen = [object.add(2), fn.mock.callCount(), fn.mock.calls[0]?.arguments, fn.mock.calls[0]?.result]
    fn.mock.mockImplementationOnce(() => 100)
    seen.push(object.add(1), object.add(1))
    mock.restoreAll()
    const thrower = mock.fn(() => {
      throw new Error('bad')
    })
    expect(() => thrower()).toThrow('bad')
    seen.push(object.add === original, String(thrower.mock.calls[0]?.error), object.add(1))
    mock.getter(object, 'value', () => 5)
    seen.push(object.value)
    mock.reset()
    return [...seen, object.value]
  })
  expect(results[0]).toEqual(results[1])
})

test('a table has a row for each entry, of lists, objects, maps and sets', () => {
  expect(tableOf([{ a: 1 }, 'x'])).toBe(
    [
      '┌─────────┬───┬────────┐',
      '│ (index) │ a │ Values │',
      '├─────────┼───┼────────┤',
      '│ 0       │ 1 │        │',
      "│ 1       │   │ 'x'    │",
      '└─────────┴───┴────────┘',
    ].join('\n'),
  )
  expect(tableOf(new Map([['k', 1]]))).toContain("│ 0                 │ 'k' │ 1      │")
  expect(tableOf(5)).toBe('5')
})
