import { z } from 'zod'
import { defineChannel, JSON_TYPE, later, MINUTE_MS, OK, rejected } from '../channel.ts'
import { asMarkdown, titled } from '../dialects.ts'
import { apiUrl, baseUrlIn, lineIn, numberAt, textAt, token, tokenIn, word } from '../fields.ts'

/** Too many requests: the service pauses the account. */
const PAUSED = 900

export const pushplus = defineChannel({
  settings: z.object({
    token: token(),
    topic: word(100).optional(),
    api_url: apiUrl('https://www.pushplus.plus'),
  }),
  secrets: ['token'],
  environment: {
    token: tokenIn('PUSHPLUS_TOKEN'),
    topic: lineIn('PUSHPLUS_TOPIC'),
    api_url: baseUrlIn('PUSHPLUS_URL'),
  },
  open: ({ token, topic, api_url }) => ({
    limit: { unit: 'characters', max: 20_000 },
    pace: [{ count: 5, windowMs: MINUTE_MS }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, content) => ({
      url: `${api_url}/send`,
      headers: JSON_TYPE,
      body: JSON.stringify({ token, title: titled(part, 100), content, template: 'markdown', topic }),
    }),
    judge: ({ body }) => {
      const code = numberAt(body, 'code')
      if (code === 200) return OK
      const reason = `code ${code}: ${textAt(body, 'msg')}`
      return code === PAUSED ? later(reason, 60 * MINUTE_MS) : rejected(reason)
    },
  }),
})
