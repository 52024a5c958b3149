// `process` inside the isolate.

import { Readable } from 'node:stream'
import { end, throwIfOver } from './ending.ts'
import { withCode } from './errors.ts'
import { stderr, stdout } from './streams.ts'
import { nextTick } from './timers.ts'
import { changeFolder, currentFolder } from './tree.ts'
import { emitter, leave, VERSION } from './uncaught.ts'

const MEMORY = { rss: 67108864, heapTotal: 33554432, heapUsed: 16777216, external: 0, arrayBuffers: 0 }
const USER = 1000
const UMASK = 0o022
const EXIT_ABORTED = 134
const NS_PER_S = 1e9

const started = performance.now()
const elapsedMs = () => performance.now() - started

type Moment = [seconds: number, nanoseconds: number]
function hrtime(since?: Moment): Moment {
  const ms = elapsedMs()
  const now: Moment = [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)]
  if (!since) return now
  const [seconds, nanoseconds] = [now[0] - since[0], now[1] - since[1]]
  return nanoseconds < 0 ? [seconds - 1, nanoseconds + NS_PER_S] : [seconds, nanoseconds]
}

const ABOUT = {
  title: 'node',
  pid: 4242,
  ppid: 1,
  arch: 'x64',
  platform: 'linux',
  argv0: 'node',
  execPath: '/usr/bin/node',
  execArgv: [],
  argv: ['/usr/bin/node'],
  env: {},
  version: VERSION,
  versions: { ...globalThis.process.versions },
  release: { name: 'node' },
  config: {},
  features: {},
}

const CLOCKS = {
  hrtime: Object.assign(hrtime, { bigint: () => BigInt(Math.floor(elapsedMs() * 1e6)) }),
  uptime: () => elapsedMs() / 1000,
  cpuUsage: () => ({ user: Math.floor(elapsedMs() * 1000), system: 0 }),
  nextTick,
}

const MACHINE = {
  memoryUsage: Object.assign(() => ({ ...MEMORY }), { rss: () => MEMORY.rss }),
  getuid: () => USER,
  getgid: () => USER,
  geteuid: () => USER,
  getegid: () => USER,
  umask: () => UMASK,
  cwd: currentFolder,
  chdir: changeFolder,
}

function exit(code?: number | string | null): void {
  const given = code ?? emitter.exitCode ?? 0
  emitter.exitCode = given
  leave(Number(given))
  throwIfOver()
}

const ENDINGS = {
  exit,
  abort() {
    throw end(EXIT_ABORTED)
  },
  kill() {
    throw Object.assign(withCode(new Error('kill EPERM'), 'EPERM'), { syscall: 'kill' })
  },
}

function emitWarning(warning: unknown): void {
  const [name, message] = warning instanceof Error ? [warning.name, warning.message] : ['Warning', String(warning)]
  stderr.write(`(node) ${name}: ${message}\n`)
}

/** Defined when a program's input is known. */
const INPUT: { stdin?: Readable & { isTTY?: boolean } } = {}

export const process = Object.assign(emitter, INPUT, {
  ...ABOUT,
  ...CLOCKS,
  ...MACHINE,
  ...ENDINGS,
  stdout,
  stderr,
  emitWarning,
  binding() {
    throw new Error('No such module')
  },
})

/** Input as a stream, made when it is asked for. */
export function setInput(text: string): void {
  let stream: Readable | null = null
  const open = () =>
    Object.assign(Readable.from(text === '' ? [] : [Buffer.from(text)]), {
      fd: 0,
      isTTY: false,
      setRawMode() {
        return stream
      },
    })
  Object.defineProperty(process, 'stdin', {
    configurable: true,
    enumerable: true,
    get() {
      stream ??= open()
      return stream
    },
  })
}
