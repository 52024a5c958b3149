import { expect, onTestFinished, test, vi } from 'vitest'
import { parseConfig } from '../../../src/config.ts'
import {
  errorFields,
  log,
  loggedAs,
  methodsLoggedAs,
  setLogLevel,
  setLogSecrets,
  withoutSecrets,
} from '../../../src/lib/log.ts'

/** The lines that the work writes. */
async function linesOf(work: () => unknown): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'log').mockImplementation((line: string) => lines.push(line))
  onTestFinished(() => {
    spy.mockRestore()
    setLogLevel('silent')
    setLogSecrets([])
  })
  setLogLevel('debug')
  await work()
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a line has its time first, then what it is, the ids around it, and its fields', async () => {
  const [line] = await linesOf(() =>
    loggedAs({ ids: () => ({ requestId: 'r1' }) }, () => log.warn('a.thing', { count: 2 })),
  )
  expect(Object.keys(line ?? {})).toEqual(['time', 'level', 'event', 'requestId', 'count'])
  expect(line).toMatchObject({ level: 'warn', event: 'a.thing', requestId: 'r1', count: 2 })
  expect(line?.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('ids hold for what the work started, add up, are asked for each line, and are no one else’s', async () => {
  let trace: string | null = null
  const lines = await linesOf(async () => {
    const work = async (name: string) => {
      await Promise.resolve()
      log.info('inner', { name })
    }
    await Promise.all([
      loggedAs({ ids: () => ({ requestId: 'a' }) }, () =>
        loggedAs({ ids: () => ({ conversation: 'c', ...(trace && { traceId: trace }) }) }, async () => {
          await work('a')
          trace = 't'
          await work('a')
        }),
      ),
      loggedAs({ ids: () => ({ requestId: 'b' }) }, () => work('b')),
    ])
    log.info('outer')
  })
  const told = lines.map(({ time: _, level: __, event: ___, ...rest }) => rest)
  expect(told).toContainEqual({ requestId: 'a', conversation: 'c', name: 'a' })
  expect(told).toContainEqual({ requestId: 'a', conversation: 'c', traceId: 't', name: 'a' })
  expect(told).toContainEqual({ requestId: 'b', name: 'b' })
  expect(told).toContainEqual({})
})

test('the methods of an object log as it says, also those that it inherits, and do what they did', async () => {
  class Base {
    id = 'none'
    inherited(by: number): number {
      log.info('inherited')
      return by + 1
    }
  }
  class Outer extends Base {
    #secret = 1
    own(): number {
      log.info('own')
      return this.inherited(this.#secret)
    }
  }
  class Thing extends Outer {}
  methodsLoggedAs(Thing.prototype, ({ id }) => (id === 'none' ? null : { ids: () => ({ thing: id }) }))
  const lines = await linesOf(() => {
    const thing = new Thing()
    thing.own()
    thing.id = 'x'
    expect(thing.own()).toBe(2)
  })
  expect(lines.map(({ event, thing }) => [event, thing])).toEqual([
    ['own', undefined],
    ['inherited', undefined],
    ['own', 'x'],
    ['inherited', 'x'],
  ])
})

test('methods of one context that call each other name it once, and others beside it', async () => {
  const context = { ids: () => ({ thing: 'x' }) }
  const lines = await linesOf(() => {
    loggedAs(context, () => {
      loggedAs(context, () => log.info('same'))
      loggedAs({ ids: () => ({ part: 'y' }) }, () => loggedAs(context, () => log.info('other')))
      log.info('after')
    })
  })
  expect(lines.map(({ event, thing, part }) => [event, thing, part])).toEqual([
    ['same', 'x', undefined],
    ['other', 'x', 'y'],
    ['after', 'x', undefined],
  ])
})

const CANARY = 'canary4711secret'

test('no line shows a secret: neither the operator’s, nor an owner’s, nor what has the form of one', async () => {
  const lines = await linesOf(() => {
    setLogSecrets(['the operator’s own "words"', 'short'])
    const failure = new Error(
      `refused https://ann:${CANARY}@models.example/v1?api_key=${CANARY}&q=1 with sk-${CANARY}`,
      {
        cause: new Error(`Authorization: Bearer ${CANARY}; x-api-key=${CANARY}; "token": "${CANARY}"`),
      },
    )
    log.error('model.failed', {
      ...errorFields(failure),
      list: [`bw_0123456789abcdef_${CANARY}`],
      operator: 'the operator’s own "words"',
    })
    loggedAs({ ids: () => ({}), mask: (text) => text.replaceAll('ownersword', '<hidden>') }, () =>
      log.warn('inner', { said: 'an ownersword', deep: { said: ['ownersword'] } }),
    )
  })
  const text = JSON.stringify(lines)
  for (const secret of [CANARY, 'operator’s own', 'ownersword']) expect(text).not.toContain(secret)
  // What helps to find the fault stays.
  expect(text).toContain('refused https://[hidden]@models.example/v1?api_key=[hidden]&q=1')
})

test('what only resembles a secret is told as it is', () => {
  for (const text of [
    'token: expired',
    'the key is not valid here',
    'skipped-everything-that-was-asked-for',
    'https://example.com/a?page=2&sort=key',
    'user@example.com wrote',
    'Unexpected token in JSON at position 14',
  ])
    expect(withoutSecrets(text)).toBe(text)
})

test('the operator’s headers for a collector are read, and are secrets', () => {
  const base = { AUTH_MODE: 'local', OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example/' }
  const { telemetry } = parseConfig({
    ...base,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20b, authorization=Basic%20abc%3D',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
  })
  expect(telemetry).toMatchObject({
    url: 'https://otel.example/v1/traces',
    headers: { 'x-team': 'a b', authorization: 'Basic abc=' },
    resource: { 'deployment.environment.name': 'test', 'service.name': 'other' },
    ratio: 1,
    secrets: ['a b', 'Basic abc='],
  })
  const ratio = (vars: object) => parseConfig({ ...base, ...vars }).telemetry?.ratio ?? null
  expect(ratio({ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' })).toBe(0.25)
  expect(ratio({ OTEL_TRACES_SAMPLER: 'always_off' })).toBeNull()
  expect(ratio({ OTEL_SDK_DISABLED: 'TRUE' })).toBeNull()
  expect(parseConfig({ AUTH_MODE: 'local' }).telemetry).toBeNull()
  for (const vars of [
    { OTEL_EXPORTER_OTLP_HEADERS: 'no pair' },
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
    { OTEL_EXPORTER_OTLP_HEADERS: 'a=b%0Ac' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_TRACES_SAMPLER_ARG: '2' },
    { METRICS_TOKEN: 'short' },
  ])
    expect(() => parseConfig({ ...base, ...vars })).toThrow(new RegExp(Object.keys(vars)[0] ?? ''))
})
