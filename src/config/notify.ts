// The operator's own notification channels. A channel is there when all that it cannot do without is set; which variables those
// are is declared with it.

import { choice, listed, type ValuesOf, variable, variablesOf } from '../lib/variables.ts'
import type { Mode } from '../notify/notice.ts'
import { CHANNEL_KINDS, CHANNELS, type ChannelKind } from '../notify/registry.ts'

export const NOTIFY_VARIABLES = {
  NOTIFY_MODE: choice(['single', 'digest'], 'single'),
  NOTIFY_OWNERS: variable(listed(''), 'a comma-separated list of owners, or * for all of them'),
} as const

export const CHANNEL_VARIABLES = variablesOf(CHANNELS)

export type OperatorChannel = { id: string; kind: ChannelKind; mode: Mode; settings: Record<string, unknown> }

export type NotifyConfig = {
  channels: OperatorChannel[]
  /** Whose reports go there; `*` is everybody. */
  owners: string[]
}

type Values = ValuesOf<typeof NOTIFY_VARIABLES> & ValuesOf<typeof CHANNEL_VARIABLES>

export function notifyConfig(values: Values): NotifyConfig {
  const channels = CHANNEL_KINDS.flatMap((kind): OperatorChannel[] => {
    const settings = CHANNELS[kind].fromEnvironment(values)
    return settings === null ? [] : [{ id: `operator-${kind}`, kind, mode: values.NOTIFY_MODE, settings }]
  })
  return { channels, owners: values.NOTIFY_OWNERS }
}
