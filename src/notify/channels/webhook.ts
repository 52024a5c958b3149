import { z } from 'zod'
import { toHex } from '../../lib/crypto.ts'
import { laxBool, laxInt } from '../../lib/lax.ts'
import { bearer, defineChannel, JSON_TYPE, type Part } from '../channel.ts'
import { asBarePlain, asMarkdown, titled } from '../dialects.ts'
import { address, addressIn, hmac, token, tokenIn, word } from '../fields.ts'

const TITLE_CHARACTERS = 200
const BARK_CHARACTERS = 4_000

const filled = (template: string, title: string, content: string): string =>
  template
    // A function, so that `$` in the text has no special meaning.
    .replace(/\$\{(title|content)_json\}/g, (_, name) => JSON.stringify(name === 'title' ? title : content))

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // The parser throws for invalid JSON, which is what is being tested.
    return false
  }
}

const template = () =>
  z
    .string()
    .max(10_000)
    .refine((text) => isJson(filled(text, 'title', 'content')), {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders as they are written in a template
      error: 'JSON is wanted in which ${title_json} and ${content_json} stand for texts',
    })

/** Any address that accepts JSON, in a configurable shape. */
export const webhook = defineChannel({
  settings: z.object({
    url: address(),
    token: token().optional(),
    secret: token().optional(),
    style: z.enum(['fields', 'bark']).default('fields'),
    group: word(100).optional(),
    template: template().optional(),
    max_characters: laxInt({ min: 200, max: 200_000 }).default(20_000),
    recognises_repeats: laxBool().default(false),
  }),
  secrets: ['url', 'token', 'secret'],
  environment: {
    url: addressIn('NOTIFY_WEBHOOK_URL'),
    token: tokenIn('NOTIFY_WEBHOOK_TOKEN'),
    secret: tokenIn('NOTIFY_WEBHOOK_SECRET'),
    style: null,
    group: null,
    template: null,
    max_characters: null,
    recognises_repeats: null,
  },
  open: (settings) => ({
    limit: {
      unit: 'characters',
      max: settings.style === 'bark' ? Math.min(BARK_CHARACTERS, settings.max_characters) : settings.max_characters,
    },
    pace: [{ count: 10, windowMs: 1_000 }],
    recognisesRepeats: settings.recognises_repeats,
    render: settings.style === 'bark' ? asBarePlain : asMarkdown,
    request: async (part, text) => {
      const body = bodyOf(settings, part, text)
      const { token, secret } = settings
      const headers = {
        ...JSON_TYPE,
        'idempotency-key': part.key,
        ...(token === undefined ? {} : bearer(token)),
        ...(secret === undefined ? {} : { 'x-signature': toHex(await hmac(secret, body)) }),
      }
      return { url: settings.url, headers, body }
    },
  }),
})

type Shape = { style: 'fields' | 'bark'; group?: string | undefined; template?: string | undefined }

function bodyOf({ style, group, template }: Shape, part: Part, text: string): string {
  const title = titled(part, TITLE_CHARACTERS)
  if (template !== undefined) return filled(template, title, text)
  if (style === 'bark') return JSON.stringify({ title, body: text, group })
  const { key, n, of } = part
  return JSON.stringify({ title, text, content: text, message: text, body: text, key, part: n, parts: of })
}
