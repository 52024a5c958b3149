import { expect, test } from 'vitest'
import type { Line } from '../../../src/notify/channel.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../../src/notify/registry.ts'
import { openTarget } from '../../../src/notify/send.ts'
import { CLOSED } from '../../helpers/policies.ts'

// What each service documents of its requests: address, headers, body, sizes and pace. No request leaves.

function lineOf(kind: ChannelKind, settings: Record<string, unknown>): Line {
  const opened = openTarget({ id: kind, kind, mode: 'single', isEnabled: true, settings, isOperators: false }, CLOSED)
  if (opened === null) throw new Error(`${kind} refuses its settings`)
  return opened.line
}

const AT = 1_755_158_400_999
const MARKDOWN = '# Head\n\n**Hold** at 5\n'
const PART = { key: 'k-2', title: 'Title', markdown: MARKDOWN, n: 2, of: 3 }
const WHOLE = { ...PART, key: 'k-1', n: 1, of: 1 }

async function sent(kind: ChannelKind, settings: Record<string, unknown>, part = WHOLE) {
  const line = lineOf(kind, settings)
  const { url, headers, body } = await line.request(part, line.render(part), AT)
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
  return { url, headers, body: isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body) }
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }
const HOOK = 'https://hooks.example.com/x'

/** The settings that are needed and no more, so that what is usual shows. */
const LEAST: Record<ChannelKind, Record<string, unknown>> = {
  wecom: { webhook_url: HOOK },
  dingtalk: { webhook_url: HOOK },
  feishu: { webhook_url: HOOK },
  telegram: { bot_token: '1:t', chat_id: '@c' },
  discord: { webhook_url: HOOK },
  slack: { webhook_url: HOOK },
  pushover: { token: 'app', user: 'me' },
  ntfy: { topic: 'stocks' },
  gotify: { url: 'https://gotify.example.com//', token: 'app' },
  serverchan: { key: 'SCT1' },
  pushplus: { token: 'pp' },
  resend: { api_key: 're_1', from: 'Bell <b@example.com>', to: ['a@example.com'] },
  sendgrid: { api_key: 'SG.1', from: '"Bell, W." <b@example.com>', to: ['a@example.com', '<c@example.com>'] },
  mailgun: { api_key: 'mg', domain: 'mg.example.com', from: 'b@example.com', to: ['a@example.com', 'c@example.com'] },
  webhook: { url: HOOK },
}

test('with the least settings every service gets a message at its own address, in its own shape', async () => {
  const simple = '# Head\n\n**Hold** at 5'
  const html = expect.stringMatching(/<h1[^>]*>Head<\/h1>[\s\S]*<strong>Hold<\/strong> at 5/)
  const expected: Record<ChannelKind, { url: string; headers?: Record<string, string>; body: unknown }> = {
    wecom: { url: HOOK, body: { msgtype: 'markdown', markdown: { content: simple } } },
    dingtalk: { url: HOOK, body: { msgtype: 'markdown', markdown: { title: 'Title', text: simple } } },
    feishu: {
      url: HOOK,
      body: {
        msg_type: 'interactive',
        card: {
          config: { wide_screen_mode: true },
          header: { title: { tag: 'plain_text', content: 'Title' } },
          elements: [{ tag: 'markdown', content: simple }],
        },
      },
    },
    telegram: {
      url: 'https://api.telegram.org/bot1:t/sendMessage',
      body: {
        chat_id: '@c',
        link_preview_options: { is_disabled: true },
        text: '<b>Head</b>\n\n<b>Hold</b> at 5',
        parse_mode: 'HTML',
      },
    },
    discord: { url: HOOK, body: { content: simple, flags: 4, allowed_mentions: { parse: [] } } },
    slack: {
      url: HOOK,
      body: {
        text: 'Title',
        blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '*Head*\n\n*Hold* at 5' } }],
      },
    },
    pushover: {
      url: 'https://api.pushover.net/1/messages.json',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: { token: 'app', user: 'me', message: '【Head】\n\nHold at 5', title: 'Title', priority: '0' },
    },
    ntfy: {
      url: 'https://ntfy.sh/',
      body: { topic: 'stocks', title: 'Title', message: MARKDOWN.trim(), markdown: true, priority: 3 },
    },
    gotify: {
      url: 'https://gotify.example.com/message',
      headers: { ...JSON_HEADERS, 'x-gotify-key': 'app' },
      body: {
        title: 'Title',
        message: MARKDOWN.trim(),
        priority: 5,
        extras: { 'client::display': { contentType: 'text/markdown' } },
      },
    },
    serverchan: { url: 'https://sctapi.ftqq.com/SCT1.send', body: { title: 'Title', desp: MARKDOWN.trim() } },
    pushplus: {
      url: 'https://www.pushplus.plus/send',
      body: { token: 'pp', title: 'Title', content: MARKDOWN.trim(), template: 'markdown' },
    },
    resend: {
      url: 'https://api.resend.com/emails',
      headers: { ...JSON_HEADERS, authorization: 'Bearer re_1', 'idempotency-key': 'k-1' },
      body: { from: 'Bell <b@example.com>', to: ['a@example.com'], subject: 'Title', html, text: MARKDOWN.trim() },
    },
    sendgrid: {
      url: 'https://api.sendgrid.com/v3/mail/send',
      headers: { ...JSON_HEADERS, authorization: 'Bearer SG.1' },
      body: {
        personalizations: [{ to: [{ email: 'a@example.com' }, { email: 'c@example.com' }] }],
        from: { email: 'b@example.com', name: 'Bell, W.' },
        subject: 'Title',
        content: [
          { type: 'text/plain', value: MARKDOWN.trim() },
          { type: 'text/html', value: html },
        ],
      },
    },
    mailgun: {
      url: 'https://api.mailgun.net/v3/mg.example.com/messages',
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Basic ${btoa('api:mg')}` },
      body: {
        from: 'b@example.com',
        to: 'a@example.com,c@example.com',
        subject: 'Title',
        text: MARKDOWN.trim(),
        html,
      },
    },
    webhook: {
      url: HOOK,
      headers: { ...JSON_HEADERS, 'idempotency-key': 'k-1' },
      body: {
        title: 'Title',
        text: MARKDOWN.trim(),
        content: MARKDOWN.trim(),
        message: MARKDOWN.trim(),
        body: MARKDOWN.trim(),
        key: 'k-1',
        part: 1,
        parts: 1,
      },
    },
  }
  for (const kind of CHANNEL_KINDS) {
    expect(await sent(kind, LEAST[kind]), kind).toEqual({ headers: JSON_HEADERS, ...expected[kind] })
  }
})

test('what may be set beside is in the request: topics, priorities, names, tokens, shapes', async () => {
  const body = async (kind: ChannelKind, more: Record<string, unknown>) =>
    (await sent(kind, { ...LEAST[kind], ...more })).body
  expect(await body('telegram', { message_thread_id: 7 })).toMatchObject({ message_thread_id: 7 })
  expect(await body('discord', { username: 'Bell' })).toMatchObject({ username: 'Bell' })
  expect(await body('pushover', { priority: -2 })).toMatchObject({ priority: '-2' })
  expect(await body('pushplus', { topic: 'team' })).toMatchObject({ topic: 'team' })
  expect(await body('ntfy', { priority: 5 })).toMatchObject({ priority: 5 })
  expect(await body('gotify', { priority: 0 })).toMatchObject({ priority: 0 })
  expect((await sent('ntfy', { ...LEAST.ntfy, token: 'tk' })).headers).toMatchObject({ authorization: 'Bearer tk' })
  expect((await sent('webhook', { ...LEAST.webhook, token: 'tk' })).headers).toMatchObject({
    authorization: 'Bearer tk',
  })
  expect(await body('webhook', { style: 'bark', group: 'stocks' })).toEqual({
    title: 'Title',
    body: '【Head】\n\nHold at 5',
    group: 'stocks',
  })
  expect((await sent('serverchan', { key: 'sctp77tabc' })).url).toBe('https://77.push.ft07.com/send/sctp77tabc.send')
  const own = { api_url: 'https://own.example.com/' }
  expect((await sent('serverchan', { key: 'sctp77tabc', ...own })).url).toBe(
    'https://own.example.com/send/sctp77tabc.send',
  )
  expect((await sent('serverchan', { key: 'SCT1', ...own })).url).toBe('https://own.example.com/SCT1.send')
})

test('a part says which of how many it is: in the title where there is one, else in a first line of the text', async () => {
  const firstLine = {
    wecom: '**Title (2/3)**',
    discord: '**Title (2/3)**',
    slack: '*Title (2/3)*',
    telegram: '<b>Title (2/3)</b>',
  }
  for (const [kind, head] of Object.entries(firstLine) as [keyof typeof firstLine, string][]) {
    const line = lineOf(kind, LEAST[kind])
    expect(line.render(PART).split('\n\n')[0], kind).toBe(head)
  }
  const places: Partial<Record<ChannelKind, string[]>> = {
    dingtalk: ['markdown', 'title'],
    feishu: ['card', 'header', 'title', 'content'],
    resend: ['subject'],
    sendgrid: ['subject'],
    mailgun: ['subject'],
    slack: ['text'],
  }
  for (const kind of CHANNEL_KINDS) {
    if (kind in firstLine && kind !== 'slack') continue
    const { body } = await sent(kind, LEAST[kind], PART)
    expect(body, kind).toHaveProperty(places[kind] ?? ['title'], 'Title (2/3)')
  }
  expect((await sent('dingtalk', LEAST.dingtalk, PART)).body.markdown.text).toMatch(/^\*\*Title \(2\/3\)\*\*\n\n# Head/)
  expect((await sent('webhook', LEAST.webhook, PART)).body).toMatchObject({ key: 'k-2', part: 2, parts: 3 })
})

test('a title is as long as each service shows and no longer, its number always there, and it is one line', async () => {
  const long = { ...PART, title: `a\r\n${'t'.repeat(400)}` }
  const lengths: Partial<Record<ChannelKind, number>> = {
    dingtalk: 100,
    feishu: 100,
    slack: 150,
    pushover: 250,
    ntfy: 200,
    gotify: 200,
    serverchan: 32,
    pushplus: 100,
    resend: 200,
    sendgrid: 200,
    mailgun: 200,
    webhook: 200,
  }
  for (const [kind, length] of Object.entries(lengths) as [ChannelKind, number][]) {
    const { body } = await sent(kind, LEAST[kind], long)
    const title = [...JSON.stringify(body).matchAll(/"(a t+… \(2\/3\))"/g)].map(([, found]) => found?.length)
    expect(title, kind).toEqual([length])
  }
})

test('how much a message holds and how often one is sent is what each service takes', () => {
  const minute = { count: 20, windowMs: 60_000 }
  const second = { count: 10, windowMs: 1_000 }
  const expected: Record<ChannelKind, Pick<Line, 'limit' | 'pace'>> = {
    wecom: { limit: { unit: 'bytes', max: 4_096 }, pace: [minute] },
    dingtalk: { limit: { unit: 'json_bytes', max: 18_000 }, pace: [minute] },
    feishu: {
      limit: { unit: 'json_bytes', max: 18_000 },
      pace: [
        { count: 5, windowMs: 1_000 },
        { count: 100, windowMs: 60_000 },
      ],
    },
    telegram: { limit: { unit: 'characters', max: 4_096 }, pace: [minute] },
    discord: {
      limit: { unit: 'characters', max: 2_000 },
      pace: [
        { count: 5, windowMs: 2_000 },
        { count: 30, windowMs: 60_000 },
      ],
    },
    slack: { limit: { unit: 'characters', max: 12_000 }, pace: [{ count: 1, windowMs: 1_000 }] },
    pushover: { limit: { unit: 'characters', max: 1_024 }, pace: [{ count: 5, windowMs: 5_000 }] },
    ntfy: { limit: { unit: 'bytes', max: 4_000 }, pace: [{ count: 60, windowMs: 300_000 }] },
    gotify: { limit: { unit: 'characters', max: 30_000 }, pace: [second] },
    serverchan: { limit: { unit: 'bytes', max: 30_000 }, pace: [{ count: 5, windowMs: 60_000 }] },
    pushplus: { limit: { unit: 'characters', max: 20_000 }, pace: [{ count: 5, windowMs: 60_000 }] },
    resend: { limit: { unit: 'characters', max: 200_000 }, pace: [{ count: 2, windowMs: 1_000 }] },
    sendgrid: { limit: { unit: 'characters', max: 200_000 }, pace: [second] },
    mailgun: { limit: { unit: 'characters', max: 200_000 }, pace: [second] },
    webhook: { limit: { unit: 'characters', max: 20_000 }, pace: [second] },
  }
  for (const kind of CHANNEL_KINDS) expect(lineOf(kind, LEAST[kind]), kind).toMatchObject(expected[kind])
  const webhook = (settings: Record<string, unknown>) => lineOf('webhook', { ...LEAST.webhook, ...settings })
  expect(webhook({ max_characters: 200_000 }).limit.max).toBe(200_000)
  expect(webhook({ max_characters: 200_000, style: 'bark' }).limit.max).toBe(4_000)
  expect(webhook({ max_characters: 200, style: 'bark' }).limit.max).toBe(200)
  expect(CHANNEL_KINDS.filter((kind) => lineOf(kind, LEAST[kind]).recognisesRepeats)).toEqual(['resend'])
  expect(webhook({ recognises_repeats: true }).recognisesRepeats).toBe(true)
})

test('a message of Slack is cut into blocks of 3,000 characters', async () => {
  const words = Array.from({ length: 1_400 }, (_, i) => `w${i}`).join(' ')
  const { body } = await sent('slack', LEAST.slack, { ...WHOLE, markdown: words })
  const texts = (body.blocks as { text: { text: string } }[]).map(({ text }) => text.text)
  expect(texts.length).toBe(Math.ceil(words.length / 3_000))
  expect(texts.join(' ')).toBe(words)
})

test('the answer of each service that has a success of its own is read by its own words', () => {
  const headers = new Headers()
  const judged = (kind: ChannelKind, body: unknown) => lineOf(kind, LEAST[kind]).judge?.({ status: 200, headers, body })
  const good: [ChannelKind, unknown][] = [
    ['wecom', { errcode: 0 }],
    ['dingtalk', { errcode: 0 }],
    ['feishu', { code: 0 }],
    ['feishu', { StatusCode: 0 }],
    ['telegram', { ok: true }],
    ['slack', 'ok'],
    ['pushover', { status: 1 }],
    ['serverchan', { code: 0 }],
    ['pushplus', { code: 200 }],
  ]
  for (const [kind, body] of good) expect(judged(kind, body), kind).toEqual({ ok: true })
  const refused: [ChannelKind, unknown, string][] = [
    ['wecom', {}, 'errcode null: '],
    ['dingtalk', { errcode: 1, errmsg: 'no' }, 'errcode 1: no'],
    ['feishu', { code: 19_021, msg: 'sign' }, 'code 19021: sign'],
    ['feishu', { StatusCode: 5, StatusMessage: 'old' }, 'code 5: old'],
    ['telegram', { ok: 'true', description: 'odd' }, 'odd'],
    ['slack', 'no_service', 'no_service'],
    ['pushover', { status: 0, errors: ['a', 'b'] }, 'a; b'],
    ['pushover', { status: 0 }, 'no status 1'],
    ['serverchan', { code: 2, message: 'bad key' }, 'code 2: bad key'],
    ['serverchan', { code: 2, info: 'bad' }, 'code 2: bad'],
    ['pushplus', { code: 999, msg: 'no' }, 'code 999: no'],
  ]
  for (const [kind, body, reason] of refused) {
    expect(judged(kind, body), kind).toEqual({ ok: false, outcome: 'rejected', reason })
  }
  const tooOften: [ChannelKind, unknown, number][] = [
    ['wecom', { errcode: 45_009 }, 60_000],
    ['dingtalk', { errcode: 130_101 }, 60_000],
    ['feishu', { code: 9_499 }, 60_000],
    ['feishu', { code: 11_232 }, 60_000],
    ['pushplus', { code: 900 }, 3_600_000],
  ]
  for (const [kind, body, retryAfterMs] of tooOften) {
    expect(judged(kind, body), kind).toMatchObject({ outcome: 'later', retryAfterMs })
  }
  const answered = (status: number, body: unknown) =>
    lineOf('resend', LEAST.resend).judgeFailure?.({ status, headers, body })
  const concurrent = { name: 'concurrent_idempotent_requests', message: 'in progress' }
  expect(answered(409, concurrent)).toEqual({
    ok: false,
    outcome: 'later',
    reason: 'in progress',
    retryAfterMs: 5_000,
  })
  expect(answered(400, concurrent)).toBeNull()
  expect(answered(409, { name: 'invalid_idempotent_request' })).toBeNull()
  const markup = { ok: false, description: "Bad Request: can't parse entities" }
  const telegram = lineOf('telegram', LEAST.telegram)
  expect(telegram.judgeFailure?.({ status: 400, headers, body: markup })).toMatchObject({ outcome: 'plain' })
  expect(telegram.judgeFailure?.({ status: 403, headers, body: markup })).toBeNull()
  expect(telegram.judgeFailure?.({ status: 400, headers, body: { description: 'chat not found' } })).toBeNull()
})
