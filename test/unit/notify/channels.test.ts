import { expect, test } from 'vitest'
import { partsOf } from '../../../src/notify/message.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../../src/notify/registry.ts'
import { mask, type Opened, openTarget, sendPart } from '../../../src/notify/send.ts'
import { CLOSED, LOCAL } from '../../helpers/policies.ts'
import { heldTimers } from '../../helpers/timers.ts'
import { notifyLane } from './host.ts'
import { SETTINGS } from './settings.ts'

function opened(kind: ChannelKind, lane: string, change: Record<string, unknown> = {}): Opened {
  const settings = { ...SETTINGS[kind](lane), ...change }
  const line = openTarget({ id: kind, kind, mode: 'single', isEnabled: true, settings, isOperators: false }, LOCAL)
  if (line === null) throw new Error(`${kind} refuses its settings`)
  return line
}

const one = (markdown: string, title = 'Report') => ({ key: crypto.randomUUID(), title, markdown, n: 1, of: 1 })

const SECTION = [
  '| 指标 | 值 |',
  '| --- | --- |',
  '| MA5 | 1,710.20 |',
  '',
  '- **建议**：持有',
  '',
  '> 注意风险 🚀',
].join('\n')
const LONG = `# 贵州茅台（600519）\n\n${Array.from({ length: 120 }, (_, i) => `## 第${i + 1}节\n\n${SECTION}`).join('\n\n')}\n`

test('each service takes a long report whole: signed, in numbered parts within its limits, every section once and in order', async () => {
  for (const kind of CHANNEL_KINDS) {
    const lane = notifyLane()
    const line = opened(kind, lane.url)
    const message = { title: '贵州茅台 (600519) · 持有', markdown: LONG }
    const parts = partsOf(message, line.line)
    for (const [i, markdown] of parts.entries()) {
      const part = { key: `${kind}-${i}`, title: message.title, markdown, n: i + 1, of: parts.length }
      expect(await sendPart(line, part, { at: Date.now() }), `${kind} ${i}`).toEqual({ ok: true })
    }
    const received = await lane.received()
    expect(await lane.refused(), kind).toEqual([])
    expect(received.length, kind).toBe(parts.length)
    const sections = received.flatMap(({ text }) => [...text.matchAll(/第(\d+)节/g)].map(([, n]) => Number(n)))
    expect(sections, kind).toEqual(Array.from({ length: 120 }, (_, i) => i + 1))
    if (parts.length === 1) continue
    const numbers = received.map(({ title, text }) => /\((\d+)\/(\d+)\)/.exec(`${title}\n${text}`)?.[0])
    expect(numbers, kind).toEqual(parts.map((_, i) => `(${i + 1}/${parts.length})`))
  }
})

test('what a report quotes from outside can neither format, link nor call anybody in any channel', async () => {
  const hostile = String.raw`\*\*bold\*\* &lt;@everyone&gt; \[here\](https:\/\/evil.example) &lt;!channel&gt; &lt;b&gt;x \@all`
  const shown: Partial<Record<ChannelKind, string>> = {}
  for (const kind of CHANNEL_KINDS) {
    const lane = notifyLane()
    expect(await sendPart(opened(kind, lane.url), one(hostile), { at: Date.now() }), kind).toEqual({ ok: true })
    shown[kind] = (await lane.received())[0]?.text ?? ''
  }
  expect(shown.wecom).not.toMatch(/\*\*|<@|\]\(/)
  expect(shown.feishu).not.toMatch(/<[@!a-z]|\]\(/)
  expect(shown.slack).not.toMatch(/<|[^\u200b]\*/)
  expect(shown.telegram).not.toMatch(/<(?!\/?b>)|<b>/)
  expect(shown.discord).not.toMatch(/(?<!\\)[<[*]/)
  expect(shown.pushover).toContain('**bold** <@everyone>')
})

test('an error in a body of status 200 is no success, and a wrong signature is said in the words of the service', async () => {
  const lane = notifyLane()
  const at = Date.now()
  await lane.fail({ status: 200, body: { errcode: 93_000, errmsg: 'invalid webhook url' } })
  expect(await sendPart(opened('wecom', lane.url), one('a'), { at })).toMatchObject({
    outcome: 'rejected',
    reason: 'errcode 93000: invalid webhook url',
  })
  await lane.fail({ status: 200, body: { errcode: 45_009, errmsg: 'api freq out of limit' } })
  expect(await sendPart(opened('wecom', lane.url), one('a'), { at })).toMatchObject({
    outcome: 'later',
    retryAfterMs: 60_000,
  })
  for (const kind of ['dingtalk', 'feishu'] as const) {
    const wrong = opened(kind, lane.url, { secret: 'SEC-of-somebody-else' })
    expect(await sendPart(wrong, one('a'), { at }), kind).toMatchObject({ ok: false, outcome: 'rejected' })
  }
  expect(await lane.received()).toEqual([])
})

test('how long to wait is read from where each service says it', async () => {
  const at = Date.now()
  const cases: [ChannelKind, Parameters<ReturnType<typeof notifyLane>['fail']>[0], number | null][] = [
    ['telegram', { status: 429, body: { ok: false, parameters: { retry_after: 35 } } }, 35_000],
    ['discord', { status: 429, body: { retry_after: 0.65 } }, 650],
    ['slack', { status: 429, headers: { 'retry-after': '30' }, body: 'rate_limited' }, 30_000],
    ['resend', { status: 429, headers: { 'retry-after': '2' } }, 2_000],
    ['gotify', { status: 503 }, null],
  ]
  for (const [kind, fault, retryAfterMs] of cases) {
    const lane = notifyLane()
    await lane.fail(fault)
    const verdict = await sendPart(opened(kind, lane.url), one('a'), { at })
    expect(verdict, kind).toMatchObject({ ok: false, outcome: 'later', retryAfterMs })
  }
})

test('answers of servers in between are in doubt, those of a busy service come later, and any other refusal is final', async () => {
  const outcomes: [number, string][] = [
    [504, 'unknown'],
    [520, 'unknown'],
    [522, 'unknown'],
    [524, 'unknown'],
    [500, 'later'],
    [502, 'later'],
    [408, 'later'],
    [425, 'later'],
    [400, 'rejected'],
    [404, 'rejected'],
    [499, 'rejected'],
  ]
  for (const [status, outcome] of outcomes) {
    const lane = notifyLane()
    await lane.fail({ status, headers: { 'retry-after': '7' }, body: 'in  words\n of its own' })
    const verdict = await sendPart(opened('gotify', lane.url), one('a'), { at: Date.now() })
    const retry = outcome === 'later' ? { retryAfterMs: 7_000 } : {}
    expect(verdict).toEqual({ ok: false, outcome, reason: `HTTP ${status}: in words of its own`, ...retry })
  }
})

test('a time to wait may be a date; what is none, or is over, is none or no time at all', async () => {
  const retry = async (value: string) => {
    const lane = notifyLane()
    await lane.fail({ status: 503, headers: { 'retry-after': value } })
    const verdict = await sendPart(opened('gotify', lane.url), one('a'), { at: Date.now() })
    return 'retryAfterMs' in verdict ? verdict.retryAfterMs : 'none'
  }
  const inAnHour = (await retry(new Date(Date.now() + 3_600_000).toUTCString())) ?? 0
  expect(inAnHour).toBeGreaterThan(3_000_000)
  expect(inAnHour).toBeLessThanOrEqual(3_600_000)
  expect(await retry('Sun, 06 Nov 1994 08:49:37 GMT')).toBe(0)
  expect(await retry('soon')).toBeNull()
})

test('a message without an answer is in doubt; a redirect that drops it, a refusal and an inner address are not', async () => {
  const lane = notifyLane()
  const at = Date.now()
  await lane.fail(
    { how: 'hang' },
    { how: 'break' },
    { status: 302, headers: { location: `${lane.url}/received` } },
    { status: 403 },
  )
  const discord = opened('discord', lane.url)
  const limit = heldTimers(25_000)
  const hanging = sendPart(discord, one('1'), { at, timeoutMs: 25_000 })
  await expect.poll(async () => (await lane.received()).length).toBe(1)
  limit.goOff()
  expect(await hanging).toMatchObject({ outcome: 'unknown' })
  expect(await sendPart(discord, one('2'), { at })).toMatchObject({ outcome: 'unknown' })
  expect(await sendPart(discord, one('3'), { at })).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/redirects/),
  })
  expect(await sendPart(discord, one('4'), { at })).toMatchObject({ outcome: 'rejected' })
  const closed = { ...discord, policy: CLOSED }
  expect(await sendPart(closed, one('5'), { at })).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/refused/),
  })
  expect((await lane.received()).map(({ text }) => text)).toEqual(['1', '2'])
})

test('a text whose markup Telegram refuses arrives plain, once', async () => {
  const lane = notifyLane()
  expect(await sendPart(opened('telegram', lane.url), one('**REFUSED** & kept'), { at: Date.now() })).toEqual({
    ok: true,
  })
  expect((await lane.received()).map(({ text }) => text)).toEqual(['REFUSED & kept'])
})

test('what services say about a failure is shown without the secrets that they repeat', async () => {
  const lane = notifyLane()
  const body = { ok: false, description: 'bot12345:telegram-token is not known' }
  await lane.fail({ status: 401, body }, { status: 500, body: `no route /hooks/1/discord-0123456789` })
  for (const kind of ['telegram', 'discord'] as const) {
    const verdict = await sendPart(opened(kind, lane.url), one('a'), { at: Date.now() })
    expect(JSON.stringify(verdict), kind).toContain('***')
    expect(JSON.stringify(verdict), kind).not.toMatch(/telegram-token|discord-0123456789/)
  }
  expect(mask('key=a%2Fb%2Bcd1', ['a/b+cd1', 'x'])).not.toContain('cd1')
  const address = 'https://hooks.example.com/services/T0/longenough?key=queryvalue&n=1'
  expect(mask('T0 longenough queryvalue services n=1', [address])).toBe('T0 *** *** *** n=1')
  expect(mask('on /services/T0/longenough it', [address])).toBe('on *** it')
  // A secret inside another one leaves nothing of the longer one.
  expect(mask('abcd abcdefgh abc', ['abcd', 'abcdefgh', 'abc'])).toBe('*** *** abc')
  expect(mask('x'.repeat(301), [])).toBe(`${'x'.repeat(299)}…`)
  expect(mask('x'.repeat(300), [])).toBe('x'.repeat(300))
})

test('a template of a webhook holds any text as JSON, and one that makes no JSON is refused', async () => {
  const lane = notifyLane()
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of the template
  const template = '{"title": ${title_json}, "content": ${content_json}}'
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of the template
  const text = 'Quotes " \\ and $& $1 ${title_json}\n新行'
  expect(await sendPart(opened('webhook', lane.url, { template }), one(text, 'T"'), { at: Date.now() })).toEqual({
    ok: true,
  })
  expect(await lane.received()).toMatchObject([{ title: 'T"', text }])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders of the template
  expect(() => opened('webhook', lane.url, { template: '{"a": "${title_json}"}' })).toThrow(/refuses/)
})
