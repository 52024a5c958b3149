import { z } from 'zod'
import { defineChannel, JSON_TYPE, OK, rejected } from '../channel.ts'
import { asSlack, titled } from '../dialects.ts'
import { address, addressIn } from '../fields.ts'
import { split } from '../split.ts'

const BLOCK_CHARACTERS = 3_000

/** An incoming webhook of Slack. */
export const slack = defineChannel({
  settings: z.object({ webhook_url: address() }),
  secrets: ['webhook_url'],
  environment: { webhook_url: addressIn('SLACK_WEBHOOK_URL') },
  open: ({ webhook_url: url }) => ({
    // Slack accepts up to 50 blocks; nobody reads a message of that length in a chat.
    limit: { unit: 'characters', max: 12_000 },
    pace: [{ count: 1, windowMs: 1_000 }],
    recognisesRepeats: false,
    render: asSlack,
    request: (part, text) => {
      const blocks = split(text, (piece) => piece.length <= BLOCK_CHARACTERS).map((piece) => ({
        type: 'section',
        text: { type: 'mrkdwn', text: piece },
      }))
      return { url, headers: JSON_TYPE, body: JSON.stringify({ text: titled(part, 150), blocks }) }
    },
    judge: ({ body }) => (body === 'ok' ? OK : rejected(String(body).slice(0, 200))),
  }),
})
