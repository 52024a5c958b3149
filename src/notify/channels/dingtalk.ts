import { z } from 'zod'
import { defineChannel, JSON_TYPE, judgeErrcode, MINUTE_MS } from '../channel.ts'
import { asBareSimple, titled } from '../dialects.ts'
import { address, addressIn, base64, hmac, token, tokenIn } from '../fields.ts'

const TOO_OFTEN = 130_101

/** A robot of a DingTalk group. With a secret every request is signed. */
export const dingtalk = defineChannel({
  settings: z.object({ webhook_url: address(), secret: token().optional() }),
  secrets: ['webhook_url', 'secret'],
  environment: { webhook_url: addressIn('DINGTALK_WEBHOOK_URL'), secret: tokenIn('DINGTALK_SECRET') },
  open: ({ webhook_url, secret }) => ({
    // The body may have 20 KB, including the envelope.
    limit: { unit: 'json_bytes', max: 18_000 },
    pace: [{ count: 20, windowMs: MINUTE_MS }],
    recognisesRepeats: false,
    render: asBareSimple,
    request: async (part, text, at) => ({
      url: secret === undefined ? webhook_url : await signed(webhook_url, secret, at),
      headers: JSON_TYPE,
      body: JSON.stringify({ msgtype: 'markdown', markdown: { title: titled(part, 100), text: headed(part, text) } }),
    }),
    judge: ({ body }) => judgeErrcode(body, TOO_OFTEN),
  }),
})

/** The title is only shown in chat lists. */
const headed = (part: Parameters<typeof titled>[0], text: string): string =>
  part.of > 1 ? `**${titled(part, 100)}**\n\n${text}` : text

async function signed(address: string, secret: string, at: number): Promise<string> {
  const url = new URL(address)
  url.searchParams.set('timestamp', String(at))
  url.searchParams.set('sign', base64(await hmac(secret, `${at}\n${secret}`)))
  return url.href
}
