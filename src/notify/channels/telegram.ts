import { z } from 'zod'
import { laxInt } from '../../lib/lax.ts'
import { defineChannel, JSON_TYPE, MINUTE_MS, OK, type Outgoing, rejected } from '../channel.ts'
import { asPlain, asTelegram } from '../dialects.ts'
import { apiUrl, baseUrlIn, lineIn, member, numberAt, numberIn, pathToken, textAt, tokenIn, word } from '../fields.ts'

/** A bot that writes to a chat, a channel, or a topic of a group. */
export const telegram = defineChannel({
  settings: z.object({
    bot_token: pathToken(),
    // Group ids are numbers, channel names are words.
    chat_id: z.preprocess((id) => (Number.isSafeInteger(id) ? String(id) : id), word(100)),
    message_thread_id: laxInt({ min: 1 }).optional(),
    api_url: apiUrl('https://api.telegram.org'),
  }),
  secrets: ['bot_token'],
  environment: {
    bot_token: tokenIn('TELEGRAM_BOT_TOKEN'),
    chat_id: lineIn('TELEGRAM_CHAT_ID'),
    message_thread_id: numberIn('TELEGRAM_MESSAGE_THREAD_ID', 1),
    api_url: baseUrlIn('TELEGRAM_URL'),
  },
  open: ({ bot_token, chat_id, message_thread_id, api_url }) => {
    const message = (fields: Record<string, unknown>): Outgoing => ({
      url: `${api_url}/bot${bot_token}/sendMessage`,
      headers: JSON_TYPE,
      body: JSON.stringify({ chat_id, message_thread_id, link_preview_options: { is_disabled: true }, ...fields }),
    })
    return {
      limit: { unit: 'characters', max: 4_096 },
      // A group accepts 20 messages a minute.
      pace: [{ count: 20, windowMs: MINUTE_MS }],
      recognisesRepeats: false,
      render: asTelegram,
      request: (_part, text) => message({ text, parse_mode: 'HTML' }),
      plainRequest: (part) => message({ text: asPlain(part) }),
      judge: ({ body }) => (member(body, 'ok') === true ? OK : rejected(textAt(body, 'description'))),
      retryAfterMs: (body) => {
        const seconds = numberAt(member(body, 'parameters'), 'retry_after')
        return seconds === null ? null : seconds * 1000
      },
      judgeFailure: ({ status, body }) => {
        const reason = textAt(body, 'description')
        return status === 400 && /parse entities/i.test(reason) ? { ok: false, outcome: 'plain', reason } : null
      },
    }
  },
})
