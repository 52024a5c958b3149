// The services that send mail, and what they have in common.

import { z } from 'zod'
import { bearer, defineChannel, FORM_TYPE, JSON_TYPE, later } from '../channel.ts'
import { asHtml, asMarkdown, titled } from '../dialects.ts'
import {
  apiUrl,
  base64OfText,
  baseUrlIn,
  lineIn,
  mailbox,
  mailboxes,
  mailboxesIn,
  pathToken,
  textAt,
  token,
  tokenIn,
} from '../fields.ts'

/** One sender and one list of recipients for whichever service is configured. */
const MAIL_ENVIRONMENT = { from: lineIn('EMAIL_FROM'), to: mailboxesIn('EMAIL_TO', 50) } as const

/** A whole report rarely has a tenth of this. */
const MAIL_CHARACTERS = 200_000
const SUBJECT_CHARACTERS = 200

/** `Name <name@example.com>`, or the address alone. */
function nameAndAddress(mailbox: string): { email: string; name?: string } {
  const [, name, email] = /^(.*?)\s*<([^<>]+)>$/.exec(mailbox) ?? []
  if (email === undefined) return { email: mailbox }
  return name === undefined || name === '' ? { email } : { email, name: name.replace(/^"(.*)"$/, '$1') }
}

export const mailgun = defineChannel({
  settings: z.object({
    api_key: token(),
    domain: pathToken(),
    from: mailbox(),
    to: mailboxes(),
    api_url: apiUrl('https://api.mailgun.net'),
  }),
  secrets: ['api_key'],
  environment: {
    ...MAIL_ENVIRONMENT,
    api_key: tokenIn('MAILGUN_API_KEY'),
    domain: lineIn('MAILGUN_DOMAIN'),
    api_url: baseUrlIn('MAILGUN_URL'),
  },
  open: ({ api_key, domain, from, to, api_url }) => ({
    limit: { unit: 'characters', max: MAIL_CHARACTERS },
    pace: [{ count: 10, windowMs: 1_000 }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, text) => ({
      url: `${api_url}/v3/${domain}/messages`,
      headers: { ...FORM_TYPE, authorization: `Basic ${base64OfText(`api:${api_key}`)}` },
      body: new URLSearchParams({
        from,
        to: to.join(','),
        subject: titled(part, SUBJECT_CHARACTERS),
        text,
        html: asHtml(part),
      }).toString(),
    }),
  }),
})

/** Mail by Resend, which delivers a message once, however often it is sent with one idempotency key. */
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
      // The same message is being processed in another request.
      status === 409 && textAt(body, 'name') === 'concurrent_idempotent_requests'
        ? later(textAt(body, 'message'), 5_000)
        : null,
  }),
})

export const sendgrid = defineChannel({
  settings: z.object({
    api_key: token(),
    from: mailbox(),
    to: mailboxes(),
    api_url: apiUrl('https://api.sendgrid.com'),
  }),
  secrets: ['api_key'],
  environment: { ...MAIL_ENVIRONMENT, api_key: tokenIn('SENDGRID_API_KEY'), api_url: baseUrlIn('SENDGRID_URL') },
  open: ({ api_key, from, to, api_url }) => ({
    limit: { unit: 'characters', max: MAIL_CHARACTERS },
    pace: [{ count: 10, windowMs: 1_000 }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, text) => ({
      url: `${api_url}/v3/mail/send`,
      headers: { ...JSON_TYPE, ...bearer(api_key) },
      body: JSON.stringify({
        personalizations: [{ to: to.map(nameAndAddress) }],
        from: nameAndAddress(from),
        subject: titled(part, SUBJECT_CHARACTERS),
        content: [
          { type: 'text/plain', value: text },
          { type: 'text/html', value: asHtml(part) },
        ],
      }),
    }),
  }),
})
