import { z } from 'zod'
import { defineChannel, JSON_TYPE, later, MINUTE_MS, OK, rejected } from '../channel.ts'
import { asSimple } from '../dialects.ts'
import { address, addressIn, numberAt, textAt } from '../fields.ts'

const TOO_OFTEN = 45_009

/** A robot of a WeCom group. */
export const wecom = defineChannel({
  settings: z.object({ webhook_url: address() }),
  secrets: ['webhook_url'],
  environment: { webhook_url: addressIn('WECOM_WEBHOOK_URL') },
  open: ({ webhook_url: url }) => ({
    limit: { unit: 'bytes', max: 4_096 },
    pace: [{ count: 20, windowMs: MINUTE_MS }],
    recognisesRepeats: false,
    render: asSimple,
    request: (_part, content) => ({
      url,
      headers: JSON_TYPE,
      body: JSON.stringify({ msgtype: 'markdown', markdown: { content } }),
    }),
    judge: ({ body }) => {
      const code = numberAt(body, 'errcode')
      if (code === 0) return OK
      const reason = `errcode ${code}: ${textAt(body, 'errmsg')}`
      return code === TOO_OFTEN ? later(reason, MINUTE_MS) : rejected(reason)
    },
  }),
})
