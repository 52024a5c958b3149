// What is done with notices: each becomes one delivery for each channel that it is for, and then what is due is sent.

import { sha256Hex } from '../lib/crypto.ts'
import { errorFields, log } from '../lib/log.ts'
import { type DeliveryWorld, deliverDue } from './deliver.ts'
import type { NewDelivery } from './delivery.ts'
import { digestMessage, type Message, reportMessage, type ToldReport } from './message.ts'
import { isFor, type NewsStore, type Notice } from './notice.ts'
import { partsOf } from './parts.ts'
import { openTarget, type Target } from './target.ts'

export type NotifyWorld = DeliveryWorld & {
  /** The owner's stored report; null when there is none, or none that may be sent. */
  report: (owner: string, taskId: string) => Promise<ToldReport | null>
  news: NewsStore
}

export type Told = {
  /** The notices that need not be told again. */
  keys: string[]
  /** When the next call will have something to do, epoch ms. */
  nextAt: number | null
}

/** What could not be made deliveries of is tried again after this. */
const AGAIN_MS = 30_000

export async function notify(notices: readonly Notice[], world: NotifyWorld): Promise<Told> {
  const keys = await expandAll(notices, world)
  const nextNewsAt = await expandUntold(world)
  await deliverDue(world)
  const nextAt = await world.store.nextAt()
  const times = [nextAt, nextNewsAt].filter((at) => at !== null)
  return { keys, nextAt: times.length === 0 ? null : Math.min(...times) }
}

/** When to come back for what is left of the news that lies elsewhere. */
async function expandUntold(world: NotifyWorld): Promise<number | null> {
  const { news, clock } = world
  for (;;) {
    const untold = await news.untold()
    if (untold.length === 0) return null
    const keys = await expandAll(untold, world)
    await news.drop(keys)
    if (keys.length < untold.length) return clock() + AGAIN_MS
  }
}

/** The keys of those that need not be told again. */
async function expandAll(notices: readonly Notice[], world: NotifyWorld): Promise<string[]> {
  const keys: string[] = []
  for (const notice of notices) {
    try {
      await expand(notice, world)
      keys.push(notice.key)
    } catch (error) {
      // It stays with whoever told it, and comes again.
      log.warn('notify.notice_failed', { key: notice.key, ...errorFields(error) })
    }
  }
  return keys
}

async function expand(notice: Notice, world: NotifyWorld): Promise<void> {
  const targets = (await world.targets(notice.owner)).filter(
    ({ id, mode, isEnabled }) => isEnabled && isFor(notice, mode) && (notice.channels?.includes(id) ?? true),
  )
  if (targets.length === 0) return
  const message = await messageOf(notice, world)
  if (message === null) return
  const deliveries = targets.map((target) => deliveryOf(notice, { target, message, world }))
  await world.store.create(await Promise.all(deliveries), world.clock())
}

async function messageOf(notice: Notice, { report }: NotifyWorld): Promise<Message | null> {
  if (notice.kind === 'report') {
    const told = await report(notice.owner, notice.taskId)
    return told && reportMessage(told)
  }
  const reports = new Map<string, ToldReport>()
  for (const { taskId, isCompleted } of notice.items) {
    const told = isCompleted ? await report(notice.owner, taskId) : null
    if (told !== null) reports.set(taskId, told)
  }
  return reports.size === 0 ? null : digestMessage(notice.items, reports, notice.language)
}

type Making = { target: Target; message: Message; world: NotifyWorld }

async function deliveryOf({ key, owner }: Notice, { target, message, world }: Making): Promise<NewDelivery> {
  const { id: channelId, kind, mode } = target
  const opened = openTarget(target, world.policy)
  const id = (await sha256Hex(JSON.stringify([owner, key, channelId]))).slice(0, 32)
  const common = { id, owner, subject: key, channelId, kind, mode, title: message.title }
  if (opened === null) return { ...common, parts: [], error: 'the settings of the channel cannot be read' }
  return { ...common, parts: partsOf(message, opened.line), error: null }
}
