import { z } from 'zod'
import { defineChannel, JSON_TYPE } from '../channel.ts'
import { asDiscord } from '../dialects.ts'
import { address, addressIn, numberAt, word } from '../fields.ts'

const WITHOUT_PREVIEWS = 4

/** A webhook of a Discord channel. */
export const discord = defineChannel({
  settings: z.object({ webhook_url: address(), username: word(80).optional() }),
  secrets: ['webhook_url'],
  environment: { webhook_url: addressIn('DISCORD_WEBHOOK_URL'), username: null },
  open: ({ webhook_url: url, username }) => ({
    limit: { unit: 'characters', max: 2_000 },
    pace: [
      { count: 5, windowMs: 2_000 },
      { count: 30, windowMs: 60_000 },
    ],
    recognisesRepeats: false,
    render: asDiscord,
    request: (_part, content) => ({
      url,
      headers: JSON_TYPE,
      // A mention in a text (@everyone) notifies nobody.
      body: JSON.stringify({ content, username, flags: WITHOUT_PREVIEWS, allowed_mentions: { parse: [] } }),
    }),
    retryAfterMs: (body) => {
      const seconds = numberAt(body, 'retry_after')
      return seconds === null ? null : Math.ceil(seconds * 1000)
    },
  }),
})
