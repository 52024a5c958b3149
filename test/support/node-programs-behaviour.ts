import { file, type NodeProgram } from './node-programs.ts'

const ENDINGS: NodeProgram[] = [
  file('process.exit', 'process.on("exit", (c) => console.log("exit", c)); process.exit(3); console.log("no")'),
  file('process.exitCode', 'process.exitCode = 4; setTimeout(() => console.log("later"), 5)'),
  file(
    'exit inside a timer and a promise',
    'Promise.resolve().then(() => { setTimeout(() => process.exit(6), 1) }); setInterval(() => {}, 1000)',
  ),
  file('exit of a listener', 'process.on("exit", () => { process.exitCode = 9 })'),
  file('exit inside a listener of the end', 'process.on("exit", () => { console.log("last"); process.exit(5) })'),
  file('a microtask that is no function', 'try { queueMicrotask(5) } catch (e) { console.log(e.name, e.code) }'),
  file('a name that every object has', 'try { require("const" + "ructor") } catch (e) { console.log(e.code) }'),
  file(
    'beforeExit',
    'let n = 0; process.on("beforeExit", (c) => { console.log("before", c); if (n++ < 2) setTimeout(() => console.log("more"), 1) })',
  ),
  file(
    'an uncaught error',
    'function f() { throw new TypeError("bad") }\nf()',
    {},
    { errors: /TypeError: bad\n {4}at f \(.*main\.js:1:22\)\n {4}at .* \(.*main\.js:2:1\)\n[\s\S]*Node\.js v/ },
  ),
  file('an uncaught value', 'throw "text"', {}, { errors: /text[\s\S]*Node\.js v/ }),
  file(
    'an error with a cause and code',
    'const e = new Error("outer", { cause: new RangeError("inner") }); e.code = "E_X"; throw e',
    {},
    { errors: /Error: outer[\s\S]*code: 'E_X'[\s\S]*\[cause\]: RangeError: inner/ },
  ),
  file(
    'an unhandled rejection',
    'Promise.reject(new Error("nobody")); setTimeout(() => console.log("never"), 50)',
    {},
    { errors: /Error: nobody\n {4}at [\s\S]*Node\.js v/ },
  ),
  file(
    'an unhandled rejection of a value',
    'Promise.reject(7)',
    {},
    { errors: /ERR_UNHANDLED_REJECTION[\s\S]*Node\.js v/ },
  ),
  file(
    'a rejection handled late',
    'const p = Promise.reject(new Error("x")); setTimeout(() => p.catch(() => console.log("late")), 10)',
    {},
    { errors: /Error: x/ },
  ),
  file(
    'listeners of errors',
    'process.on("uncaughtException", (e, o) => console.log("caught", e.message, o)); setTimeout(() => { throw new Error("t") }, 1); process.on("unhandledRejection", (r) => console.log("rejected", r)); Promise.reject(1)',
  ),
  file(
    'a syntax error',
    'const a = ;\n',
    {},
    { errors: /(?=[\s\S]*main\.js:1)[\s\S]*SyntaxError: Unexpected token ';'/ },
  ),
  file(
    'a syntax error in a module',
    'import "./bad.mjs"',
    { 'bad.mjs': 'let x = 1\nlet x = 2\n' },
    { errors: /(?=[\s\S]*bad\.mjs:2)[\s\S]*SyntaxError: Identifier 'x' has already been declared/ },
  ),
  file(
    'a missing import',
    'import { nope } from "./m.mjs"',
    { 'm.mjs': 'export const x = 1' },
    { errors: /SyntaxError: The requested module '\.\/m\.mjs' does not provide an export named 'nope'/ },
  ),
  file(
    'top-level await that never ends',
    'import "node:fs"\nawait new Promise(() => {})',
    {},
    { errors: /unsettled top-level await/ },
  ),
  file('a file that is missing', '', {}, { args: ['absent.js'], errors: /Cannot find module '.*absent\.js'/ }),
  file(
    'an option that is none',
    '',
    {},
    { args: ['--absent-option', 'main.js'], errors: /bad option: --absent-option/ },
  ),
  file('a stack overflow', 'try { (function f() { f() })() } catch (e) { console.log(e.name, e.message) }'),
  file(
    'strict and sloppy mode',
    '(function () { console.log(this === globalThis) })(); (function () { "use strict"; console.log(this) })(); undeclared = 1; console.log(undeclared, typeof globalThis.undeclared)',
  ),
]

const ORDER: NodeProgram[] = [
  file(
    'ticks, microtasks, timers, immediates',
    'setTimeout(() => console.log("timeout"), 0); setImmediate(() => console.log("immediate")); Promise.resolve().then(() => console.log("promise")); process.nextTick(() => console.log("tick")); queueMicrotask(() => console.log("micro")); console.log("sync")',
    {},
    {
      args: [
        '-e',
        'setTimeout(() => setImmediate(() => console.log("immediate")), 1); Promise.resolve().then(() => console.log("promise")); process.nextTick(() => console.log("tick")); queueMicrotask(() => console.log("micro")); console.log("sync")',
      ],
    },
  ),
  file(
    'ticks within ticks and promises',
    'process.nextTick(() => { console.log(1); process.nextTick(() => console.log(2)); Promise.resolve().then(() => { console.log(4); process.nextTick(() => console.log(6)) }).then(() => console.log(5)) }); process.nextTick(() => console.log(3))',
  ),
  file(
    'immediates before later timers',
    'setTimeout(() => console.log("t600"), 600); setTimeout(() => console.log("t400"), 400); setTimeout(() => console.log("t200"), 200); setImmediate(() => console.log("i"))',
    {},
    {
      args: [
        '-e',
        'setTimeout(() => console.log("t600"), 600); setTimeout(() => console.log("t300"), 300); setImmediate(() => console.log("i")); setTimeout(() => console.log("t300b"), 300)',
      ],
    },
  ),
  file(
    'intervals and clearing',
    'let n = 0; const t = setInterval(() => { console.log(++n); if (n === 3) clearInterval(t) }, 2); const u = setTimeout(() => console.log("never"), 5); clearTimeout(u); console.log(typeof t.ref, t.hasRef()); setTimeout(() => console.log("unref"), 100000).unref()',
  ),
  file(
    'timers/promises',
    'import { setTimeout as wait, setImmediate as soon } from "node:timers/promises"\nconsole.log(await wait(5, "value"), await soon("soon"))',
  ),
  file(
    'async stacks and for await',
    '(async () => { for await (const x of (async function* () { yield 1; yield 2 })()) console.log(x); console.log("end") })()',
  ),
  file(
    'events',
    'const { EventEmitter, once } = require("events"); const e = new EventEmitter(); e.once("a", (x) => console.log("once", x)); e.on("a", (x) => console.log("on", x)); e.emit("a", 1); e.emit("a", 2); once(e, "b").then(([v]) => console.log(v)); e.emit("b", 3); try { e.emit("error", new Error("unheard")) } catch (x) { console.log(x.message) }',
  ),
  file(
    'streams',
    'const { Readable, Transform, pipeline } = require("stream"); pipeline(Readable.from(["a", "b", "c"]), new Transform({ transform(c, _, d) { d(null, String(c).toUpperCase()) } }), async function* (s) { for await (const c of s) yield c + "!" }, process.stdout, (e) => { console.log("\\nend", e) })',
  ),
  file(
    'reading the standard input',
    'let s = ""; process.stdin.setEncoding("utf8"); process.stdin.on("data", (d) => { s += d }); process.stdin.on("end", () => console.log(s.split("\\n").length, s.trim()))',
    {},
    { stdin: 'one\ntwo ü\n' },
  ),
  file(
    'for await over the standard input',
    '(async () => { const c = []; for await (const x of process.stdin) c.push(x); console.log(Buffer.concat(c).toString().length) })()',
    {},
    { stdin: 'x'.repeat(5000) },
  ),
  file(
    'readline',
    'const rl = require("readline").createInterface({ input: process.stdin }); const l = []; rl.on("line", (x) => l.push(x)); rl.on("close", () => console.log(l))',
    {},
    { stdin: 'a\nb\nlast' },
  ),
  file(
    'the standard input at once',
    'console.log(JSON.parse(require("fs").readFileSync(0, "utf8")).a)',
    {},
    { stdin: '{"a": [1]}' },
  ),
  file(
    'writes with callbacks',
    'process.stdout.write("a", () => process.stdout.write("c\\n")); process.stdout.write("b"); process.stderr.write(Buffer.from("err\\n"))',
    {},
    { errors: 'same' },
  ),
]

const SHOWN: NodeProgram[] = [
  file(
    'maps, sets and classes',
    'class A { constructor() { this.x = 1 } get y() { return 2 } static s = 3 #p = 4 } class B extends A {} console.log(new Map([["a", { b: 1 }], [1, [2]]]), new Set([1, "x"]), new B(), A, B, [A], Object.create(null), new (class extends Map {})([[1, 2]]))',
  ),
  file(
    'errors within objects',
    'const e = new Error("boom"); e.stack = "Error: boom\\n    at somewhere"; console.log({ e }); console.log([new RangeError("r")].map((x) => x.name + x.message)); class My extends Error { constructor() { super("m"); this.name = "My"; this.extra = 1; this.stack = "My: m\\n    at x" } } console.log(new My())',
  ),
  file(
    'nesting, cycles and length',
    'const o = { a: { b: { c: { d: 1 } } } }; o.self = o; console.log(o, [[[[]]]], Array(200).fill(7), "x".repeat(20), ["x".repeat(90)], { long: "y".repeat(120), b: [1, 2, 3] }); console.log([1, , 3], [undefined, null], -0, [-0], 1n, Symbol("s"), { [Symbol("k")]: 1 })',
  ),
  file(
    'formats',
    'console.log("%s %d %i %f %j %o %O %c%%", "s", "42", 4.7, "1.5", { a: 1 }, [1], { b: { c: {} } }, "css", "extra"); console.log("%s", { toString() { return "own" } }, new Date(0), null, undefined, 5n, Symbol("x")); console.log("a%", 1, "%s")',
  ),
  file(
    'functions, dates and boxes',
    'console.log(function named() {}, () => {}, class {}, async () => {}, function* g() {}, new Date(86400000), /re/g, new Number(3), new String("s"), Promise.resolve(4), Promise.reject(5).catch(() => {}) && 1, new WeakMap(), globalThis === global, [new Date(NaN)])',
  ),
  file(
    'typed arrays and buffers',
    'console.log(Buffer.from("héllo"), new Uint8Array([1, 2]), new Float64Array(2), Buffer.alloc(60))',
  ),
  file(
    'inspect with options',
    'const { inspect } = require("util"); console.log(inspect({ a: { b: { c: {} } } }, { depth: 0 }), inspect("it\'s"), inspect(new Map([[{ a: 1 }, new Set([1])]]), { compact: false }), inspect({ b: 1, a: 2 }, { sorted: true }), inspect([1, 2, 3, 4], { maxArrayLength: 2 }), inspect({ x: 1 }, { colors: true }), inspect({ [inspect.custom]: () => "custom" }))',
  ),
  file(
    'console methods',
    'console.table([{ a: 1, b: "x" }, { a: 2 }]); console.group("g"); console.info("in"); console.group(); console.log("deep\\nlines"); console.groupEnd(); console.groupEnd(); console.log("out"); console.count(); console.count("k"); console.count(); console.dir({ a: { b: { c: 1 } } }, { depth: 0 }); console.assert(true, "no"); console.log()',
  ),
  file(
    'console errors',
    'console.error("e %d", 1); console.warn({ w: 1 }); console.assert(false, "failed %s", "x"); console.assert(false); console.debug("d")',
    {},
    { errors: 'same' },
  ),
  file(
    'console.table of other things',
    'console.table([[1, 2], [3, 4]]); console.table(["a", "b"]); console.table(new Map([["k", 1]])); console.table(5); console.table([{ a: 1, b: 2 }], ["b"])',
  ),
  file(
    'Buffer',
    'const b = Buffer.from("48656c6c6f", "hex"); console.log(b.toString(), b.toString("base64"), b.toString("base64url"), Buffer.concat([b, Buffer.from([33])]).toString("latin1"), b.readUInt16BE(0), b.subarray(1, 3).toJSON(), Buffer.compare(b, Buffer.from("Hello")), b.indexOf("l"), Buffer.byteLength("ü"), b.equals(Buffer.from("Hello")), b.swap16 ? 1 : 0, Buffer.from("ÿ", "latin1"), b.fill("ab").toString())',
  ),
  file(
    'hashes',
    'const c = require("crypto"); console.log(c.createHash("sha256").update("a").digest("hex"), c.createHash("md5").update("a").update("b").digest("base64"), c.createHmac("sha1", "k").update("d").digest("hex"), c.randomBytes(4).length, c.randomBytes(100000).length, c.randomFillSync(new Uint8Array(7e4)).length, c.randomUUID().length, c.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), c.pbkdf2Sync("p", "s", 10, 8, "sha512").toString("hex"), c.scryptSync("p", "s", 8, { N: 16 }).toString("hex"))',
  ),
  file(
    'zlib',
    'const z = require("zlib"); const t = "text ".repeat(100); console.log(z.gunzipSync(z.gzipSync(t)).toString() === t, z.inflateSync(z.deflateSync(t)).length, z.inflateRawSync(z.deflateRawSync(Buffer.from(t))).length, z.crc32 ? z.crc32("a") : 0, z.brotliDecompressSync(z.brotliCompressSync(t)).length); z.gzip("x", (e, b) => z.gunzip(b, (e2, r) => console.log(e, e2, String(r))))',
  ),
  file(
    'path, url, querystring and os',
    'const p = require("path"); console.log(p.resolve("a", "../b"), p.relative("/a/b", "/a/c/d"), p.parse("/x/y.tar.gz"), p.normalize("a//b/../c/."), p.extname(".x"), p.sep, new URL("../x?a=1#h", "http://h:81/p/q").href, require("querystring").parse("a=1&a=2&b=%20"), require("os").EOL, require("util").format("%s", 1))',
  ),
  file(
    'util',
    'const u = require("util"); u.promisify((x, cb) => cb(null, x * 2))(4).then(console.log); console.log(u.types.isRegExp(/a/), u.isDeepStrictEqual({ a: [1] }, { a: [1] }), u.inherits.length, u.stripVTControlCharacters("\\x1b[1mx\\x1b[0m"), u.styleText ? 1 : 0); u.callbackify(async () => 5)((e, v) => console.log(e, v))',
  ),
  file(
    'assert',
    'const a = require("assert"); for (const f of [() => a.equal(1, 2), () => a.deepStrictEqual({ a: 1 }, { a: 2 }), () => a.throws(() => {}), () => a(0), () => a.rejects, () => a.match("x", /y/)]) try { f(); console.log("ok") } catch (e) { console.log(e.name, e.code, e.operator) }',
  ),
  file(
    'structuredClone, URLSearchParams, TextEncoder, AbortSignal',
    'console.log(structuredClone(new Map([[1, { a: new Date(0) }]])), new URLSearchParams({ a: "1 2" }).toString(), new TextEncoder().encode("é"), btoa("x"), atob("eA=="), typeof performance.now(), AbortSignal.abort().aborted, typeof Blob, typeof fetch, [1, 2, 3].at(-1), Object.groupBy([1, 2], (x) => (x % 2 ? "odd" : "even")))',
  ),
]

const FILES: NodeProgram[] = [
  file(
    'writing and listing',
    'const fs = require("fs"); fs.mkdirSync("a/b", { recursive: true }); fs.writeFileSync("a/x.txt", "1"); fs.appendFileSync("a/x.txt", "2"); fs.renameSync("a/x.txt", "a/b/y"); console.log(fs.readdirSync("a", { recursive: true }).sort(), fs.readFileSync("a/b/y", "utf8"), fs.existsSync("a/x.txt"), fs.statSync("a/b/y").size, fs.statSync("a").isDirectory()); fs.rmSync("a", { recursive: true }); console.log(fs.existsSync("a"))',
  ),
  file(
    'errors of files',
    'const fs = require("fs"); for (const f of [() => fs.readFileSync("no"), () => fs.mkdirSync("d/e"), () => fs.readdirSync("main.js"), () => fs.readFileSync("."), () => fs.rmdirSync("no"), () => fs.unlinkSync("no"), () => fs.writeFileSync("no/x", ""), () => fs.mkdirSync("."), () => fs.statSync("no"), () => fs.accessSync("no"), () => fs.copyFileSync("no", "x"), () => fs.renameSync("no", "x"), () => fs.readFileSync(5.5), () => fs.openSync("no", "r"), () => fs.rmSync("no"), () => fs.readlinkSync("main.js")]) try { f(); console.log("none") } catch (e) { console.log(e.code, e.syscall, e.message) }',
  ),
  file(
    'promises of files',
    'import fs from "node:fs/promises"\nawait fs.writeFile("x", "abc")\nconst h = await fs.open("x", "r+")\nawait h.write("Z", 1)\nconsole.log((await h.stat()).size)\nawait h.close()\nconsole.log(await fs.readFile("x", "utf8"), (await fs.readdir(".")).sort())\nawait fs.readFile("no").catch((e) => console.log(e.code))',
  ),
  file(
    'streams of files',
    'const fs = require("fs"); const w = fs.createWriteStream("o"); w.write("one "); w.end("two", () => fs.createReadStream("o", { start: 1, end: 4 }).on("data", (d) => console.log(String(d))).on("close", () => console.log("closed", w.bytesWritten)))',
  ),
  file(
    'descriptors',
    'const fs = require("fs"); const fd = fs.openSync("f", "w+"); fs.writeSync(fd, "hello"); const b = Buffer.alloc(3); console.log(fs.readSync(fd, b, 0, 3, 1), String(b), fs.fstatSync(fd).size); fs.ftruncateSync(fd, 2); fs.closeSync(fd); console.log(fs.readFileSync("f", "utf8")); try { fs.closeSync(fd) } catch (e) { console.log(e.code) }',
  ),
  file(
    'writing to a descriptor, output included',
    'const fs = require("fs"); const some = Buffer.from("abcdef\\n"); const f = fs.openSync("f", "w+"); for (const fd of [1, 2, f]) { const counts = [fs.writeSync(fd, "é\\n"), fs.writeSync(fd, some), fs.writeSync(fd, some, 4), fs.writeSync(fd, some, 0, 3), fs.writeSync(fd, some, { offset: 1, length: 2 }), fs.writeSync(fd, "6869", null, "hex"), fs.writeSync(fd, "\\n")]; console.log(fd < 3, counts) } fs.writeSync(f, some, 0, 1, 0); fs.writeSync(f, "Z", 1); console.log(fs.readFileSync("f")); fs.write(1, some, (e, n) => console.log(e, n))',
  ),
  file(
    'descriptors that are not open',
    'const fs = require("fs"); for (const f of [() => fs.readSync(99, Buffer.alloc(1)), () => fs.writeSync(99, "x"), () => fs.writeSync(99, Buffer.alloc(1)), () => fs.closeSync(99), () => fs.fstatSync(99), () => fs.ftruncateSync(99), () => fs.fsyncSync(99)]) try { f(); console.log("none") } catch (e) { console.log(e.code, e.syscall, e.message) }',
  ),
  file(
    'links and modes',
    'const fs = require("fs"); fs.writeFileSync("t", "x", { mode: 0o640 }); fs.symlinkSync("t", "l"); console.log(fs.readlinkSync("l"), fs.lstatSync("l").isSymbolicLink(), fs.statSync("l").isFile(), (fs.statSync("t").mode & 0o777).toString(8), fs.realpathSync("l") === fs.realpathSync("t")); fs.chmodSync("t", 0o755); console.log((fs.statSync("t").mode & 0o777).toString(8))',
  ),
  file(
    'opendir, cp and glob-like walks',
    'const fs = require("fs"); fs.mkdirSync("s/i", { recursive: true }); fs.writeFileSync("s/i/f", "1"); fs.cpSync("s", "d", { recursive: true }); console.log(fs.readdirSync("d", { withFileTypes: true }).map((e) => [e.name, e.isDirectory(), e.parentPath]), fs.readFileSync("d/i/f", "utf8")); (async () => { for await (const e of await fs.promises.opendir("d/i")) console.log(e.name) })()',
  ),
  file(
    'process',
    'console.log(process.platform, typeof process.pid, process.argv.length, process.title, process.exitCode, typeof process.hrtime.bigint(), process.stdout.isTTY, process.release.name, Object.keys(process.env).includes("HOME"), typeof process.memoryUsage().heapUsed, process.execArgv); process.chdir("/tmp"); console.log(process.cwd()); try { process.chdir("/no") } catch (e) { console.log(e.code) }',
  ),
  file(
    '--input-type',
    '',
    {},
    {
      args: [
        '--input-type=module',
        '-e',
        'import fs from "fs"; console.log(typeof fs.readFileSync, typeof require, import.meta.url.endsWith("[eval1]"))',
      ],
    },
  ),
  file('-e with await', '', {}, { args: ['--input-type=module', '--eval', 'console.log(await Promise.resolve(1))'] }),
  file('-p of an object and of statements', '', {}, { args: ['-p', 'const a = { b: [1] }; a'] }),
  file('-p of undefined', '', {}, { args: ['-p', 'undefined'] }),
  file('a hash-bang, a byte order mark and CRLF', '#!/usr/bin/env node\r\nconsole.log("ran")\r\n', {
    'bom.js': '\uFEFFconsole.log("bom")',
  }),
]

export const BEHAVIOUR: readonly NodeProgram[] = [...ENDINGS, ...ORDER, ...SHOWN, ...FILES]
