import type { AddressPolicy } from '../lib/address-policy.ts'
import { namedByOperator, typedByPerson } from '../lib/chooser.ts'
import type { ChannelKind } from './channel.ts'
import { CHANNELS } from './index.ts'
import type { Mode } from './notice.ts'
import type { Opened } from './send.ts'

/** A channel that somebody has set up. */
export type Target = {
  id: string
  kind: ChannelKind
  mode: Mode
  isEnabled: boolean
  /** Null when what is stored of them cannot be opened. */
  settings: Record<string, unknown> | null
  /** The operator's own: it may lead inside. */
  isOperators: boolean
}

/** Null when its settings cannot be read. */
export function openTarget({ kind, settings, isOperators }: Target, policy: AddressPolicy): Opened | null {
  const channel = CHANNELS[kind]
  const parsed = channel.settings.safeParse(settings)
  if (!parsed.success) return null
  const values = parsed.data as Record<string, unknown>
  const secrets = channel.secrets.flatMap((name) => (typeof values[name] === 'string' ? [values[name]] : []))
  return {
    line: channel.open(settings),
    policy,
    chosenBy: (isOperators ? namedByOperator : typedByPerson)(...addressesIn(values)),
    secrets,
  }
}

const addressesIn = (values: Record<string, unknown>): string[] =>
  Object.values(values).flatMap((value) => (typeof value === 'string' && /^https?:/i.test(value) ? [value] : []))
