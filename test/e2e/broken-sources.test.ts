// A market source that misbehaves on the wire, in use: whatever it does, each call ends in time with a declared answer that
// says what went wrong, nothing of it is taken for prices, and the service goes on.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type Service, startService } from '../../scripts/start/service.ts'
import { VARIABLES } from '../../src/config.ts'
import { startLoopbackMarket } from '../support/loopback-market.ts'

const CLEAN = Object.fromEntries(VARIABLES.map(({ name }) => [name, undefined]))
const JSON_TYPE = { 'content-type': 'application/json' }
/** Three tries of ten seconds, and the pauses between them. */
const PATIENCE_MS = 60_000
const FOREVER = 10 * 60_000

type ChartAnswer = { chart: { result: { indicators: { quote: Record<string, unknown[]>[] } }[] } }

/** By the symbol that is asked for: what the source does with the answer that it would give. */
const FAULTS: Readonly<Record<string, (response: ServerResponse, whole: string) => void>> = {
  MOVED: (response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  INSD: (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/api/settings' }).end(),
  ROUND: (response) => response.writeHead(302, { location: '/v8/finance/chart/ROUND' }).end(),
  MUTE: (response) => void setTimeout(() => response.destroy(), FOREVER).unref(),
  SLOW: (response, whole) => {
    response.writeHead(200, JSON_TYPE)
    // A byte now and then keeps every connection open that only looks at its idle time.
    let at = 0
    const timer = setInterval(() => response.write(whole.charAt(at++)), 500).unref()
    response.on('close', () => clearInterval(timer))
  },
  CUT: (response, whole) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': String(whole.length) })
    response.write(whole.slice(0, whole.length / 2), () => response.destroy())
  },
  HALF: (response, whole) => response.writeHead(200, JSON_TYPE).end(whole.slice(0, whole.length / 2)),
  GZIP: (response) => response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end('no gzip at all'),
  GZCUT: (response, whole) => {
    const packed = gzipSync(whole)
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(packed.subarray(0, packed.length / 2))
  },
  HTML: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>'),
  EMPTY: (response) => response.writeHead(200, JSON_TYPE).end(),
  NULL: (response) => response.writeHead(200, JSON_TYPE).end('null'),
  BYTES: (response) => response.writeHead(200, JSON_TYPE).end(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x22])),
  UTFSX: (response, whole) => response.writeHead(200, JSON_TYPE).end(Buffer.from(whole, 'utf16le')),
  HUGE: (response) => {
    response.writeHead(200, JSON_TYPE)
    const block = Buffer.alloc(1 << 20, 0x20)
    const more = () => {
      while (!response.destroyed && response.write(block));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  },
  DEEP: (response) => response.writeHead(200, JSON_TYPE).end('['.repeat(400_000)),
  BUSY: (response) => response.writeHead(429, { 'retry-after': '86400' }).end(),
  DOWN: (response) => response.writeHead(503).end('down'),
  TEXTS: (response, whole) => response.writeHead(200, JSON_TYPE).end(whole.replaceAll(/\d+\.\d+/g, '"$&"')),
  SHORT: (response, whole) => {
    const body = JSON.parse(whole) as ChartAnswer
    body.chart.result[0]?.indicators.quote[0]?.close?.splice(0, 100)
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(body))
  },
  NULLS: (response, whole) => {
    const body = JSON.parse(whole) as ChartAnswer
    body.chart.result[0]?.indicators.quote[0]?.close?.fill(null)
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(body))
  },
}

async function startBrokenMarket(): Promise<string> {
  const sound = await startLoopbackMarket()
  const server = createServer(async (request, response) => {
    const symbol = /\/chart\/([^?]+)/.exec(request.url ?? '')?.[1] ?? ''
    const answer = await fetch(sound.url + request.url, { headers: { cookie: request.headers.cookie ?? '' } })
    const text = await answer.text()
    const fault = FAULTS[symbol]
    if (fault !== undefined) fault(response, text)
    else {
      const cookies = answer.headers.getSetCookie()
      const type = answer.headers.get('content-type') ?? 'text/plain'
      response.writeHead(answer.status, { 'content-type': type, ...(cookies.length > 0 && { 'set-cookie': cookies }) })
      response.end(text)
    }
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await sound.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function started(): Promise<Service> {
  const market = await startBrokenMarket()
  const stateDir = mkdtempSync(join(tmpdir(), 'bellwether-sources-'))
  const env = { ...CLEAN, MARKET_DATA: 'yahoo', YAHOO_URL: market, YAHOO_COOKIE_URL: market }
  const service = await startService({ stateDir, env: { ...env, RATE_LIMIT_READS: 'off', RATE_LIMIT_ANALYSES: 'off' } })
  onTestFinished(async () => {
    await service.stop()
    rmSync(stateDir, { recursive: true, force: true })
  })
  return service
}

type Answer = { status: number; text: string }

async function ask(url: string, body?: unknown): Promise<Answer> {
  const init = body === undefined ? {} : { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }
  const reply = await fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
  return { status: reply.status, text: await reply.text() }
}

test('whatever a source does on the wire, each call ends with a declared answer that names it, and nothing else is harmed', async () => {
  const service = await started()
  const stock = `${service.url}/api/v1/stocks`
  const before = await ask(`${stock}/SOUND/quote`)
  expect(before).toMatchObject({ status: 200 })

  const wrong: unknown[] = []
  const faulty = async (symbol: string) => {
    const [quote, history, report] = await Promise.all([
      ask(`${stock}/${symbol}/quote`),
      ask(`${stock}/${symbol}/history?days=30`),
      ask(`${service.url}/api/v1/analysis/analyze`, { stock_code: symbol, async_mode: false, report_language: 'en' }),
    ])
    for (const { status, text } of [quote, history]) {
      if (status !== 502 || !/yahoo/i.test(text)) wrong.push([symbol, status, text.slice(0, 300)])
    }
    // A report without prices is none: it fails, or it says that it has no figures and gives no advice.
    const isHonest = report.status === 502 || report.status === 500 || /no price|not available/i.test(report.text)
    if (!isHonest) wrong.push([symbol, 'report', report.status, report.text.slice(0, 300)])
  }
  await Promise.all(Object.keys(FAULTS).map(faulty))
  expect(wrong).toEqual([])

  expect(service.restarts).toBe(0)
  // After so many faults the source may be left alone for some minutes, which is said.
  const { status, text } = await ask(`${stock}/SOUND/history?days=5`)
  if (status !== 200) expect([status, text]).toEqual([502, expect.stringContaining('circuit_open')])
  expect((await ask(`${service.url}/health`)).status).toBe(200)
  const report = await ask(`${service.url}/api/v1/analysis/tasks`)
  expect(report.status).toBe(200)
}, 180_000)
