// The data behind the configuration document of the analysis page: nothing is stored for the document itself.

import type { Context } from 'hono'
import { type Config, config } from '../../../../config.ts'
import { type ChannelRow, listChannels } from '../../../../db/channels.ts'
import { isScreeningShown } from '../../../../db/saved-screens.ts'
import { listSchedules, type ScheduleRow } from '../../../../db/schedules.ts'
import { ownerSettings, type Settings } from '../../../../db/settings.ts'
import { listWatchlists, type Watchlist } from '../../../../db/watchlists.ts'
import type { AppEnv } from '../../../../http/app-env.ts'
import type { ChannelKind } from '../../../../notify/registry.ts'
import { SchedulePlan } from '../../../../schedule/plan.ts'

/** The schedule that the page manages; the owner's other schedules are not changed. */
export const PAGE_SCHEDULE = 'Analysis page'

export type PageState = {
  config: Config
  /** Without the fields that cannot be decrypted any more. */
  settings: Settings
  list: Watchlist | null
  channels: ChannelRow[]
  schedule: { row: ScheduleRow; plan: SchedulePlan } | null
  /** Whether the operator collects figures, and whether the page shows them. */
  screening: { isOffered: boolean; isShown: boolean }
  /** Conversations use the same model and agent, so a key with only the analysis scope can read but not change them. */
  mayChangeAgents: boolean
}

export async function readState(c: Context<AppEnv>): Promise<PageState> {
  const { owner, scopes } = c.get('principal')
  const [settings, lists, channels, schedules, isShown] = await Promise.all([
    ownerSettings(c.env, owner),
    listWatchlists(c.env.DB, owner),
    listChannels(c.env, owner),
    listSchedules(c.env.DB, owner),
    isScreeningShown(c.env.DB, owner),
  ])
  return {
    config: config(c.env),
    settings: settings.ok ? settings.settings : settings.others,
    list: lists.find(({ isDefault }) => isDefault) ?? null,
    channels,
    schedule: pageSchedule(schedules),
    screening: { isOffered: config(c.env).screening.markets.length > 0, isShown },
    mayChangeAgents: scopes.includes('conversations'),
  }
}

function pageSchedule(rows: readonly ScheduleRow[]): PageState['schedule'] {
  for (const row of rows) {
    const plan = SchedulePlan.parse(JSON.parse(row.plan))
    if (plan.name === PAGE_SCHEDULE && plan.what.kind === 'watchlist' && 'times' in plan.when) return { row, plan }
  }
  return null
}

/** The owner's first channel of a kind, which the page shows and changes. */
export const channelOf = ({ channels }: PageState, kind: ChannelKind): ChannelRow | null =>
  channels.find((row) => row.kind === kind) ?? null
