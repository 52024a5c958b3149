import { env } from 'cloudflare:workers'
import { deliveryStore, untoldNotices } from '../../../src/db/deliveries.ts'
import type { DeliveryStore, Mode } from '../../../src/notify/delivery.ts'
import type { ToldReport } from '../../../src/notify/message.ts'
import type { ChannelKind } from '../../../src/notify/registry.ts'
import type { NotifyDeps } from '../../../src/notify/run.ts'
import type { Target } from '../../../src/notify/send.ts'
import { LOCAL } from '../../helpers/policies.ts'
import { SETTINGS } from './settings.ts'

/** Every owner of the file: the outbox is one for all, so a run may meet what another test left. */
const targets = new Map<string, Target[]>()
const reports = new Map<string, ToldReport>()

export type Owner = {
  id: string
  add(kind: ChannelKind, lane: string, change?: { id?: string; mode?: Mode; settings?: Record<string, unknown> }): void
  /** A report that consists of the text. */
  report(taskId: string, markdown: string): void
}

export function owner(): Owner {
  const id = `owner-${crypto.randomUUID()}`
  const mine: Target[] = []
  targets.set(id, mine)
  return {
    id,
    add: (kind, lane, { id: name = kind, mode = 'single', settings = {} } = {}) => {
      const all = { ...SETTINGS[kind](lane), ...settings }
      mine.push({ id: name, kind, mode, isEnabled: true, settings: all, isOperators: false })
    },
    report: (taskId, markdown) => void reports.set(`${id} ${taskId}`, toldReport(taskId, markdown)),
  }
}

const STRATEGY = {
  ideal_buy: '1,690.00 CNY (near MA5)',
  secondary_buy: null,
  stop_loss: '1,600.00 CNY',
  take_profit: '',
}

function toldReport(taskId: string, text: string): ToldReport {
  const meta = {
    id: null,
    query_id: taskId,
    stock_code: '600519',
    stock_name: '贵州茅台',
    report_type: 'full' as const,
    report_language: 'en' as const,
    created_at: '2026-08-14T08:00:00.000000Z',
    current_price: 1_710.2,
    change_pct: 0.5,
    model_used: null,
    market_phase_summary: null,
    data_notice: null,
    reading: null,
    data_provenance: null,
    data_checks: null,
  }
  const summary = {
    analysis_summary: 'The trend holds.',
    operation_advice: 'Hold',
    action: 'hold' as const,
    action_label: 'Hold',
    trend_prediction: 'Sideways',
    sentiment_score: 55,
    sentiment_label: null,
  }
  return {
    report: { meta, summary, strategy: STRATEGY, details: null },
    finished: { title: '贵州茅台 (600519) · Hold', markdown: text },
  }
}

/** Of one message, for the test to hold. */
export const TIMEOUT_MS = 25_000

export type Clockwork = { now: number }

export function notifyDeps(
  clockwork: Clockwork,
  change: Partial<NotifyDeps> & { store?: DeliveryStore } = {},
): NotifyDeps {
  return {
    store: deliveryStore(env.DB),
    news: untoldNotices(env.DB),
    targets: async (id) => targets.get(id) ?? [],
    report: async (id, taskId) => reports.get(`${id} ${taskId}`) ?? null,
    policy: LOCAL,
    clock: () => clockwork.now,
    timeoutMs: TIMEOUT_MS,
    ...change,
  }
}
