// All channels that an owner's reports go to: his own, and those of the environment where the operator says so.

import { config } from '../config.ts'
import type { Target } from '../notify/target.ts'
import { type ChannelRow, listChannels } from './channels.ts'

/** The one owner of a local start. */
const LOCAL_OWNER = 'local'

export async function notifyTargets(env: Env, owner: string): Promise<Target[]> {
  return [...(await listChannels(env, owner)).map(targetOf), ...operatorTargets(env, owner)]
}

/** Those of the environment, for the owners that it names; in local mode for the one there is. */
export function operatorTargets(env: Env, owner: string): Target[] {
  const { authMode, notify } = config(env)
  const isNamed = notify.owners.includes(owner) || notify.owners.includes('*')
  if (!isNamed && !(authMode === 'local' && owner === LOCAL_OWNER)) return []
  return notify.channels.map((channel) => ({ ...channel, isEnabled: true, isOperators: true }))
}

export function targetOf({ id, kind, mode, isEnabled, shown, secret }: ChannelRow): Target {
  const settings = secret === null ? null : { ...shown, ...secret }
  return { id, kind, mode, isEnabled, settings, isOperators: false }
}
