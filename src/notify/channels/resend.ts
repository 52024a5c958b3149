import { z } from 'zod'
import { bearer, defineChannel, JSON_TYPE, later } from '../channel.ts'
import { asHtml, asMarkdown, titled } from '../dialects.ts'
import { apiUrl, baseUrlIn, mailbox, mailboxes, textAt, token, tokenIn } from '../fields.ts'
import { MAIL_CHARACTERS, MAIL_ENVIRONMENT, SUBJECT_CHARACTERS } from '../mail.ts'

/** Mail by Resend, which takes a message once however often it comes under one key. */
export const resend = defineChannel({
  settings: z.object({
    api_key: token(),
    from: mailbox(),
    to: mailboxes(),
    api_url: apiUrl('https://api.resend.com'),
  }),
  secrets: ['api_key'],
  environment: { ...MAIL_ENVIRONMENT, api_key: tokenIn('RESEND_API_KEY'), api_url: baseUrlIn('RESEND_URL') },
  open: ({ api_key, from, to, api_url }) => ({
    limit: { unit: 'characters', max: MAIL_CHARACTERS },
    pace: [{ count: 2, windowMs: 1_000 }],
    recognisesRepeats: true,
    render: asMarkdown,
    request: (part, text) => ({
      url: `${api_url}/emails`,
      headers: { ...JSON_TYPE, ...bearer(api_key), 'idempotency-key': part.key },
      body: JSON.stringify({ from, to, subject: titled(part, SUBJECT_CHARACTERS), html: asHtml(part), text }),
    }),
    judgeFailure: ({ status, body }) =>
      // The same message is on its way in another request.
      status === 409 && textAt(body, 'name') === 'concurrent_idempotent_requests'
        ? later(textAt(body, 'message'), 5_000)
        : null,
  }),
})
