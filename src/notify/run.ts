// Turns each notice into one delivery for each of its channels, and sends the deliveries that are due.

import { sha256Hex } from '../lib/crypto.ts'
import { errorFields, log } from '../lib/log.ts'
import { type DeliveryDeps, deliverDue } from './deliver.ts'
import type { NewDelivery } from './delivery.ts'
import { isFor, type NewsStore, type Notice } from './delivery.ts'
import { digestMessage, type Message, partsOf, reportMessage, type ToldReport } from './message.ts'
import { openTarget, type Target } from './send.ts'

export type NotifyDeps = DeliveryDeps & {
  /** The owner's stored report; null when there is none, or when it must not be sent. */
  report: (owner: string, taskId: string) => Promise<ToldReport | null>
  news: NewsStore
}

export type NotifyResult = {
  /** The keys of notices that are stored as deliveries. */
  keys: string[]
  /** When the next call will have something to do, epoch ms. */
  nextAt: number | null
}

/** Notices that could not be stored as deliveries are tried again after this time. */
const AGAIN_MS = 30_000

export async function notify(notices: readonly Notice[], deps: NotifyDeps): Promise<NotifyResult> {
  const keys = await expandAll(notices, deps)
  const nextNewsAt = await expandUntold(deps)
  await deliverDue(deps)
  const nextAt = await deps.store.nextAt()
  const times = [nextAt, nextNewsAt].filter((at) => at !== null)
  return { keys, nextAt: times.length === 0 ? null : Math.min(...times) }
}

/** When to come back for the remaining notices that are stored elsewhere. */
async function expandUntold(deps: NotifyDeps): Promise<number | null> {
  const { news, clock } = deps
  for (;;) {
    const untold = await news.untold()
    if (untold.length === 0) return null
    const keys = await expandAll(untold, deps)
    await news.drop(keys)
    if (keys.length < untold.length) return clock() + AGAIN_MS
  }
}

/** The keys of notices that are stored as deliveries. */
async function expandAll(notices: readonly Notice[], deps: NotifyDeps): Promise<string[]> {
  const keys: string[] = []
  for (const notice of notices) {
    try {
      await expand(notice, deps)
      keys.push(notice.key)
    } catch (error) {
      // The queue keeps it and passes it again.
      log.warn('notify.notice_failed', { key: notice.key, ...errorFields(error) })
    }
  }
  return keys
}

async function expand(notice: Notice, deps: NotifyDeps): Promise<void> {
  const targets = (await deps.targets(notice.owner)).filter(
    ({ id, mode, isEnabled }) => isEnabled && isFor(notice, mode) && (notice.channels?.includes(id) ?? true),
  )
  if (targets.length === 0) return
  const message = await messageOf(notice, deps)
  if (message === null) return
  const deliveries = targets.map((target) => deliveryOf(notice, { target, message, deps }))
  await deps.store.create(await Promise.all(deliveries), deps.clock())
}

async function messageOf(notice: Notice, { report }: NotifyDeps): Promise<Message | null> {
  if (notice.kind === 'text') return { title: notice.title, markdown: notice.markdown }
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

type Making = { target: Target; message: Message; deps: NotifyDeps }

async function deliveryOf({ key, owner }: Notice, { target, message, deps }: Making): Promise<NewDelivery> {
  const { id: channelId, kind, mode } = target
  const opened = openTarget(target, deps.policy)
  const id = (await sha256Hex(JSON.stringify([owner, key, channelId]))).slice(0, 32)
  const common = { id, owner, subject: key, channelId, kind, mode, title: message.title }
  if (opened === null) return { ...common, parts: [], error: 'the settings of the channel cannot be read' }
  return { ...common, parts: partsOf(message, opened.line), error: null }
}
