import { z } from '@hono/zod-openapi'
import { laxBool } from '../../http/validation.ts'
import { CHANNEL_KINDS, type Channel as ChannelType } from '../../notify/channel.ts'
import { CHANNELS } from '../../notify/index.ts'

export const MAX_CHANNELS = 50

/** Ids of the environment's own channels begin like this. */
export const OPERATOR_PREFIX = 'operator-'

export const ChannelId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'small letters, digits, _ and - are wanted')
  .refine((id) => !id.startsWith(OPERATOR_PREFIX), { error: `ids that begin with ${OPERATOR_PREFIX} are taken` })

const Mode = z
  .enum(['single', 'digest'])
  .describe('`digest`: the reports of what was asked for together come as one message when the last is there')

/** Everything may be left out of a change: it stays as it is. Null takes it away. */
function settingsOf({ settings, secrets }: ChannelType) {
  const fields = Object.entries(settings.shape).map(([name, field]) => {
    // A default belongs to a channel that is made, not to a change that leaves the field out.
    const bare = field instanceof z.ZodDefault ? field.unwrap() : field
    const optional = (bare as z.ZodType).nullish()
    return [name, secrets.includes(name) ? optional.describe('Never shown') : optional]
  })
  return z
    .strictObject(Object.fromEntries(fields) as Record<string, z.ZodType>)
    .describe('Of a channel of the same kind, what is left out stays as it is; null takes it away')
}

const inputs = CHANNEL_KINDS.map((kind) =>
  z
    .object({
      kind: z.literal(kind),
      settings: settingsOf(CHANNELS[kind]),
      mode: Mode.optional(),
      enabled: laxBool().optional(),
    })
    .openapi(`ChannelInput_${kind}`),
)

export const ChannelInput = z
  .discriminatedUnion('kind', inputs as [(typeof inputs)[number], ...typeof inputs])
  .openapi('ChannelInput')
export type ChannelInput = z.infer<typeof ChannelInput>

export const Channel = z
  .object({
    channel_id: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    mode: Mode,
    enabled: z.boolean(),
    settings: z.record(z.string(), z.unknown()).describe('Without what is sealed'),
    secrets_set: z.array(z.string()).describe('The names of the sealed settings that have a value'),
    readable: z.boolean().describe('False when what is sealed cannot be opened any more'),
    from_environment: z.boolean().describe("The operator's own, which only the environment changes"),
    created_at: z.string().nullable(),
    updated_at: z.string().nullable(),
  })
  .openapi('Channel')
export type Channel = z.infer<typeof Channel>

export const ChannelTest = z
  .object({
    ok: z.boolean(),
    outcome: z
      .enum(['sent', 'rejected', 'later', 'unknown'])
      .describe('`later`: the service asked to be left alone for now; `unknown`: no answer came'),
    error: z.string().nullable(),
    retry_after_seconds: z.number().nullable(),
  })
  .openapi('ChannelTest')
