// `console` inside the isolate.

import { format, inspect } from 'node:util'
import { tableOf } from './console-table.ts'
import { placed } from './frames.ts'
import { stderr, stdout } from './streams.ts'

let indent = ''

function line(stream: typeof stdout, args: readonly unknown[]): void {
  const lines = placed(format(...args)).split('\n')
  stream.write(`${lines.map((one) => indent + one).join('\n')}\n`)
}

const log = (...args: unknown[]) => line(stdout, args)
const error = (...args: unknown[]) => line(stderr, args)

const counters = new Map<string, number>()
function count(label = 'default'): void {
  const times = (counters.get(label) ?? 0) + 1
  counters.set(label, times)
  log(`${label}: ${times}`)
}

const startedAt = new Map<string, number>()
function timeLog(label = 'default', ...args: unknown[]): void {
  const now = performance.now()
  log(`${label}: ${(now - (startedAt.get(label) ?? now)).toFixed(3)}ms`, ...args)
}
function timeEnd(label = 'default'): void {
  timeLog(label)
  startedAt.delete(label)
}

function group(...args: unknown[]): void {
  if (args.length > 0) log(...args)
  indent += '  '
}

function assert(holds?: unknown, ...args: unknown[]): void {
  if (!holds) error(args.length > 0 ? `Assertion failed: ${format(...args)}` : 'Assertion failed')
}

function trace(...args: unknown[]): void {
  error(placed(String(new Error(format(...args)).stack).replace(/^Error:? ?/, 'Trace: ')))
}

export const console = {
  log,
  info: log,
  debug: log,
  error,
  warn: error,
  trace,
  dir: (value: unknown, options?: Parameters<typeof inspect>[1]) => log(inspect(value, options)),
  dirxml: log,
  assert,
  count,
  countReset: (label = 'default') => void counters.delete(label),
  group,
  groupCollapsed: group,
  groupEnd: () => {
    indent = indent.slice(2)
  },
  time: (label = 'default') => void startedAt.set(label, performance.now()),
  timeEnd,
  timeLog,
  table: (rows: unknown, columns?: readonly string[]) => log(tableOf(rows, columns)),
  clear() {},
}
