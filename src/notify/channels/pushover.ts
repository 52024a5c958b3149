import { z } from 'zod'
import { laxInt } from '../../lib/lax.ts'
import { defineChannel, FORM_TYPE, OK, rejected } from '../channel.ts'
import { asBarePlain, titled } from '../dialects.ts'
import { apiUrl, baseUrlIn, member, numberAt, token, tokenIn } from '../fields.ts'

export const pushover = defineChannel({
  settings: z.object({
    token: token(),
    user: token(),
    priority: laxInt({ min: -2, max: 1 }).default(0),
    api_url: apiUrl('https://api.pushover.net'),
  }),
  secrets: ['token', 'user'],
  environment: {
    token: tokenIn('PUSHOVER_API_TOKEN'),
    user: tokenIn('PUSHOVER_USER_KEY'),
    priority: null,
    api_url: baseUrlIn('PUSHOVER_URL'),
  },
  open: ({ token, user, priority, api_url }) => ({
    limit: { unit: 'characters', max: 1_024 },
    pace: [{ count: 5, windowMs: 5_000 }],
    recognisesRepeats: false,
    render: asBarePlain,
    request: (part, message) => ({
      url: `${api_url}/1/messages.json`,
      headers: FORM_TYPE,
      body: new URLSearchParams({
        token,
        user,
        message,
        title: titled(part, 250),
        priority: String(priority),
      }).toString(),
    }),
    judge: ({ body }) => {
      if (numberAt(body, 'status') === 1) return OK
      const errors = member(body, 'errors')
      return rejected(Array.isArray(errors) ? errors.join('; ').slice(0, 200) : 'no status 1')
    },
  }),
})
