import { z } from 'zod'
import { defineChannel, JSON_TYPE, judgeErrcode, MINUTE_MS } from '../channel.ts'
import { asSimple } from '../dialects.ts'
import { address, addressIn } from '../fields.ts'

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
    judge: ({ body }) => judgeErrcode(body, TOO_OFTEN),
  }),
})
