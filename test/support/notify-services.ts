// How each service validates a message. The limits are the documented ones; the responses have the services' own texts.

import { createHmac } from 'node:crypto'
import { SECRET } from './notify-secret.ts'

export type Arrival = {
  service: string
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  body: string
}

export type Judged =
  | { ok: true; status: number; body: unknown; title: string; text: string; key: string | null }
  | { ok: false; status: number; body: unknown; why: string }

const FRESH_MS = 3_600_000

export function judgeArrival(arrival: Arrival): Judged {
  const judge = SERVICES[arrival.service]
  if (judge === undefined) return { ok: false, status: 404, body: {}, why: 'no such service' }
  return judge(arrival)
}

const bytes = (text: string): number => Buffer.byteLength(text)
const sign = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('base64')
const taken = (
  body: unknown,
  text: string,
  more: { title?: string; key?: string | null; status?: number } = {},
): Judged => ({
  ok: true,
  status: more.status ?? 200,
  body,
  text,
  title: more.title ?? '',
  key: more.key ?? null,
})
const refused = (status: number, body: unknown, why: string): Judged => ({ ok: false, status, body, why })

// biome-ignore lint/suspicious/noExplicitAny: a wire body has whatever shape its sender gave it
const parsed = (body: string): any => JSON.parse(body)

const SERVICES: Record<string, (arrival: Arrival) => Judged> = {
  wecom: ({ body }) => {
    const { markdown } = parsed(body)
    const size = bytes(markdown.content)
    if (size > 4_096)
      return refused(200, { errcode: 40_058, errmsg: 'markdown.content exceed max length 4096' }, `${size} bytes`)
    return taken({ errcode: 0, errmsg: 'ok' }, markdown.content)
  },
  dingtalk: ({ query, body }) => {
    const at = query.get('timestamp') ?? ''
    const isFresh = Math.abs(Date.now() - Number(at)) < FRESH_MS
    const isSigned = query.get('sign') === sign(SECRET, `${at}\n${SECRET}`)
    if (!isFresh || !isSigned) return refused(200, { errcode: 310_000, errmsg: 'sign not match' }, 'signature')
    if (bytes(body) > 20_000)
      return refused(200, { errcode: 460_101, errmsg: 'message too long' }, `${bytes(body)} bytes`)
    const { markdown } = parsed(body)
    return taken({ errcode: 0, errmsg: 'ok' }, markdown.text, { title: markdown.title })
  },
  feishu: ({ body }) => {
    const { timestamp, sign: proof, card } = parsed(body)
    const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < FRESH_MS / 1000
    if (!isFresh || proof !== sign(`${timestamp}\n${SECRET}`, '')) {
      return refused(200, { code: 19_021, msg: 'sign match fail or timestamp is not within one hour' }, 'signature')
    }
    if (bytes(body) > 20_480) return refused(200, { code: 9_499, msg: 'Bad Request' }, `${bytes(body)} bytes`)
    return taken({ code: 0, msg: 'success' }, card.elements[0].content, { title: card.header.title.content })
  },
  telegram: ({ path, body }) => {
    const { chat_id, text, parse_mode } = parsed(body)
    if (!/^\/bot[\d]+:[\w-]+\/sendMessage$/.test(path))
      return refused(404, { ok: false, description: 'Not Found' }, path)
    if (!chat_id || text === '')
      return refused(400, { ok: false, description: 'Bad Request: chat not found' }, 'no chat')
    if (text.length > 4_096)
      return refused(400, { ok: false, description: 'Bad Request: message is too long' }, 'too long')
    const open = (text.match(/<b>/g) ?? []).length
    const isBroken = /<(?!\/?b>)/.test(text) || open !== (text.match(/<\/b>/g) ?? []).length || text.includes('REFUSED')
    if (parse_mode === 'HTML' && isBroken) {
      return refused(
        400,
        { ok: false, description: "Bad Request: can't parse entities: Unsupported start tag" },
        'markup',
      )
    }
    return taken({ ok: true, result: { message_id: 1 } }, text)
  },
  discord: ({ body }) => {
    const { content, allowed_mentions } = parsed(body)
    if (content.length > 2_000)
      return refused(400, { content: ['Must be 2000 or fewer in length.'] }, `${content.length}`)
    if (allowed_mentions?.parse?.length !== 0) return refused(400, {}, 'calls people')
    return taken('', content, { status: 204 })
  },
  slack: ({ body }) => {
    const { text, blocks } = parsed(body)
    const texts: string[] = blocks.map((block: { text: { text: string } }) => block.text.text)
    if (blocks.length > 50 || texts.some((one) => one.length > 3_000)) return refused(400, 'invalid_blocks', 'blocks')
    return taken('ok', texts.join('\n'), { title: text })
  },
  pushover: ({ path, body }) => {
    const form = new URLSearchParams(body)
    const message = form.get('message') ?? ''
    if (path !== '/1/messages.json' || form.get('token') !== 'app' || form.get('user') !== 'me') {
      return refused(400, { status: 0, errors: ['application token is invalid'] }, 'keys')
    }
    if (message.length > 1_024 || (form.get('title')?.length ?? 0) > 250) {
      return refused(400, { status: 0, errors: ['message is too long'] }, `${message.length}`)
    }
    return taken({ status: 1 }, message, { title: form.get('title') ?? '' })
  },
  ntfy: ({ headers, body }) => {
    const { topic, title, message } = parsed(body)
    if (headers.authorization !== 'Bearer tk_1') return refused(403, { error: 'forbidden' }, 'token')
    if (topic !== 'stocks' || bytes(message) > 4_096)
      return refused(400, { error: 'too large' }, `${bytes(message)} bytes`)
    return taken({ id: 'x' }, message, { title })
  },
  gotify: ({ path, headers, body }) => {
    const { title, message } = parsed(body)
    if (path !== '/message' || headers['x-gotify-key'] !== 'app')
      return refused(401, { error: 'Unauthorized' }, 'token')
    return taken({ id: 1 }, message, { title })
  },
  serverchan: ({ path, body }) => {
    const { title, desp } = parsed(body)
    if (path !== '/SCT1.send') return refused(200, { code: 40_001, message: 'bad key' }, path)
    if (title.length > 32 || bytes(desp) > 32_768) return refused(200, { code: 20_001, message: 'too long' }, 'size')
    return taken({ code: 0 }, desp, { title })
  },
  pushplus: ({ path, body }) => {
    const { token, title, content } = parsed(body)
    if (path !== '/send' || token !== 'pp') return refused(200, { code: 903, msg: 'invalid token' }, 'token')
    if (content.length > 20_000) return refused(200, { code: 905, msg: 'content too long' }, `${content.length}`)
    return taken({ code: 200 }, content, { title })
  },
  resend: ({ path, headers, body }) => {
    const { from, to, subject, html, text } = parsed(body)
    const key = headers['idempotency-key'] ?? null
    if (path !== '/emails' || headers.authorization !== 'Bearer re_1')
      return refused(401, { name: 'invalid_api_key' }, 'key')
    if (!from || !Array.isArray(to) || !html.startsWith('<') || key === null) return refused(422, {}, 'fields')
    return taken({ id: 'mail' }, text, { title: subject, key })
  },
  sendgrid: ({ path, headers, body }) => {
    const { personalizations, from, subject, content } = parsed(body)
    if (path !== '/v3/mail/send' || headers.authorization !== 'Bearer SG.1') return refused(401, {}, 'key')
    if (personalizations[0].to[0].email !== 'a@example.com' || from.name !== 'Reports')
      return refused(400, {}, 'people')
    return taken('', content[0].value, { title: subject, status: 202 })
  },
  mailgun: ({ path, headers, body }) => {
    const form = new URLSearchParams(body)
    if (
      path !== '/v3/mg.example.com/messages' ||
      headers.authorization !== `Basic ${Buffer.from('api:mg-1').toString('base64')}`
    ) {
      return refused(401, 'Forbidden', 'key')
    }
    if (form.get('to') !== 'a@example.com,b@example.com') return refused(400, {}, 'people')
    return taken({ id: '<1>' }, form.get('text') ?? '', { title: form.get('subject') ?? '' })
  },
  webhook: ({ headers, body }) => {
    const expected = createHmac('sha256', SECRET).update(body).digest('hex')
    if (headers['x-signature'] !== undefined && headers['x-signature'] !== expected)
      return refused(401, {}, 'signature')
    if (headers.authorization !== undefined && headers.authorization !== 'Bearer hook') return refused(401, {}, 'token')
    const { title, text, content, body: bark } = parsed(body)
    return taken({}, text ?? content ?? bark, { title, key: headers['idempotency-key'] ?? null })
  },
}
