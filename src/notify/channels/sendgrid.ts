import { z } from 'zod'
import { bearer, defineChannel, JSON_TYPE } from '../channel.ts'
import { asHtml, asMarkdown, titled } from '../dialects.ts'
import { apiUrl, baseUrlIn, mailbox, mailboxes, token, tokenIn } from '../fields.ts'
import { MAIL_CHARACTERS, MAIL_ENVIRONMENT, nameAndAddress, SUBJECT_CHARACTERS } from '../mail.ts'

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
