import { expect, test } from 'vitest'
import { client } from '../helpers/app.ts'
import { isEnd, openStream } from './task-events.ts'

type List = { total: number; pending: number; processing: number; tasks: { stock_code: string; status: string }[] }

test('the list limits before it filters unless told otherwise, whatever the case of the states, and counts everything', async () => {
  const ann = await client()
  const submit = async (code: string) => {
    await ann.ask('/api/v1/analysis/analyze', { method: 'POST', body: { stock_code: code, async_mode: true } })
  }
  // Nobody has data for the second: it fails.
  for (const code of ['AAPL', 'ZZZQ', 'MSFT', 'NVDA']) await submit(code)
  const stream = await openStream(ann.key, { query: '?after=0' })
  await stream.until((_, all) => all.filter(isEnd).length === 4)
  stream.close()
  const list = (query: string) => ann.json<List>(`/api/v1/analysis/tasks?${query}`)
  const codes = async (query: string) => (await list(query)).tasks.map(({ stock_code }) => stock_code)
  expect(await codes('')).toEqual(['NVDA', 'MSFT', 'ZZZQ', 'AAPL'])
  expect(await codes('status=COMPLETED, Failed')).toEqual(['NVDA', 'MSFT', 'ZZZQ', 'AAPL'])
  expect(await codes('status=failed')).toEqual(['ZZZQ'])
  expect(await codes('status=failed&limit=2')).toEqual([])
  expect(await codes('status=failed&limit=2&filter_first=true')).toEqual(['ZZZQ'])
  expect(await codes('status=completed&limit=2&filter_first=1')).toEqual(['NVDA', 'MSFT'])
  expect(await codes('status=nonsense')).toEqual([])
  expect(await codes('status=nonsense&filter_first=true')).toEqual([])
  expect(await codes('status=,')).toEqual(['NVDA', 'MSFT', 'ZZZQ', 'AAPL'])
  const { tasks: _, ...counts } = await list('limit=1&status=pending')
  expect(counts).toEqual({ total: 4, pending: 0, processing: 0 })
  for (const bad of ['limit=0', 'limit=101', 'limit=x', 'filter_first=perhaps']) {
    const response = await ann.ask(`/api/v1/analysis/tasks?${bad}`)
    expect([response.status, (await response.json<{ error: string }>()).error], bad).toEqual([422, 'validation_error'])
  }
})
