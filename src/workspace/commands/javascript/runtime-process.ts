// `process`, `console` and the clocks inside the isolate. The text of a module.

import { WATCHED_MARK } from './wire.ts'

export const PROCESS_MODULE = String.raw`
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { format, inspect } from 'node:util'
import { changeFolder, currentFolder } from '/bellwether/files.js'

const real = globalThis.process
const MAX_OUTPUT_CHARS = 8 * 1024 * 1024

/** What ends a program from within: thrown, and told to whoever waits. */
export class Exit { constructor(code) { this.code = code } }
let exit = null
let whenOver = () => {}
export const over = new Promise((resolve) => { whenOver = resolve })
export const isOver = () => exit !== null
export function end(code) {
  exit ??= new Exit(code)
  whenOver(exit.code)
  return exit
}

let output = []
let written = 0
/** What the runtime prints, it prints at once, also from a program that never waits; where nobody reads that, output is reported. */
const native = globalThis.console
let isWatched = false
export function write(stream, text) {
  if (exit !== null && !leaving) return
  if (written > MAX_OUTPUT_CHARS) return
  const room = MAX_OUTPUT_CHARS - written
  written += text.length
  send(stream, text.length > room ? text.slice(0, room) : text)
  // It may be on its way to a file: the loss is told beside it, and by the exit code.
  if (text.length > room) send(2, '\nnode: more than 8 MiB of output; the rest is left out\n')
}
function send(stream, text) {
  if (isWatched) native.log('${WATCHED_MARK}' + JSON.stringify([stream, text]))
  else output.push([stream, text])
}
export const isOutputCut = () => written > MAX_OUTPUT_CHARS
let leaving = false
export function takeOutput() { const taken = output; output = []; return taken }

const decoders = { 1: new TextDecoder(), 2: new TextDecoder() }
function stream(fd) {
  const emitter = new EventEmitter()
  return Object.assign(emitter, {
    fd, writable: true, columns: 80, rows: 24,
    write(data, encoding, callback) {
      write(fd, typeof data === 'string' ? data : decoders[fd].decode(data, { stream: true }))
      const done = typeof encoding === 'function' ? encoding : callback
      if (done) setTimeout(done, 0)
      return true
    },
    end(data, ...rest) { if (data !== undefined && typeof data !== 'function') this.write(data); rest.find((one) => typeof one === 'function')?.() },
    cork() {}, uncork() {}, getColorDepth: () => 1, hasColors: () => false, getWindowSize: () => [80, 24], _write(data, encoding, done) { this.write(data); done() },
  })
}

const process = new EventEmitter()
process.setMaxListeners(0)
const started = performance.now()
Object.assign(process, {
  title: 'node', pid: 4242, ppid: 1, arch: 'x64', platform: 'linux', argv0: 'node', execPath: '/usr/bin/node', execArgv: [], argv: ['/usr/bin/node'], env: {},
  version: real.version, versions: { ...real.versions }, release: { name: 'node' }, config: {}, features: {}, exitCode: undefined,
  stdout: stream(1), stderr: stream(2),
  cwd: currentFolder, chdir: changeFolder, umask: () => 0o022,
  exit(code) {
    const given = code ?? process.exitCode ?? 0
    process.exitCode = given
    leave(Number(given))
    throw exit
  },
  abort() { throw end(134) },
  kill() { throw Object.assign(new Error('kill EPERM'), { code: 'EPERM', syscall: 'kill' }) },
  nextTick(run, ...args) {
    ticks.push([callable(run), args])
    // From a promise's callback they wait until no other is ready, which only a task of its own can tell.
    if (depth === 0 && ticks.length === 1) clocks.setTimeout(drainTicks, 0)
  },
  hrtime: Object.assign((since) => { const now = performance.now() - started; const [s, n] = [Math.floor(now / 1000), Math.floor((now % 1000) * 1e6)]; if (!since) return [s, n]; let [ds, dn] = [s - since[0], n - since[1]]; if (dn < 0) { ds--; dn += 1e9 } return [ds, dn] }, { bigint: () => BigInt(Math.floor((performance.now() - started) * 1e6)) }),
  uptime: () => (performance.now() - started) / 1000,
  memoryUsage: Object.assign(() => ({ rss: 67108864, heapTotal: 33554432, heapUsed: 16777216, external: 0, arrayBuffers: 0 }), { rss: () => 67108864 }),
  cpuUsage: () => ({ user: Math.floor((performance.now() - started) * 1000), system: 0 }),
  getuid: () => 1000, getgid: () => 1000, geteuid: () => 1000, getegid: () => 1000,
  emitWarning(warning) { process.stderr.write('(node) ' + (warning?.name ?? 'Warning') + ': ' + (warning?.message ?? warning) + '\n') },
  binding() { throw new Error('No such module') },
})
let stdin = ''
let stdinStream = null
Object.defineProperty(process, 'stdin', { configurable: true, enumerable: true, get() { return (stdinStream ??= Object.assign(Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]), { fd: 0, isTTY: false, setRawMode() { return this } })) } })

/** Listeners of the end may still write; nothing else runs after them. */
export function leave(code) {
  if (exit !== null) return
  leaving = true
  try { process.emit('exit', code) } catch (error) { if (!(error instanceof Exit)) { report(error); code = 1 } }
  leaving = false
  end(Number(process.exitCode ?? code) || code)
}

function unhandled(reason) {
  const error = new Error('This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "' + (typeof reason === 'symbol' || typeof reason === 'object' ? inspect(reason) : String(reason)) + '".')
  error.name = 'UnhandledPromiseRejection'
  error.stack = error.name + ': ' + error.message
  return Object.assign(error, { code: 'ERR_UNHANDLED_REJECTION' })
}

export function report(error) {
  const text = error instanceof Error ? shownError(error) : 'Uncaught ' + inspect(error)
  process.stderr.write(text + '\n\nNode.js ' + process.version + '\n')
}
function shownError(error) {
  const text = inspect(error)
  return placed(text.includes(error.message) ? text : error.name + ': ' + error.message + '\n' + text)
}
/** Paths as the workspace has them, without the frames of what runs the program. */
export function placed(text) {
  const kept = []
  for (const line of text.split('\n')) {
    if (!/^\s+at .*(\bbellwether\/|node-internal:|\basync Run\.|\bRun\.run )/.test(line)) kept.push(line)
    // What else is known of the error begins behind its last frame.
    else if (line.endsWith(' {') && kept.length > 0) kept.push(kept.pop() + ' {')
  }
  return kept.join('\n').replace(/(\(|at (?:async )?)((?:workspace|tmp|home)\/)/g, '$1/$2').replace(/(\/[^\s():]+):1:(\d+)/g, (all, path, column) => heads[path] === undefined ? all : path + ':1:' + Math.max(1, column - heads[path]))
}
/** How far the first line of a file is moved by what stands in front of it. */
let heads = {}

const ticks = []
let depth = 0
/** What a program put off comes before the promises that are settled by then, and before any timer. */
function drainTicks() {
  depth++
  for (let next = ticks.shift(); next !== undefined && exit === null; next = ticks.shift()) guarded(...next)
  depth--
}
export function asMacrotask(run) {
  depth++
  try { run() } finally { if (--depth === 0) drainTicks() }
}

/** Runs a callback of the program: what it throws ends the program, unless somebody listens for that. */
export function guarded(run, args) {
  if (exit !== null) return
  try { run(...args) } catch (error) { uncaught(error, 'uncaughtException') }
}
export function uncaught(error, kind) {
  if (error instanceof Exit || exit !== null) return
  if (kind === 'unhandledRejection' && !(error instanceof Error) && process.listenerCount(kind) === 0 && process.listenerCount('uncaughtException') === 0) error = unhandled(error)
  if (process.listenerCount(kind) > 0) return void guarded(() => process.emit(kind, error, kind === 'unhandledRejection' ? Promise.resolve() : kind), [])
  if (kind === 'unhandledRejection' && process.listenerCount('uncaughtException') > 0) return void uncaught(error, 'uncaughtException')
  report(error)
  process.exitCode = 1
  leave(1)
}

/** Timers that the program waits for. */
let pending = 0
export const hasPending = () => pending > 0 || ticks.length > 0
class Timer {
  constructor(run, ms, args, repeats) {
    Object.assign(this, { run, ms, args, repeats, counts: true, active: false })
    this.arm()
  }
  arm() {
    if (!this.active) { this.active = true; if (this.counts) pending++ }
    this.id = clocks.setTimeout(() => this.fire(), this.ms)
  }
  fire() {
    if (!this.active) return
    if (!this.repeats) this.clear()
    drainTicks()
    asMacrotask(() => guarded(this.run, this.args))
    if (this.repeats && this.active && exit === null) this.id = clocks.setTimeout(() => this.fire(), this.ms)
  }
  clear() { clocks.clearTimeout(this.id); if (this.active && this.counts) pending--; this.active = false }
  ref() { if (!this.counts) { this.counts = true; if (this.active) pending++ } return this }
  unref() { if (this.counts) { this.counts = false; if (this.active) pending-- } return this }
  hasRef() { return this.counts }
  refresh() { clocks.clearTimeout(this.id); this.arm(); return this }
  close() { this.clear(); return this }
  [Symbol.toPrimitive]() { return Number(this.id) || 0 }
  [Symbol.dispose]() { this.clear() }
}
const clocks = { setTimeout: globalThis.setTimeout.bind(globalThis), clearTimeout: globalThis.clearTimeout.bind(globalThis), queueMicrotask: globalThis.queueMicrotask.bind(globalThis) }
export const wait = (ms) => new Promise((resolve) => clocks.setTimeout(resolve, ms))
const callable = (run) => { if (typeof run !== 'function') throw Object.assign(new TypeError('The "callback" argument must be of type function. Received ' + inspect(run)), { code: 'ERR_INVALID_ARG_TYPE' }); return run }
const clear = (timer) => { if (timer instanceof Timer) timer.clear() }
export const timers = {
  setTimeout: (run, ms, ...args) => new Timer(callable(run), Math.max(1, Number(ms) || 0), args, false),
  setInterval: (run, ms, ...args) => new Timer(callable(run), Math.max(1, Number(ms) || 0), args, true),
  setImmediate: (run, ...args) => new Timer(callable(run), 0, args, false),
  clearTimeout: clear, clearInterval: clear, clearImmediate: clear,
}

let indent = ''
const line = (fd, args) => process[fd === 1 ? 'stdout' : 'stderr'].write(placed(format(...args)).split('\n').map((one) => indent + one).join('\n') + '\n')
const counters = new Map()
const clocksOf = new Map()
const console = {
  log: (...args) => void line(1, args), info: (...args) => void line(1, args), debug: (...args) => void line(1, args),
  error: (...args) => void line(2, args), warn: (...args) => void line(2, args),
  trace: (...args) => void line(2, [placed(new Error(format(...args)).stack.replace(/^Error:? ?/, 'Trace: '))]),
  dir: (value, options) => void line(1, [inspect(value, options)]), dirxml: (...args) => void line(1, args),
  assert: (holds, ...args) => { if (!holds) line(2, args.length ? ['Assertion failed: ' + format(...args)] : ['Assertion failed']) },
  count: (label = 'default') => { counters.set(label, (counters.get(label) ?? 0) + 1); line(1, [label + ': ' + counters.get(label)]) },
  countReset: (label = 'default') => void counters.delete(label),
  group: (...args) => { if (args.length) line(1, args); indent += '  ' }, groupEnd: () => { indent = indent.slice(2) },
  time: (label = 'default') => void clocksOf.set(label, performance.now()),
  timeEnd: (label = 'default') => { console.timeLog(label); clocksOf.delete(label) },
  timeLog: (label = 'default', ...args) => void line(1, [label + ': ' + (performance.now() - (clocksOf.get(label) ?? performance.now())).toFixed(3) + 'ms', ...args]),
  table: (rows, columns) => void line(1, [tableOf(rows, columns)]), clear() {},
}
console.groupCollapsed = console.group
function tableOf(given, wanted) {
  if (typeof given !== 'object' || given === null) return inspect(given)
  const isMap = given instanceof Map
  const isList = isMap || given instanceof Set
  const rows = isMap ? [...given].map(([Key, Values]) => ({ Key, Values })) : isList ? [...given] : given
  const entries = Object.entries(rows)
  const isRow = (row) => typeof row === 'object' && row !== null
  const columns = wanted ?? [...new Set(entries.flatMap(([, row]) => (isRow(row) ? Object.keys(row) : [])))]
  const hasValues = entries.some(([, row]) => !isRow(row))
  const table = [[isList ? '(iteration index)' : '(index)', ...columns, ...(hasValues ? ['Values'] : [])], ...entries.map(([key, row]) => [key, ...columns.map((name) => (isRow(row) && name in row ? inspect(row[name]) : '')), ...(hasValues ? [isRow(row) ? '' : inspect(row)] : [])])]
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)) + 2)
  const rule = (left, middle, right) => left + widths.map((width) => '\u2500'.repeat(width)).join(middle) + right
  const shown = table.map((row) => '\u2502' + row.map((cell, i) => (' ' + cell).padEnd(widths[i])).join('\u2502') + '\u2502')
  return [rule('\u250c', '\u252c', '\u2510'), shown[0], rule('\u251c', '\u253c', '\u2524'), ...shown.slice(1), rule('\u2514', '\u2534', '\u2518')].join('\n')
}

/** Takes the places of the runtime's own. */
export function install({ argv, env, input, deadline, watched, heads: moved }) {
  heads = moved
  isWatched = watched
  process.argv = argv
  process.env = { ...env }
  stdin = input
  let calls = 0
  const globals = {
    process, console, ...timers, global: globalThis,
    queueMicrotask: (run) => clocks.queueMicrotask(() => guarded(callable(run), [])),
    __guard: () => {
      // Once over, at every look: a loop that catches what is thrown in it must not go on.
      if (exit !== null) throw exit
      if ((++calls & 1023) === 0 && Date.now() > deadline) throw end(124)
      return true
    },
  }
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  addEventListener('unhandledrejection', (event) => { event.preventDefault(); uncaught(event.reason, 'unhandledRejection') })
}
export { console, process }
`
