import { env } from 'cloudflare:workers'
import { expect, onTestFinished, test } from 'vitest'
import { foldMetricRows, metricTotals } from '../../../src/db/metrics.ts'
import {
  count,
  exposition,
  isStoreDue,
  METRICS,
  observe,
  setCounting,
  storeTotals,
  type Totals,
  type TotalsRow,
} from '../../../src/lib/metrics.ts'

/** Other tests in this isolate are not to be counted. */
function counting(): void {
  setCounting(true)
  onTestFinished(() => setCounting(false))
}

const CALLS = 'bellwether_model_calls_total{provider="p",outcome="o"}'

/** The grammar of the text format 0.0.4, line by line; answers with the samples by name. */
function parsed(text: string): Map<string, Map<string, number>> {
  expect(text.endsWith('\n')).toBe(true)
  const found = new Map<string, Map<string, number>>()
  let [name, type] = ['', '']
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-z_]+) [^\n]+$/.exec(line)
    const kind = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line)
    if (help !== null) name = help[1] ?? ''
    if (kind !== null) {
      expect(kind[1]).toBe(name)
      type = kind[2] ?? ''
      expect(found.has(name)).toBe(false)
      found.set(name, new Map())
    }
    if (help !== null || kind !== null) continue
    const sample =
      /^([a-zA-Z_:][\w:]*)(?:\{([a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*")*)\})? (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/.exec(
        line,
      )
    if (sample === null) throw new Error(`no sample: ${line}`)
    expect(type === 'histogram' ? sample[1]?.replace(/_(bucket|sum|count)$/, '') : sample[1]).toBe(name)
    const [key = ''] = line.split(/ (?=\S+$)/)
    expect(found.get(name)?.has(key)).toBe(false)
    found.get(name)?.set(key, Number(sample[3]))
  }
  return found
}

const stored = async (now: number): Promise<TotalsRow[]> => {
  const kept: TotalsRow[] = []
  await storeTotals(async (row) => void kept.push(row), now)
  return kept
}

test('an isolate stores running totals in one row, begins another after a long rest, and the sum never falls', async () => {
  counting()
  const t = Date.now() + 86_400_000
  const summed = (all: readonly TotalsRow[]) => {
    const newest = new Map<string, Totals>()
    for (const { id, totals } of all) newest.set(id, totals)
    return [...newest.values()].reduce((sum, totals) => sum + (totals.get(CALLS) ?? 0), 0)
  }
  const all: TotalsRow[] = []
  count('bellwether_model_calls_total', { provider: 'p', outcome: 'o' })
  expect(isStoreDue(t)).toBe(true)
  all.push(...(await stored(t)))
  const base = summed(all) - 1
  expect(isStoreDue(t + 60_000)).toBe(false)
  expect(await stored(t)).toEqual([])
  count('bellwether_model_calls_total', { provider: 'p', outcome: 'o' }, 2)
  expect([isStoreDue(t + 1_000), isStoreDue(t + 60_000)]).toEqual([false, true])
  await expect(storeTotals(() => Promise.reject(new Error('away')), t + 60_000)).rejects.toThrow('away')
  all.push(...(await stored(t + 61_000)))
  expect(all.map(({ id }) => id === all[0]?.id)).toEqual([true, true])
  expect(summed(all) - base).toBe(3)
  count('bellwether_model_calls_total', { provider: 'p', outcome: 'o' }, 4)
  all.push(...(await stored(t + 3_600_000)))
  expect(all[2]?.id).not.toBe(all[0]?.id)
  expect(all[2]?.totals.get(CALLS)).toBe(4)
  expect(summed(all) - base).toBe(7)
})

test('rows of isolates that are gone are added to what is kept of all, in one transaction, and nothing is lost', async () => {
  const put = (id: string, totals: object, at: number) =>
    env.DB.prepare('INSERT INTO metric_rows (id, seq, totals, stored_at) VALUES (?, 1, ?, ?)')
      .bind(id, JSON.stringify(totals), at)
      .run()
  await put('fold-1', { 'x{a="1"}': 2, y: 0.5 }, 1_000)
  await put('fold-2', { 'x{a="1"}': 3 }, 2_000)
  await put('fold-3', { 'x{a="1"}': 5 }, 9e15)
  const x = async () => (await metricTotals(env.DB)).get('x{a="1"}')
  expect(await x()).toBe(10)
  expect(await foldMetricRows(env.DB, 3_000)).toBe(2)
  expect(await foldMetricRows(env.DB, 3_000)).toBe(0)
  expect(await x()).toBe(10)
  expect((await metricTotals(env.DB)).get('y')).toBe(0.5)
})

test('what is answered is the text format of Prometheus, with buckets in order and labels escaped', async () => {
  counting()
  for (const seconds of [0.1, 0.3, 400])
    observe('bellwether_model_call_duration_seconds', { provider: 'q"\\\n' }, seconds)
  const [row] = await stored(Date.now() + 2 * 86_400_000)
  const found = parsed(
    exposition(new Map([...(row?.totals ?? []), ['of_another_release', 1], ['bellwether_tasks_waiting', 2]])),
  )
  expect([...found.keys()]).toEqual(Object.keys(METRICS))
  expect(found.get('bellwether_tasks_waiting')?.get('bellwether_tasks_waiting')).toBe(2)
  const own = [...(found.get('bellwether_model_call_duration_seconds') ?? [])].filter(([key]) =>
    key.includes('q\\"\\\\\\n'),
  )
  expect(own.map(([key, value]) => [/le="([^"]+)"/.exec(key)?.[1] ?? key.split('{')[0], value])).toEqual([
    ...['0.25', '0.5', '1', '2.5', '5', '10', '25', '60', '120', '300', '+Inf'].map((bound, i) => [
      bound,
      i === 0 ? 1 : bound === '+Inf' ? 3 : 2,
    ]),
    ['bellwether_model_call_duration_seconds_count', 3],
    ['bellwether_model_call_duration_seconds_sum', 400.4],
  ])
})
