import { z } from 'zod'
import { defineChannel, FORM_TYPE } from '../channel.ts'
import { asHtml, asMarkdown, titled } from '../dialects.ts'
import { apiUrl, base64OfText, baseUrlIn, lineIn, mailbox, mailboxes, pathToken, token, tokenIn } from '../fields.ts'
import { MAIL_CHARACTERS, MAIL_ENVIRONMENT, SUBJECT_CHARACTERS } from '../mail.ts'

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
