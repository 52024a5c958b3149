// Small programs for which Node and the shell's `node` must have the same output and exit code.

export type NodeProgram = {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  /** The arguments of `node`. */
  readonly args: readonly string[]
  readonly cwd?: string
  readonly stdin?: string
  /** Whether error texts are compared too; otherwise only whether there were errors. */
  readonly errors?: 'same' | RegExp
}

type Files = Record<string, string>

export function file(name: string, text: string, more: Files = {}, rest: Partial<NodeProgram> = {}): NodeProgram {
  const path = /^import /.test(text) ? 'main.mjs' : 'main.js'
  return { name, files: { [path]: text, ...more }, args: [path], ...rest }
}

const PLACES: NodeProgram[] = [
  file('__dirname and __filename of the main file', 'console.log(__dirname, __filename)'),
  file(
    'main in a subfolder',
    '',
    { 'a/b/x.js': 'console.log(__dirname, __filename, process.cwd(), process.argv[1])' },
    { args: ['a/b/x.js'] },
  ),
  file(
    'main from another folder',
    '',
    { 'a/x.js': 'console.log(__dirname, process.cwd())', 'b/keep': '' },
    { args: ['../a/x.js'], cwd: 'b' },
  ),
  file('a module beside the main one', "console.log(require('./lib/m'))", {
    'lib/m.js': 'module.exports = [__dirname, __filename, module.id, module.filename]',
  }),
  file(
    'the main module',
    'console.log(module.id, module.filename, module.path, module.loaded, require.main === module, module.children.length, module.parent)',
  ),
  file('module.paths', "console.log(module.paths[0], module.paths.at(-1)); require('./a/b')", {
    'a/b.js': 'console.log(module.paths[0], module.paths[1])',
  }),
  file('require.main elsewhere', "require('./m')", {
    'm.js': 'console.log(require.main === module, require.main.filename, module.parent && module.parent.filename)',
  }),
  file(
    'children and loaded',
    "const m = require('./m'); console.log(module.children.map((c) => c.id).join(), m.mod.loaded, m.mod.exports === m)",
    { 'm.js': 'exports.mod = module; console.log(module.loaded)' },
  ),
  file(
    'require.cache',
    "const a = require('./m'); const key = require.resolve('./m'); console.log(Object.keys(require.cache).join(), require.cache[key].exports === a); delete require.cache[key]; console.log(require('./m') === a)",
    { 'm.js': 'exports.n = Math.random()' },
  ),
  file(
    'require.resolve',
    "console.log(require.resolve('./m'), require.resolve('fs'), require.resolve('node:path')); try { require.resolve('./no') } catch (e) { console.log(e.code) }",
    { 'm.js': '' },
  ),
  file(
    'require.resolve.paths',
    "console.log(require.resolve.paths('x')[0], require.resolve.paths('./x').join(), require.resolve.paths('fs'))",
  ),
  file(
    'import.meta',
    'import fs from "node:fs"\nconsole.log(import.meta.dirname, import.meta.filename, import.meta.url, import.meta.main)',
  ),
  file(
    'import.meta.resolve',
    'import fs from "node:fs"\nconsole.log(import.meta.resolve("./x.js"), import.meta.resolve("node:fs"), import.meta.resolve("fs"))',
    { 'x.js': '' },
  ),
  file(
    'import.meta of a file with a space',
    '',
    { 'a b/c d.mjs': 'console.log(import.meta.url, import.meta.filename, process.argv[1])' },
    { args: ['a b/c d.mjs'] },
  ),
  file(
    'reading beside the file',
    "console.log(require('fs').readFileSync(require('path').join(__dirname, 'data', 'x.txt'), 'utf8'))",
    { 'data/x.txt': 'text' },
  ),
  file(
    'reading beside a file in a folder',
    '',
    {
      'src/m.js': "console.log(require('fs').readFileSync(require('path').join(__dirname, 'x.txt'), 'utf8'))",
      'src/x.txt': 'beside',
    },
    { args: ['src/m.js'] },
  ),
  file(
    'a URL beside a module',
    'import { readFileSync } from "node:fs"\nconsole.log(readFileSync(new URL("./x.txt", import.meta.url), "utf8"), readFileSync(new URL("data/y z.txt", import.meta.url), "utf8"))',
    { 'x.txt': 'beside', 'data/y z.txt': 'space' },
  ),
  file(
    'fileURLToPath',
    'import { fileURLToPath, pathToFileURL } from "node:url"\nimport path from "node:path"\nconst __filename = fileURLToPath(import.meta.url)\nconsole.log(path.dirname(__filename), pathToFileURL(__filename).href === import.meta.url)',
  ),
  file('readdir of __dirname', "console.log(require('fs').readdirSync(__dirname).sort())", {
    'a.txt': '',
    'b/c.txt': '',
  }),
  file(
    '-e has no file',
    '',
    {},
    {
      args: [
        '-e',
        'console.log(__dirname, __filename, module.id, module.filename === require("path").resolve("[eval]"), require.main === module, process.argv.length)',
      ],
    },
  ),
  file('-p and its arguments', '', {}, { args: ['-p', 'process.argv.slice(1)', 'a', '--b'] }),
  file(
    'from the standard input',
    '',
    { 'm.js': 'exports.x = 1' },
    { args: ['-', 'arg'], stdin: 'console.log(__filename, __dirname, require("./m").x, process.argv.slice(1))' },
  ),
  file('arguments', 'console.log(process.argv.slice(2), process.argv0)', {}, { args: ['main.js', '-x', '--', 'y z'] }),
  file(
    'createRequire',
    'import { createRequire } from "node:module"\nconst require = createRequire(import.meta.url)\nconsole.log(require("./a.json"), require.resolve("./a.json"), require("./sub/m.cjs"))',
    { 'a.json': '{"x":1}', 'sub/m.cjs': 'module.exports = __dirname' },
  ),
  file(
    'createRequire of a folder',
    'const { createRequire } = require("module"); console.log(createRequire(__dirname + "/sub/")("./m"), createRequire(__dirname + "/sub/none.js")("./m"))\nif (0) require("./sub/m")',
    { 'sub/m.js': 'module.exports = __filename' },
  ),
]

const MODULES: NodeProgram[] = [
  file(
    'JSON, folders and extensions',
    "console.log(require('./d'), require('./d.json'), require('./lib'), require('./lib/'), require('./plain.txt'))",
    { 'd.json': '{"a":[1,2]}', 'lib/index.js': 'module.exports = "index"', 'plain.txt': 'module.exports = "text"' },
  ),
  file('JSON that is none', "try { require('./d') } catch (e) { console.log(e.name, e.message.split(':')[0]) }", {
    'd.json': '{a',
  }),
  file('main of a package', "console.log(require('p'), require('p/other'), require('q'))", {
    'node_modules/p/package.json': '{"main":"./lib/p"}',
    'node_modules/p/lib/p.js': 'module.exports = "p:" + __dirname',
    'node_modules/p/other.js': 'module.exports = "other"',
    'node_modules/q/index.json': '{"q":1}',
  }),
  file('nested node_modules', "console.log(require('a'), require('b'))", {
    'node_modules/a/index.js': 'module.exports = require("b")',
    'node_modules/a/node_modules/b/index.js': 'module.exports = "inner"',
    'node_modules/b/index.js': 'module.exports = "outer"',
  }),
  file(
    'exports with conditions',
    "console.log(require('p'), require('p/sub/x')); import('p').then((m) => console.log(m.default)); try { require('p/internal') } catch (e) { console.log(e.code, e.message) } try { require('p/package.json') } catch (e) { console.log(e.code) }",
    {
      'node_modules/p/package.json': '{"exports":{".":{"import":"./m.mjs","require":"./c.cjs"},"./sub/*":"./s/*.js"}}',
      'node_modules/p/m.mjs': 'export default "esm"',
      'node_modules/p/c.cjs': 'module.exports = "cjs"',
      'node_modules/p/s/x.js': 'module.exports = "x"',
      'node_modules/p/internal.js': '',
    },
  ),
  file('exports as a string, and arrays', "console.log(require('s'), require('r'))", {
    'node_modules/s/package.json': '{"exports":"./s.js"}',
    'node_modules/s/s.js': 'module.exports = "s"',
    'node_modules/r/package.json': '{"exports":{".":[{"browser":"./no.js"},"./r.js"]}}',
    'node_modules/r/r.js': 'module.exports = "r"',
  }),
  file(
    'exports conditions in their order',
    "console.log(require('p')); import('p').then((m) => console.log(m.default))",
    {
      'node_modules/p/package.json':
        '{"exports":{"node":{"import":"./ni.mjs","default":"./nd.js"},"default":"./d.js"}}',
      'node_modules/p/ni.mjs': 'export default "node-import"',
      'node_modules/p/nd.js': 'module.exports = "node-default"',
      'node_modules/p/d.js': '',
    },
  ),
  file('a package names itself and #imports', "console.log(require('own/x'), require('#in'), require('#dep'))", {
    'package.json': '{"name":"own","exports":{"./x":"./lib/x.js"},"imports":{"#in":"./lib/in.js","#dep":"dep"}}',
    'lib/x.js': 'module.exports = "x"',
    'lib/in.js': 'module.exports = "in"',
    'node_modules/dep/index.js': 'module.exports = "dep"',
  }),
  file('module-sync and default conditions', "console.log(require('p').v)", {
    'node_modules/p/package.json': '{"exports":{"module-sync":"./m.mjs","default":"./d.js"}}',
    'node_modules/p/m.mjs': 'export const v = "sync"',
    'node_modules/p/d.js': 'exports.v = "default"',
  }),
  file(
    'a missing module',
    "try { require('absent') } catch (e) { console.log(e.code, e.message.split('\\n')[0]) } try { require('./absent') } catch (e) { console.log(e.code, e.message.split('\\n')[0], e.requireStack.join()) } import('absent').catch((e) => console.log(e.code, e.message)); import('./absent.js').catch((e) => console.log(e.code, e.message))",
  ),
  file('cycles', "console.log(require('./a').done)", {
    'a.js': 'exports.done = false; const b = require("./b"); console.log("in a", b.done); exports.done = true',
    'b.js': 'exports.done = false; const a = require("./a"); console.log("in b", a.done); exports.done = true',
  }),
  file(
    'a script imported by a module',
    'import d, { a, b } from "./m.cjs"\nimport * as ns from "./m.cjs"\nconsole.log(d, a, b, Object.keys(ns).filter((name) => name !== "module.exports").sort())',
    { 'm.cjs': 'exports.a = 1; exports.b = 2' },
  ),
  file('__esModule imported by a module', 'import d, { a } from "./m.cjs"\nconsole.log(d, a)', {
    'm.cjs': 'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = "def"; exports.a = 1',
  }),
  file('a module required by a script', "const m = require('./m.mjs'); console.log(m, m.default, m.__esModule)", {
    'm.mjs': 'export default "d"; export const x = 1',
  }),
  file('live bindings', 'import { n, up } from "./m.mjs"\nimport * as ns from "./m.mjs"\nup(); console.log(ns.n)', {
    'm.mjs': 'export let n = 0; export const up = () => { n++ }',
  }),
  file('order of evaluation', 'import "./a.mjs"\nimport "./b.mjs"\nconsole.log("main")', {
    'a.mjs': 'import "./c.mjs"; console.log("a")',
    'b.mjs': 'import "./c.mjs"; console.log("b"); await 0; console.log("b2")',
    'c.mjs': 'console.log("c")',
  }),
  file(
    'type module',
    'import x from "./x.js"\nconsole.log(x, typeof require, typeof module, this)',
    { 'package.json': '{"type":"module"}', 'x.js': 'export default "x"' },
    { args: ['main.mjs'] },
  ),
  file('JSON with an attribute', 'import data from "./d.json" with { type: "json" }\nconsole.log(data)', {
    'd.json': '{"a":1}',
  }),
  file(
    'dynamic import of everything',
    "(async () => { const n = './m' + '.mjs'; console.log((await import(n)).default, (await import('./c.cjs')).default.x, typeof (await import('fs')).readFileSync) })(); if (0) import('./m.mjs')",
    { 'm.mjs': 'export default 5', 'c.cjs': 'exports.x = 6' },
  ),
  file(
    'builtins by both names',
    "console.log(require('fs') === require('node:fs'), typeof require('node:test'), require('module').isBuiltin('fs'), require('module').builtinModules.includes('path')); try { require('test') } catch (e) { console.log(e.code) }",
  ),
  file(
    'an ES module found by its syntax',
    'import "node:fs"\nconsole.log(typeof require, import.meta.filename)',
    {},
    {},
  ),
  file('exports and module.exports', "console.log(require('./a'), require('./b'), require('./c')())", {
    'a.js': 'exports.x = 1; module.exports.y = 2',
    'b.js': 'exports = { lost: 1 }; this.kept = 2',
    'c.js': 'module.exports = () => "fn"',
  }),
]

export const PLACES_AND_MODULES: readonly NodeProgram[] = [...PLACES, ...MODULES]
