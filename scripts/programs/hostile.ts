// Programs that would never end, or would use all resources: each must end at its time limit, or at a named limit.

export type Hostile = {
  readonly name: string
  readonly code: string
  /** It may end by itself before its time. */
  readonly mayEnd?: true
}

export const HOSTILE: readonly Hostile[] = [
  { name: 'busy loop', code: 'while (true) {}' },
  { name: 'busy loop without braces', code: 'for (;;);' },
  {
    name: 'busy loop through eval',
    code: 'globalThis.constructor; new Proxy({}, { get: () => 1 }); for (const _ of (function* () { for (;;) yield 1 })()) ;',
  },
  { name: 'labelled loops that catch', code: 'a: for (;;) { try { for (;;) { continue a } } catch {} }' },
  {
    name: 'iterator without end',
    code: 'for (const x of { [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) }) x',
  },
  { name: 'recursion of promises', code: 'const f = () => Promise.resolve().then(f); f()' },
  { name: 'microtasks for ever', code: 'const f = () => queueMicrotask(f); f()' },
  { name: 'nextTick for ever', code: 'const f = () => process.nextTick(f); f()' },
  { name: 'await for ever', code: '(async () => { for (;;) await null })()' },
  {
    name: 'rejections for ever',
    code: 'process.on("unhandledRejection", () => {}); const f = () => { Promise.reject(1); setTimeout(f, 0) }; for (let i = 0; i < 100; i++) f()',
  },
  { name: 'flood of unhandled rejections', code: 'for (let i = 0; i < 1e7; i++) Promise.reject(i)', mayEnd: true },
  { name: 'timers that never end', code: 'const f = () => setTimeout(f, 1); f()' },
  { name: 'storm of intervals', code: 'for (let i = 0; i < 5e3; i++) setInterval(() => { Math.sqrt(i) }, 1)' },
  { name: 'timers that multiply', code: 'const f = () => { setTimeout(f, 1); setTimeout(f, 1) }; f()', mayEnd: true },
  { name: 'deep recursion that catches', code: 'const f = () => { try { f() } finally { f() } }; f()' },
  { name: 'mutual recursion', code: 'const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); console.log(f(80))' },
  { name: 'catastrophic regular expression', code: '/^(a+)+$/.test("a".repeat(60) + "b")' },
  {
    name: 'regular expression with lookbehind',
    code: '/(?<=(x+x+)+)y/.test("x".repeat(60)) || /(.*)*\\1{3}z/.test("ab".repeat(60))',
  },
  { name: 'replace with a bad expression', code: '("x".repeat(50) + "!").replace(/(x|xx|x)*$/g, "y")' },
  { name: 'arrays without end', code: 'const a = []; for (;;) a.push([1, 2, 3, {}])' },
  { name: 'a map without end', code: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', mayEnd: true },
  { name: 'strings without end', code: 'const a = []; for (let i = 0; ; i++) a.push(String(i).repeat(1000))' },
  { name: 'a string that doubles', code: 'let s = "x"; for (;;) { s += s; s.charCodeAt(s.length - 1) }', mayEnd: true },
  { name: 'Buffers', code: 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))', mayEnd: true },
  { name: 'typed arrays', code: 'const a = []; for (;;) a.push(new Float64Array(1e6).fill(1.5))', mayEnd: true },
  { name: 'a huge array filled', code: 'Array(1e9).fill(7); const a = []; a.length = 4e9; a.fill(1)', mayEnd: true },
  {
    name: 'JSON of everything',
    code: 'let o = {}; for (let i = 0; i < 1e6; i++) o = { o }; const a = Array(5e6).fill({ a: [1, 2, 3] }); for (;;) JSON.parse(JSON.stringify(a))',
    mayEnd: true,
  },
  {
    name: 'pbkdf2Sync',
    code: 'const c = require("crypto"); for (;;) c.pbkdf2Sync("p", "s", 1e5, 64, "sha512")',
    mayEnd: true,
  },
  {
    name: 'one call of pbkdf2Sync',
    code: 'require("crypto").pbkdf2Sync("p", "s", 2147483647, 512, "sha512")',
    mayEnd: true,
  },
  {
    name: 'scryptSync',
    code: 'const c = require("crypto"); for (;;) c.scryptSync("p", "s", 64, { N: 16384, r: 8, p: 16 })',
    mayEnd: true,
  },
  { name: 'randomBytes', code: 'const c = require("crypto"); for (;;) c.randomBytes(1e7)' },
  {
    name: 'hashes of much',
    code: 'const c = require("crypto"); const b = Buffer.alloc(5e7); for (;;) c.createHash("sha512").update(b).digest()',
  },
  { name: 'primes', code: 'require("crypto").generatePrimeSync(16384, { safe: true })', mayEnd: true },
  {
    name: 'compression',
    code: 'const z = require("zlib"); const b = require("crypto").randomBytes(2e7); for (;;) z.gzipSync(b, { level: 9 })',
  },
  {
    name: 'a compression bomb',
    code: 'const z = require("zlib"); let b = z.gzipSync(Buffer.alloc(1e8)); const a = []; for (;;) a.push(z.gunzipSync(b))',
    mayEnd: true,
  },
  {
    name: 'brotli',
    code: 'const z = require("zlib"); const b = require("crypto").randomBytes(3e7); for (;;) z.brotliCompressSync(b)',
  },
  {
    name: 'Atomics.wait',
    code: 'for (;;) try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) } catch {}',
    mayEnd: true,
  },
  { name: 'flood of console.log', code: 'for (;;) console.log("x".repeat(100))' },
  { name: 'one huge write', code: 'process.stdout.write("x".repeat(3e8)); for (;;);', mayEnd: true },
  { name: 'flood of errors', code: 'for (;;) console.error(new Error("again"))' },
  {
    name: 'exit in the middle of a loop',
    code: 'process.on("exit", () => { for (;;); }); process.exit(0)',
    mayEnd: true,
  },
  { name: 'generators', code: 'function* g() { for (;;) yield* g() } for (const x of g()) x', mayEnd: true },
  {
    name: 'proxies of proxies',
    code: 'let p = {}; for (let i = 0; i < 5e4; i++) p = new Proxy(p, {}); for (;;) try { p.x } catch {}',
  },
  { name: 'powers of BigInt', code: 'let n = 3n; for (;;) n = n ** 3n', mayEnd: true },
  { name: 'one power of BigInt', code: 'console.log((7n ** 30000000n).toString().length)', mayEnd: true },
  {
    name: 'a comparator that never ends',
    code: 'Array.from({ length: 1e6 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e9; i++); return Math.random() - 0.5 })',
  },
  {
    name: 'sort of much',
    code: 'const a = Array.from({ length: 5e6 }, Math.random); for (;;) a.toSorted((x, y) => y - x)',
  },
  {
    name: 'forEach within forEach',
    code: 'const a = Array.from({ length: 1e5 }, (_, i) => i); let n = 0; a.forEach(() => a.forEach((x) => { n += x }))',
  },
  {
    name: 'files in a loop',
    code: 'const fs = require("fs"); for (let i = 0; ; i++) fs.writeFileSync("f" + (i % 1000), "x".repeat(1000))',
    mayEnd: true,
  },
  {
    name: 'files while it waits',
    code: 'const fs = require("fs"); let i = 0; setInterval(() => { for (let k = 0; k < 100; k++) fs.writeFileSync("f" + (i++ % 500), "x".repeat(2000)) }, 1)',
    mayEnd: true,
  },
  { name: 'a getter that never ends', code: 'console.log({ get [Symbol.toStringTag]() { for (;;); } })' },
  {
    name: 'toJSON that recurs',
    code: 'const o = { toJSON() { return { a: o, b: o } } }; for (;;) try { JSON.stringify(o) } catch {}',
  },
  {
    name: 'webassembly without end',
    code: 'const b = Uint8Array.of(0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11); try { new WebAssembly.Instance(new WebAssembly.Module(b)).exports.f() } catch (e) { for (;;); }',
  },
]
