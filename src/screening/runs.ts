// Saved screens that run automatically: each due slot once, with a message about what is new since the previous run. A
// run may be interrupted anywhere: its matches, the new ones and the message are one write, and anything stored but not
// sent is sent by the next call.

import { escapeMarkdown } from '../analysis/report/render/markdown-text.ts'
import type { ReportLanguage } from '../analysis/schemas.ts'
import { textsOf } from '../analysis/texts/book.ts'
import {
  dueScreens,
  noteRunsStreamed,
  passOver,
  runsToStream,
  type SavedScreen,
  type ScreenRun,
  storeRun,
} from '../db/saved-screens.ts'
import { undecided } from '../db/screen-query.ts'
import { isoMicros } from '../lib/clock.ts'
import { errorFields, log } from '../lib/log.ts'
import { isTradingDay, localDate } from '../market/calendar.ts'
import type { CheckKey } from '../market/consistency/types.ts'
import type { Market } from '../market/instruments.ts'
import type { Notice } from '../notify/delivery.ts'
import { readScreen, type Screen, ScreenInput } from './filter.ts'
import { countsItem, itemMaker, oldestSessions, runScreen, type ScreenedItem } from './screened.ts'
import { SCREENING_TEXTS } from './texts.ts'
import type { ScreeningTexts } from './words.ts'

/** A time at which a screen runs. */
export type Slot = { id: string; at: number; market: Market | null }

export type RunDeps = {
  db: D1Database
  /** For the stored schedule and the markets of the screen: the slots up to a time, and the first one after it. */
  slots: (schedule: string, markets: readonly Market[], span: { from: number; until: number }) => Slot[]
  next: (schedule: string, markets: readonly Market[], after: number) => number | null
  /** The markets with figures. */
  markets: readonly Market[]
  /** Sends runs to the open streams of their owners; the same run twice is sent once. */
  publish: (runs: readonly ScreenRun[]) => Promise<void>
  /** Makes sure that messages are sent. */
  wake: () => Promise<void>
}

const MOST_AT_ONCE = 200
const DAY_MS = 86_400_000
/** An older slot is skipped, because its result cannot be computed any more. */
const CATCH_UP_MS = DAY_MS
/** The number of members that are compared for a screen without a limit, and reported. */
const MOST_MEMBERS = 10_000
const MOST_FRESH = 200

/** Returns a line for the log. */
export async function runDueScreens(deps: RunDeps, now: number): Promise<string> {
  await passOn(deps)
  const due = await dueScreens(deps.db, now, MOST_AT_ONCE)
  let told = 0
  for (const saved of due) {
    try {
      if (await runSaved(deps, saved, now)) told += 1
    } catch (error) {
      // A failed screen does not stop the others; its slot stays due.
      log.error('screening.run_failed', { screenId: saved.id, ...errorFields(error) })
    }
  }
  if (due.length > 0) await passOn(deps)
  if (told > 0) await deps.wake()
  return `${due.length} screens, ${told} told`
}

/** Whether a message is sent. */
async function runSaved(deps: RunDeps, saved: SavedScreen, now: number): Promise<boolean> {
  const { db } = deps
  const stored = storedScreen(saved)
  if (stored === null || saved.schedule === null) throw new Error('a saved screen that cannot be read')
  const markets = stored.markets.length === 0 ? deps.markets : stored.markets
  const screen = { ...stored, markets }
  const nextAt = deps.next(saved.schedule, markets, now)
  const from = Math.max((saved.nextAt ?? now) - 1, now - CATCH_UP_MS)
  // Figures are current ones, so of several past slots only the last one has a result.
  const slot = deps
    .slots(saved.schedule, markets, { from, until: now })
    .filter((one) => hasSession(one, markets))
    .at(-1)
  if (slot === undefined) {
    await passOver(db, saved, nextAt)
    return false
  }
  const found = await compareScreen(db, { saved, screen, now })
  const { fresh, counts, members, isFirst } = found
  const notice = isFirst || fresh.length === 0 ? null : noticeOf({ saved, slot, counts, fresh })
  const isStored = await storeRun(db, {
    ...{ screen: saved, uid: uidOf(saved, slot), slot: slot.id, at: isoMicros(now), now, isFirst, notice, nextAt },
    counts: JSON.stringify(countsItem(counts)),
    fresh: JSON.stringify(isFirst ? [] : fresh.slice(0, MOST_FRESH)),
    freshCount: isFirst ? 0 : fresh.length,
    members: JSON.stringify(members),
  })
  return isStored && notice !== null
}

const uidOf = ({ id, revision }: SavedScreen, slot: Slot): string => `${id}:${revision}:${slot.id}`

/** On a day when all of its markets are closed, there is nothing new. */
const hasSession = ({ at, market }: Slot, markets: readonly Market[]): boolean =>
  (market === null ? markets : [market]).some((one) => isTradingDay(one, localDate(one, at)))

function storedScreen({ screen }: Pick<SavedScreen, 'screen'>): Screen | null {
  const read = readScreen(ScreenInput.parse(JSON.parse(screen)), SCREENING_TEXTS.en.filter)
  return read.ok ? read.screen : null
}

type Compared = {
  fresh: ScreenedItem[]
  counts: Awaited<ReturnType<typeof runScreen>>['counts']
  members: string[]
  isFirst: boolean
}

/**
 * What matches now and did not before. A listing without a result now, because one of its figures is missing or too
 * old, keeps its previous state: it is not new when its figures are available again.
 */
export async function compareScreen(
  db: D1Database,
  { saved, screen, now }: { saved: Pick<SavedScreen, 'members'>; screen: Screen; now: number },
): Promise<Compared> {
  const { counts, rows } = await runScreen(db, screen, { now, window: { limit: MOST_MEMBERS, offset: 0 } })
  const before = saved.members === null ? null : (JSON.parse(saved.members) as string[])
  const known = new Set(before ?? [])
  const matched = new Set(rows.map(({ key }) => key))
  const missing = [...known].filter((key) => !matched.has(key))
  const oldest = oldestSessions(screen.maxAgeSessions, now)
  const kept = missing.length === 0 ? [] : await undecided(db, { screen, oldest }, missing)
  const item = itemMaker(now)
  const fresh = rows.filter(({ key }) => !known.has(key)).map(item)
  return { fresh, counts, members: [...matched, ...kept], isFirst: before === null }
}

// The message.

const MOST_LINES = 50

type Telling = Pick<Compared, 'fresh' | 'counts'> & { saved: SavedScreen; slot: Slot }

function noticeOf({ saved, slot, counts, fresh }: Telling): Notice {
  const language = saved.language as ReportLanguage
  const { message } = SCREENING_TEXTS[language]
  const title = message.title(saved.name, fresh.length)
  const lines = fresh.slice(0, MOST_LINES).map((one) => lineOf(one, language, message))
  const rest = fresh.length > MOST_LINES ? [message.more(fresh.length - MOST_LINES)] : []
  const { matched, listings, unknown, tooOld, kept } = counts
  const told = message.counts({ matched, listings, unknown, tooOld, notKept: listings - kept })
  const markdown = [`# ${escapeMarkdown(title)}`, [...lines, ...rest].join('\n'), told].join('\n\n')
  const channels = saved.channels === null ? null : (JSON.parse(saved.channels) as string[])
  return { kind: 'text', key: `screen:${uidOf(saved, slot)}`, owner: saved.owner, channels, title, markdown }
}

/** Every line contains the day of its figures. */
function lineOf(item: ScreenedItem, language: ReportLanguage, words: ScreeningTexts['message']): string {
  const { name, name_en, code, session, bars_session, figures, currency, checks } = item
  const label = language === 'en' && name_en !== null ? name_en : name
  const price = figures.price ?? null
  const change = figures.change_pct ?? null
  const days = [...new Set([session, bars_session].filter((one) => one !== null))]
  const names = checks.map((check) => textsOf(language).consistency.check[check as CheckKey])
  const parts = [
    ...(price === null ? [] : [`${price.toFixed(price < 10 ? 3 : 2)} ${currency}`]),
    ...(change === null ? [] : [`${words.change} ${change > 0 ? '+' : ''}${change.toFixed(2)} %`]),
    words.of(days.join(', ')),
    ...(names.length === 0 ? [] : [words.marked(names.join(', '))]),
  ]
  return `- **${escapeMarkdown(`${label} ${code}`)}**: ${escapeMarkdown(parts.join(' · '))}`
}

export function runItem(run: ScreenRun) {
  return {
    ...{ id: run.id, uid: run.uid, screen_id: run.screenId, screen_name: run.screenName, slot: run.slot },
    ...{
      ran_at: run.ranAt,
      is_first: run.isFirst === 1,
      counts: JSON.parse(run.counts) as ReturnType<typeof countsItem>,
    },
    ...{ new_count: run.freshCount, new_listings: JSON.parse(run.fresh) as ScreenedItem[] },
    is_told: run.notice !== null,
  }
}

const STREAMED_AT_ONCE = 100

/** Sends the runs to the streams that have not been sent yet. */
async function passOn({ db, publish }: RunDeps): Promise<void> {
  for (;;) {
    const untold = await runsToStream(db, STREAMED_AT_ONCE)
    if (untold.length === 0) return
    await publish(untold)
    await noteRunsStreamed(
      db,
      untold.map(({ id }) => id),
    )
    if (untold.length < STREAMED_AT_ONCE) return
  }
}
