import { z } from 'zod'
import { laxInt } from '../../lib/lax.ts'
import { defineChannel, JSON_TYPE } from '../channel.ts'
import { asMarkdown, titled } from '../dialects.ts'
import { baseUrlIn, httpUrl, token, tokenIn, word } from '../fields.ts'

export const gotify = defineChannel({
  settings: z.object({
    url: word(500)
      .pipe(httpUrl())
      .transform((url) => url.replace(/\/+$/, '')),
    token: token(),
    priority: laxInt({ min: 0, max: 10 }).default(5),
  }),
  secrets: ['token'],
  environment: { url: baseUrlIn('GOTIFY_URL'), token: tokenIn('GOTIFY_TOKEN'), priority: null },
  open: ({ url, token, priority }) => ({
    limit: { unit: 'characters', max: 30_000 },
    pace: [{ count: 10, windowMs: 1_000 }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, message) => ({
      url: `${url}/message`,
      headers: { ...JSON_TYPE, 'x-gotify-key': token },
      body: JSON.stringify({
        title: titled(part, 200),
        message,
        priority,
        extras: { 'client::display': { contentType: 'text/markdown' } },
      }),
    }),
  }),
})
