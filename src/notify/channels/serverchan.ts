import { z } from 'zod'
import { defineChannel, JSON_TYPE, MINUTE_MS, OK, rejected } from '../channel.ts'
import { asMarkdown, titled } from '../dialects.ts'
import { baseUrlIn, httpUrl, numberAt, pathToken, textAt, tokenIn } from '../fields.ts'

/** ServerChan, both generations: the key shows which. */
export const serverchan = defineChannel({
  settings: z.object({
    key: pathToken(),
    api_url: httpUrl()
      .max(500)
      .transform((url) => url.replace(/\/+$/, ''))
      .optional(),
  }),
  secrets: ['key'],
  environment: { key: tokenIn('SERVERCHAN_KEY'), api_url: baseUrlIn('SERVERCHAN_URL') },
  open: ({ key, api_url }) => ({
    limit: { unit: 'bytes', max: 30_000 },
    pace: [{ count: 5, windowMs: MINUTE_MS }],
    recognisesRepeats: false,
    render: asMarkdown,
    request: (part, desp) => ({
      url: addressOf(key, api_url),
      headers: JSON_TYPE,
      body: JSON.stringify({ title: titled(part, 32), desp }),
    }),
    judge: ({ body }) => {
      const code = numberAt(body, 'code')
      return code === 0 ? OK : rejected(`code ${code}: ${textAt(body, 'message') || textAt(body, 'info')}`)
    },
  }),
})

function addressOf(key: string, apiUrl: string | undefined): string {
  // sctp12345t… belongs to the machine 12345.
  const machine = /^sctp(\d+)t/.exec(key)?.[1]
  if (machine !== undefined) return `${apiUrl ?? `https://${machine}.push.ft07.com`}/send/${key}.send`
  return `${apiUrl ?? 'https://sctapi.ftqq.com'}/${key}.send`
}
