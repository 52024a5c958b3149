// Where lists of all mainland stocks come from.

import type { Clock } from '../../lib/clock.ts'
import type { SourceOptions } from '../providers/build.ts'
import { mainlandList } from '../providers/eastmoney-boards.ts'
import { type GateKeeper, paceOf } from '../providers/gate.ts'
import { eastMoneyUrls, sinaUrls } from '../providers/registry.ts'
import { sinaMainlandList } from '../providers/sina.ts'
import type { NameSource } from './refresh.ts'

const SINA_PAUSE_MS = 300

/** In the configured order; sources without a list are passed over. */
export function nameSources(options: SourceOptions, { clock, gate }: { clock: Clock; gate: GateKeeper }): NameSource[] {
  const { variables = {} } = options
  const shared = { clock, ...(options.fetch === undefined ? {} : { fetch: options.fetch }) }
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, SINA_PAUSE_MS))
  const lists: Record<string, NameSource['list']> = {
    eastmoney: () => mainlandList({ ...shared, ...eastMoneyUrls(variables), pace: paceOf(gate) }, {}),
    sina: () => sinaMainlandList({ ...shared, ...sinaUrls(variables), pause }),
  }
  return options.providers.flatMap((name) => {
    const list = Object.hasOwn(lists, name) ? lists[name] : undefined
    return list === undefined ? [] : [{ name, list }]
  })
}
