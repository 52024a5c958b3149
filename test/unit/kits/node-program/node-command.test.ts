// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are shell scripts.

import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { nodeCommands, ownIsolates } from '../../../../src/kits/node-program/index.ts'
import { runScript, type ScriptOutcome, workspaceCommands } from '../../../../src/kits/shell/index.ts'
import { CLOSED } from '../../../helpers/policies.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

type Files = Record<string, string>

async function workspace(files: Files = {}, timeoutMs = 60_000) {
  const fs = new MemoryFileSystem()
  for (const [name, content] of Object.entries(files)) {
    const path = `/workspace/${name}`
    fs.makeDirectory(path.slice(0, path.lastIndexOf('/')), { recursive: true })
    await fs.write(path, new TextEncoder().encode(content))
  }
  const commands = [
    ...workspaceCommands({ network: { policy: CLOSED } }),
    ...nodeCommands({ programs: ownIsolates(env.LOADER), timeoutMs }),
  ]
  const run = (
    script: string,
    more: { signal?: AbortSignal; limits?: { timeoutMs: number } } = {},
  ): Promise<ScriptOutcome> => runScript({ fs, script, cwd: '/workspace', env: { NAME: 'value' }, commands, ...more })
  return {
    fs,
    run,
    out: async (script: string) => (await run(script)).output,
    read: async (name: string) => new TextDecoder().decode(await fs.read(`/workspace/${name}`)),
  }
}

test('scripts of the older kind: require of files, folders, JSON and builtins, arguments, variables and exit codes', async () => {
  const { run, out } = await workspace({
    'lib/sum.js': 'exports.sum = (...n) => n.reduce((a, b) => a + b, 0)\nexports.where = __filename',
    'lib/index.js': "module.exports = { ...require('./sum'), data: require('./data.json') }",
    'lib/data.json': '{"four": 4}',
    'app.js': `#!/usr/bin/env node
const path = require('node:path'), assert = require('assert')
const { sum, where, data } = require('./lib')
undeclared = 3
assert.equal(sum(1, 2, undeclared), 6)
console.log('%s is %d', 'sum', sum(1, data.four), { a: [1, 'x'] })
console.error(path.basename(where), process.argv.slice(2), process.env.NAME, process.cwd())
if (process.argv[2] === 'fail') process.exit(3)
console.log(this === module.exports, require.main === module, typeof globalThis.__module)`,
  })
  const fine = await run('node app.js a "b c"')
  expect([fine.exitCode, fine.output]).toEqual([
    0,
    "sum is 5 { a: [ 1, 'x' ] }\ntrue true undefined\nsum.js [ 'a', 'b c' ] value /workspace\n",
  ])
  const failed = await run('node ./app fail | cat; echo ${PIPESTATUS[0]}')
  expect(failed.output).toContain('\n3\n')
  expect(
    await out(
      'node -e "console.log(1 + 1)"; node -p "[1, 2].map((n) => n * 2)"; echo "console.log(__filename)" | node',
    ),
  ).toBe('2\n[ 2, 4 ]\n[stdin]\n')
  expect(
    await out('node -p "const a = 2; a * 21"; echo hi | node -p "require(\'fs\').readFileSync(0, \'utf8\').trim()"'),
  ).toBe('42\nhi\n')
  expect(
    await out('js -e "process.exitCode = 4"; echo $?; node missing.js; echo $?; node --frob; echo $?; node --version'),
  ).toMatch(/^4\nnode: Cannot find module '\/workspace\/missing.js'\n1\nnode: bad option: --frob\n9\nv\d+/)
})

test('modules of the newer kind: every form of import and export, cycles, top-level await and timers', async () => {
  const { out } = await workspace({
    'package.json': '{"type": "module", "imports": {"#own": "./own.js"}}',
    'own.js': 'export default "own"',
    'names.js': `export const one = 1, { two, inner: { three = 3 }, ...others } = { two: 2, inner: {}, four: 4 }
export let counter = 0
export function up() { return ++counter }
export class Thing { static kind = 'thing' }
const local = 'l'
export { local as renamed, local as 'odd name' }
export default class { name = 'default' }`,
    'again.js':
      "export * from './names.js'\nexport * as all from './names.js'\nexport { default as Named, one as uno } from './names.js'",
    'old.cjs': "module.exports = { fromOld: 'old', async later() { return (await import('./own.js')).default } }",
    'a.js': "import { b } from './b.js'\nexport function a() { return 'a' + b() }\nexport const viaB = b()",
    'b.js': "import { a } from './a.js'\nexport function b() { return 'b' }\nexport const getA = () => a",
    'main.js': `import fs, { readFileSync } from 'node:fs'
import Default, * as names from './names.js'
import { renamed, up, counter, one as eins, 'odd name' as odd } from './names.js'
import { all, Named, uno, three } from './again.js'
import old, { fromOld } from './old.cjs'
import { viaB } from './a.js'
import own from '#own'
import data from './package.json' with { type: 'json' }
const text = \`import x from 'not-an-import' \${((a) => { while (a < 2) a++; return a })(0)}\`
const regex = /[/'"]import {x} from 'y'/g
up()
console.log(renamed, names.counter, eins, odd, uno, three, all.two, Named === Default, new Default().name, names.others)
console.log(fromOld, await old.later(), viaB, own, data.type, text, regex.source.length, fs.readFileSync === readFileSync)
console.log(import.meta.filename, import.meta.url, import.meta.dirname, this)
const { setTimeout: later } = await import('node:timers/promises')
await new Promise((resolve) => setTimeout(resolve, 5))
setTimeout(() => console.log('last'), 10)
setImmediate(() => console.log('then'))
process.nextTick(() => console.log('first'))
console.log(crypto.randomUUID().length)`,
  })
  expect(await out('node main.js')).toBe(
    [
      'l 1 1 l 1 3 2 true default { four: 4 }',
      "old own b own module import x from 'not-an-import' 2 24 true",
      '/workspace/main.js file:///workspace/main.js /workspace undefined',
      '36',
      'first',
      'then',
      'last',
      '',
    ].join('\n'),
  )
})

test('what goes wrong is told as Node does: where, why, and with an exit code', async () => {
  const { run, out } = await workspace({
    'throws.js': "\nfunction inner() {\n  throw new TypeError('bad thing')\n}\ninner()",
    'syntax.js': 'const a = 1\nconst b = 3 +;\n',
    'uses.js':
      "try { require('./syntax') } catch (error) { console.log(error.name, error.message) }\nconsole.log('on')",
    'rejects.mjs': "setTimeout(() => { throw new Error('late') }, 1)\nawait Promise.reject(new Error('early'))",
    'missing.mjs': "import { nothing } from './empty.mjs'",
    'empty.mjs': '',
    'gone.mjs': "import './gone-too.mjs'",
    'types.js': "require('./a.ts')",
    'a.ts': 'let a: string',
    'never.mjs': 'await new Promise(() => {})',
  })
  const thrown = await run('node throws.js')
  expect([thrown.exitCode, thrown.output]).toEqual([
    1,
    expect.stringMatching(/TypeError: bad thing\n {4}at inner \(\/workspace\/throws\.js:3:9\)/),
  ])
  expect(thrown.output).not.toContain('bellwether/')
  expect(await out('node syntax.js; echo $?')).toMatch(
    /SyntaxError: Unexpected token ';' \(\/workspace\/syntax\.js:2\)[\s\S]*\n1\n$/,
  )
  expect(await out('node uses.js')).toBe("SyntaxError Unexpected token ';' (/workspace/syntax.js:2)\non\n")
  expect(await out('node rejects.mjs; echo $?')).toMatch(/^Error: early\n[\s\S]*\n1\n$/)
  expect(await out('node missing.mjs')).toContain("does not provide an export named 'nothing'")
  expect(await out('node gone.mjs')).toContain(
    "Cannot find module '/workspace/gone-too.mjs' imported from /workspace/gone.mjs",
  )
  expect(await out('node types.js; node a.ts')).toMatch(/cannot be run here[\s\S]*cannot be run here/)
  expect(await out('node never.mjs; echo $?')).toMatch(/unsettled top-level await\n13\n$/)
  expect(
    await out(
      "node -e \"process.on('exit', (code) => console.log('bye', code)); try { process.exit(5) } catch {} ; console.log('no')\"; echo $?",
    ),
  ).toBe('bye 5\n5\n')
  expect(await out('node -e "require(\'child_process\').execSync(\'ls\')" 2>&1 | grep -c "no processes"')).toBe('1\n')
  expect(await out('node -e "fetch(\'https://example.com\').catch((e) => console.log(e.message))"')).toContain(
    'not permitted',
  )
})

test('files: a script reads what is there, and what it writes, moves and deletes is there afterwards', async () => {
  const { out, fs, read } = await workspace({
    'in/a.txt': 'alpha\n',
    'in/b.txt': 'beta',
    'old/deep/x': '1',
    'work.mjs': `import * as fs from 'node:fs'
import { readFile, writeFile, mkdir } from 'node:fs/promises'
fs.mkdirSync('out/deep', { recursive: true })
for (const name of fs.readdirSync('in')) fs.writeFileSync('out/' + name, fs.readFileSync('in/' + name, 'utf8').toUpperCase())
fs.appendFileSync('out/a.txt', 'more')
fs.renameSync('old', 'new')
fs.rmSync('in/b.txt')
fs.chmodSync('out/b.txt', 0o755)
fs.symlinkSync('a.txt', 'out/link')
await writeFile('out/deep/bytes', Uint8Array.of(0, 255, 1))
const names = fs.readdirSync('.', { withFileTypes: true }).map((entry) => entry.name + (entry.isDirectory() ? '/' : ''))
console.log(names.join(' '), await readFile('out/link', 'utf8'), fs.statSync('out/b.txt').size, fs.existsSync('in/b.txt'))
try { fs.readFileSync('nope') } catch (error) { console.log(error.code, error.message) }
try { fs.rmdirSync('new') } catch (error) { console.log(error.code) }
fs.writeFile('called', 'back', (error) => fs.readFile('called', 'utf8', (_, text) => console.log(error, text)))
const descriptor = fs.openSync('fd', 'w'); fs.writeSync(descriptor, 'one'); fs.writeSync(descriptor, 'two'); fs.closeSync(descriptor)
fs.createReadStream('in/a.txt').on('data', (chunk) => process.stdout.write(chunk))
setTimeout(() => { process.chdir('out'); fs.writeFileSync('here', process.cwd()) }, 10)`,
  })
  expect(await out('node work.mjs')).toBe(
    'fd/ in/'.replace('fd/ ', '') +
      " new/ out/ work.mjs ALPHA\nmore 4 false\nENOENT ENOENT: no such file or directory, open 'nope'\nENOTEMPTY\nalpha\nnull back\n",
  )
  expect([
    await read('out/a.txt'),
    await read('new/deep/x'),
    await read('fd'),
    await read('called'),
    await read('out/here'),
  ]).toEqual(['ALPHA\nmore', '1', 'onetwo', 'back', '/workspace/out'])
  expect(fs.list('/workspace').map(({ name }) => name)).toEqual(['called', 'fd', 'in', 'new', 'out', 'work.mjs'])
  expect([fs.stat('/workspace/out/b.txt').mode, fs.readLink('/workspace/out/link')]).toEqual([0o755, 'a.txt'])
  expect(await fs.read('/workspace/out/deep/bytes')).toEqual(Uint8Array.of(0, 255, 1))
  expect(await out("node -e \"require('fs').writeFileSync('/etc/passwd', 'x')\"; ls /etc 2>&1")).toContain(
    'No such file',
  )
  expect(await out("node -e \"require('fs').readFileSync('/workspace/../../proc/self/environ')\" 2>&1")).toContain(
    'ENOENT',
  )
})

test('node --test runs test files, tells what failed and where, and fails with them', async () => {
  const { run, out } = await workspace({
    'src/add.js': 'exports.add = (a, b) => a - b',
    'test/add.test.js': `const { test, describe, it, beforeEach, mock } = require('node:test')
const assert = require('node:assert/strict')
const { add } = require('../src/add.js')
let ready = 0
beforeEach(() => { ready++ })
test('adds', () => { assert.equal(add(2, 3), 5) })
describe('group', () => {
  it('waits', async () => { await new Promise((resolve) => setTimeout(resolve, 5)); assert.equal(ready, 2) })
  it.skip('not now', () => { throw new Error('never') })
  it('has parts', async (t) => { await t.test('part', () => {}); const fn = mock.fn(() => 7); assert.equal(fn(1), 7); assert.deepEqual(fn.mock.calls[0].arguments, [1]) })
})`,
    'other.test.mjs':
      "import test from 'node:test'\nimport assert from 'node:assert'\ntest('fine', () => assert.ok(1))",
    'broken.test.js': 'this is no script',
  })
  const failed = await run('node --test')
  expect(failed.exitCode).toBe(1)
  expect(failed.output).toMatch(/✖ adds \([\d.]+ms\)\n/)
  expect(failed.output).toMatch(/Values are not strictly equal[\s\S]*-1[\s\S]*5/)
  expect(failed.output).toMatch(/\/workspace\/test\/add\.test\.js:6/)
  expect(failed.output).toMatch(/ {2}✔ waits/)
  expect(failed.output).toMatch(/✖ \/workspace\/broken\.test\.js/)
  expect(failed.output).toMatch(/ℹ tests 7\nℹ suites 1\nℹ pass 4\nℹ fail 2\nℹ skipped 1\n/)
  expect((await run('sed -i s/-/+/ src/add.js; node --test test other.test.mjs')).exitCode).toBe(0)
  expect(await out('node test/add.test.js | grep -c ✔')).toBe('5\n')
  expect((await run("node --test --test-name-pattern='^adds' test")).output).toMatch(/ℹ tests 1\n/)
  expect((await run('node --test nothing')).output).toContain("Could not find '/workspace/nothing'")
})

test('packages in node_modules are found as Node finds them', async () => {
  const { out } = await workspace({
    'node_modules/plain/package.json': '{"main": "lib"}',
    'node_modules/plain/lib/index.js': 'module.exports = "plain"',
    'node_modules/@scope/both/package.json':
      '{"exports": {".": {"import": "./m.mjs", "require": "./c.cjs"}, "./sub/*": "./inner/*.js", "./no": null}}',
    'node_modules/@scope/both/m.mjs': 'export default "import"',
    'node_modules/@scope/both/c.cjs': 'module.exports = "require"',
    'node_modules/@scope/both/inner/x.js': 'module.exports = "x"',
    'node_modules/loop/package.json': '{"main": "."}',
    'src/a.cjs':
      "console.log(require('plain'), require('@scope/both'), require('@scope/both/sub/x'))\nfor (const name of ['loop', '@scope/both/no', 'absent', 'plain/../..']) try { require(name); console.log(name, '!') } catch (error) { console.log(error.code) }",
    'src/b.mjs': "import a from 'plain'\nimport b from '@scope/both'\nconsole.log(a, b)",
    'src/c.cjs':
      "const name = './' + 'd'; try { console.log(require(name)) } catch (error) { console.log(error.code) }\nconsole.log(require('./d'))",
    'src/d.js': 'module.exports = "d"',
  })
  expect(await out('node src/a.cjs; node src/b.mjs; node src/c.cjs')).toBe(
    `plain require x\n${'MODULE_NOT_FOUND\n'.repeat(4)}plain import\nd\nd\n`,
  )
})

test('a program that does not end is stopped, however it goes on, and what it wrote and changed is kept', async () => {
  const { run, read } = await workspace({}, 1_000)
  for (const loop of [
    'for (;;) {}',
    'for (let i = 0; ; i++) i',
    'while (true) ;',
    'do { } while (1)',
    'while (true) { try { while (true) {} } catch {} }',
    'const f = () => { setTimeout(f, 1) }; f()',
    'setInterval(() => {}, 5)',
    '(async () => { while (true) await 0 })()',
  ]) {
    const { output, exitCode } = await run(
      `node -e "console.log('begun'); require('fs').writeFileSync('kept', 'yes'); ${loop}"; echo "code $?"`,
    )
    expect([loop, exitCode, output]).toEqual([
      loop,
      0,
      expect.stringMatching(/^begun\nnode: stopped after 1 s\ncode 124\n$/),
    ])
    expect(await read('kept')).toBe('yes')
  }
  const flood = await run('node -e "for (;;) console.log(\'x\'.repeat(1000))"')
  expect(flood.output.length).toBeLessThanOrEqual(30_000)
  const deep = await run('node -e "(function f() { f() })()"; node -e "throw null"; node -e "Promise.reject(7)"')
  expect(deep.output).toMatch(/RangeError[\s\S]*Uncaught null[\s\S]*reason "7"/)
})

test('a program has the time that its call has left, and no more, and what it wrote is shown', async () => {
  const { run, read } = await workspace({}, 60_000)
  const looping = 'console.log(1); require("fs").writeFileSync("kept", "yes"); for (;;) {}'
  const outcome = await run(`node -e '${looping}'; echo never`, { limits: { timeoutMs: 4000 } })
  expect([outcome.exitCode, outcome.timedOut]).toEqual([124, true])
  expect(outcome.output).toMatch(/^1\nnode: stopped after [34](\.\d)? s\nbash: stopped after 4 s/)
  expect(await read('kept')).toBe('yes')
  const inner = await run(`timeout 3 node -e 'console.log(2); setInterval(() => {}, 5)'; echo $?`)
  expect(inner.output).toMatch(/^2\n(node: .*\n)?124\n$/)
})

test('a stop from outside ends a program that waits', async () => {
  const { run } = await workspace({}, 20_000)
  const controller = new AbortController()
  setTimeout(() => controller.abort(), 150)
  const outcome = await run('node -e "console.log(1); setInterval(() => {}, 10)"; echo never', {
    signal: controller.signal,
  })
  expect([outcome.aborted, outcome.exitCode]).toEqual([true, 130])
  expect(outcome.output).not.toContain('never')
})

test('what a program writes may be more than one report holds; one file too large for it is an error that names it', async () => {
  const { out, run } = await workspace()
  const many = "for (let i = 0; i < 20; i++) require('fs').writeFileSync('f' + i, Buffer.alloc(2e6, i))"
  expect(await out(`node -e "${many}"; ls | wc -l; cat f1? | wc -c`)).toBe('20\n20000000\n')
  const large = "require('fs').writeFileSync('large', Buffer.alloc(26e6))"
  expect(await out(`node -e "${large}" 2>&1 | grep -o 'EFBIG: file too large'; ls large`)).toContain(
    'EFBIG: file too large',
  )
  expect((await run(`node -e "${many.replace('20;', '1;')}"`)).exitCode).toBe(0)
})

test('output that is too much is cut where it is too much, which is said beside it and by the exit code', async () => {
  const { out } = await workspace()
  const loud = `node -e 'process.stdout.write("y".repeat(1.2e7))' > o; echo $?; wc -c < o`
  expect(await out(loud)).toBe('\nnode: more than 8 MiB of output; the rest is left out\n1\n8388608\n')
})

test('code on the command line is of no package, and finds the builtin modules by their names', async () => {
  const { out } = await workspace({ 'package.json': '{"type":"module"}', a: 'x' })
  expect(await out(`node -e 'console.log(require("path").sep)'`)).toBe('/\n')
  expect(await out(`node -p 'fs.existsSync("a") + os.EOL.length'`)).toBe('2\n')
  expect(await out(`node -e 'const path = { sep: 1 }; console.log(path.sep, util.inspect({}))'`)).toBe('1 {}\n')
  expect(await out(`echo 'console.log(typeof require)' | node -`)).toBe('function\n')
})
