import { z } from 'zod'
import { laxInt } from '../../lib/lax.ts'
import { bearer, defineChannel, JSON_TYPE } from '../channel.ts'
import { asMarkdown, titled } from '../dialects.ts'
import { apiUrl, baseUrlIn, lineIn, token, tokenIn, word } from '../fields.ts'

export const ntfy = defineChannel({
  settings: z.object({
    url: apiUrl('https://ntfy.sh'),
    topic: word(64).regex(/^[\w-]+$/, 'letters, digits, _ and - are wanted'),
    token: token().optional(),
    priority: laxInt({ min: 1, max: 5 }).default(3),
  }),
  secrets: ['token'],
  environment: {
    url: baseUrlIn('NTFY_URL'),
    topic: lineIn('NTFY_TOPIC'),
    token: tokenIn('NTFY_TOKEN'),
    priority: null,
  },
  open: ({ url, topic, token, priority }) => ({
    // A longer message becomes an attachment.
    limit: { unit: 'bytes', max: 4_000 },
    pace: [{ count: 60, windowMs: 300_000 }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, message) => ({
      url: `${url}/`,
      headers: { ...JSON_TYPE, ...(token === undefined ? {} : bearer(token)) },
      body: JSON.stringify({ topic, title: titled(part, 200), message, markdown: true, priority }),
    }),
  }),
})
