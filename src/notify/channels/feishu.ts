import { z } from 'zod'
import { defineChannel, JSON_TYPE, later, MINUTE_MS, OK, rejected } from '../channel.ts'
import { asBareSimple, titled } from '../dialects.ts'
import { address, addressIn, base64, hmac, numberAt, textAt, token, tokenIn } from '../fields.ts'

const TOO_OFTEN: readonly (number | null)[] = [9_499, 11_232]

/** A robot of a Feishu (Lark) group. With a secret every request is signed. */
export const feishu = defineChannel({
  settings: z.object({ webhook_url: address(), secret: token().optional() }),
  secrets: ['webhook_url', 'secret'],
  environment: { webhook_url: addressIn('FEISHU_WEBHOOK_URL'), secret: tokenIn('FEISHU_SECRET') },
  open: ({ webhook_url: url, secret }) => ({
    // The body may have 20 KB, including the card.
    limit: { unit: 'json_bytes', max: 18_000 },
    pace: [
      { count: 5, windowMs: 1_000 },
      { count: 100, windowMs: MINUTE_MS },
    ],
    recognisesRepeats: false,
    render: asBareSimple,
    request: async (part, text, at) => {
      const header = { title: { tag: 'plain_text', content: titled(part, 100) } }
      const card = { config: { wide_screen_mode: true }, header, elements: [{ tag: 'markdown', content: text }] }
      const proof = secret === undefined ? {} : await signature(secret, Math.floor(at / 1000))
      return { url, headers: JSON_TYPE, body: JSON.stringify({ ...proof, msg_type: 'interactive', card }) }
    },
    judge: ({ body }) => {
      const code = numberAt(body, 'code') ?? numberAt(body, 'StatusCode')
      if (code === 0) return OK
      const reason = `code ${code}: ${textAt(body, 'msg') || textAt(body, 'StatusMessage')}`
      return TOO_OFTEN.includes(code) ? later(reason, MINUTE_MS) : rejected(reason)
    },
  }),
})

/** Here the secret is part of the HMAC key, and the message is empty. */
async function signature(secret: string, seconds: number): Promise<{ timestamp: string; sign: string }> {
  return { timestamp: String(seconds), sign: base64(await hmac(`${seconds}\n${secret}`, '')) }
}
