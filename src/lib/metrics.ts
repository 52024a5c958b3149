// Counters for Prometheus. An isolate counts in its memory and regularly stores its running totals as one row, which
// replaces its former row. So a store that is repeated because its answer was lost counts nothing twice. A reader gets
// the sum over all rows. The sum never decreases; an isolate that dies loses its counts since the last store.
//
// Nothing is counted when no reader is configured: a count then costs one comparison.

export type Labels = Readonly<Record<string, string | number>>

/** What there is to count, with its help text. Histograms have the bounds of their buckets. */
export const METRICS = {
  bellwether_http_requests_total: { type: 'counter', help: 'Requests answered, by class of limit, method and status.' },
  bellwether_http_request_duration_seconds: {
    type: 'histogram',
    help: 'How long requests took until their answer began, by class of limit.',
    bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  },
  bellwether_agent_turns_total: { type: 'counter', help: 'Turns of agents that ended, by the state they ended in.' },
  bellwether_agent_steps_total: { type: 'counter', help: 'Steps of agents that ended: model, call or command.' },
  bellwether_tool_calls_total: { type: 'counter', help: 'Tools run by agents; those of remote servers are "other".' },
  bellwether_model_calls_total: { type: 'counter', help: 'Requests to language models, by provider and outcome.' },
  bellwether_model_tokens_total: { type: 'counter', help: 'Tokens of language models, by provider and direction.' },
  bellwether_model_call_duration_seconds: {
    type: 'histogram',
    help: 'How long requests to language models took.',
    bounds: [0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120, 300],
  },
  bellwether_tasks_total: { type: 'counter', help: 'Analysis tasks that ended, by kind and outcome.' },
  bellwether_deliveries_total: { type: 'counter', help: 'Notifications that ended, by channel and outcome.' },
  bellwether_alerts_fired_total: { type: 'counter', help: 'Alert rules that fired.' },
  bellwether_runner_connections_total: { type: 'counter', help: 'Runners that connected.' },
  bellwether_spans_sent_total: { type: 'counter', help: 'Spans that the collector took.' },
  bellwether_spans_dropped_total: { type: 'counter', help: 'Spans that were given up, by reason.' },
  bellwether_tasks_waiting: { type: 'gauge', help: 'Analysis tasks that wait for a runner of analyses.' },
  bellwether_tasks_running: { type: 'gauge', help: 'Analysis tasks that run.' },
  bellwether_task_oldest_wait_seconds: { type: 'gauge', help: 'How long the oldest waiting analysis task has waited.' },
  bellwether_sockets_open: { type: 'gauge', help: 'Sockets of conversations, as their objects last told the index.' },
  bellwether_runners_connected: { type: 'gauge', help: 'Runners with an open connection, as their owners last told.' },
} as const satisfies Record<string, Metric>

type Metric = { type: 'counter' | 'gauge' | 'histogram'; help: string; bounds?: readonly number[] }
type NameOf<Type> = {
  [Name in keyof typeof METRICS]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[keyof typeof METRICS]
export type CounterName = NameOf<'counter'>
export type HistogramName = NameOf<'histogram'>

/** Running totals by series; a series is a name with its labels in the exposition format. */
export type Totals = ReadonlyMap<string, number>

/** A row that was not stored for this long may be added to the total row, so its isolate begins a new one. */
const ROW_LASTS_MS = 30 * 60_000
const STORE_EVERY_MS = 15_000

let isCounting = false
let totals = new Map<string, number>()
let isChanged = false
let row: { id: string; begun: number; storedAt: number; stored: { seq: number; totals: Totals } } | null = null
let triedAt = 0

/** Whether counters are read; the configuration sets this once. */
export function setCounting(isOn: boolean): void {
  isCounting = isOn
}

/** For callers whose labels are expensive to collect. */
export const isCounted = (): boolean => isCounting

export function count(name: CounterName, labels: Labels = {}, by = 1): void {
  if (isCounting && by > 0) add(seriesOf(name, labels), by)
}

/** Buckets of a histogram are cumulative, so one value counts in each bucket that it fits into. */
export function observe(name: HistogramName, labels: Labels, value: number): void {
  if (!isCounting) return
  for (const bound of METRICS[name].bounds)
    add(seriesOf(`${name}_bucket`, { ...labels, le: bound }), value <= bound ? 1 : 0)
  add(seriesOf(`${name}_bucket`, { ...labels, le: '+Inf' }), 1)
  add(seriesOf(`${name}_sum`, labels), value)
  add(seriesOf(`${name}_count`, labels), 1)
}

function add(series: string, by: number): void {
  totals.set(series, (totals.get(series) ?? 0) + by)
  isChanged = true
}

/** The row of an isolate; of two versions of a row that with the higher number is the newer. */
export type TotalsRow = { readonly id: string; readonly seq: number; readonly totals: Totals; readonly at: number }

/** Whether there are changes to store, and the last store is long enough ago. */
export const isStoreDue = (now = Date.now()): boolean => isChanged && now - triedAt >= STORE_EVERY_MS

/**
 * Stores the totals of this isolate. After a failure the next call tries again. Concurrent calls are harmless, because
 * the number tells which is newer.
 */
export async function storeTotals(store: (row: TotalsRow) => Promise<void>, now = Date.now()): Promise<void> {
  if (!isChanged) return
  const own = rowAt(now)
  const { id } = own
  own.begun += 1
  const seq = own.begun
  const taken = new Map(totals)
  triedAt = now
  isChanged = false
  try {
    await store({ id, seq, totals: taken, at: now })
  } catch (error) {
    isChanged = true
    throw error
  }
  if (seq > own.stored.seq) own.stored = { seq, totals: taken }
  own.storedAt = now
}

/** The current row; if that is too old, a new one with those counts that no row has stored. */
function rowAt(now: number): NonNullable<typeof row> {
  if (row !== null && now - row.storedAt < ROW_LASTS_MS) return row
  const before = row?.stored.totals ?? new Map<string, number>()
  const rest = [...totals].map(([series, value]) => [series, value - (before.get(series) ?? 0)] as const)
  totals = new Map(rest.filter(([, value]) => value > 0))
  row = { id: crypto.randomUUID(), begun: 0, storedAt: now, stored: { seq: 0, totals: new Map() } }
  return row
}

// The text format of Prometheus, version 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/.

function seriesOf(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value))}"`)
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`
}

const escaped = (value: string): string =>
  value.slice(0, 100).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Every known metric with its series; a series of an unknown name, which another release counted, is left out. */
export function exposition(series: Totals): string {
  const lines = Object.entries(METRICS).flatMap(([name, { type, help }]) => {
    const own = [...series].filter(([key]) => metricOf(key, type) === name).sort(bySeries)
    const values = own.map(([key, value]) => `${key} ${value}`)
    return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values]
  })
  return `${lines.join('\n')}\n`
}

function metricOf(series: string, type: Metric['type']): string {
  const [name = ''] = series.split('{', 1)
  return type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name
}

/** The buckets of one series are adjacent, the smallest bound first. */
function bySeries([a]: readonly [string, number], [b]: readonly [string, number]): number {
  const [left, right] = [withoutBound(a), withoutBound(b)]
  if (left.rest !== right.rest) return left.rest < right.rest ? -1 : 1
  return left.bound - right.bound
}

function withoutBound(series: string): { rest: string; bound: number } {
  const le = /,?le="([^"]*)"/.exec(series)
  if (le === null) return { rest: series, bound: 0 }
  return { rest: series.replace(le[0], ''), bound: le[1] === '+Inf' ? Number.POSITIVE_INFINITY : Number(le[1]) }
}
