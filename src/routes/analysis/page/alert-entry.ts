// Converts a rule from a request to its stored form. Every error is refused with a sentence that names the field.

import type { Context } from 'hono'
import {
  ALERT_TYPES,
  type AlertType,
  checkedParameters,
  isAlertType,
  KINDS,
  type ParameterFault,
  type Scope,
} from '../../../alerts/kinds.ts'
import { ALERT_TEXTS } from '../../../alerts/texts.ts'
import { marketDataOf } from '../../../analysis/market-data.ts'
import { REGION_SPECS, REGIONS } from '../../../analysis/market-review/regions.ts'
import type { NewRule } from '../../../db/alerts.ts'
import { notifyTargets } from '../../../db/channels.ts'
import { listAccounts } from '../../../db/portfolio.ts'
import { stockNameStore } from '../../../db/stock-names.ts'
import { listWatchlists } from '../../../db/watchlists.ts'
import type { AppEnv } from '../../../http/app-env.ts'
import { type CallerLanguage, callerLanguage } from '../../../http/caller-language.ts'
import { AppError } from '../../../http/errors.ts'
import { currentNames } from '../../../kits/market-names/index.ts'
import { isoMicrosOf } from '../../../lib/clock.ts'
import { nameIn } from '../../../market/names/labels.ts'
import { type Rejected, type Resolved, resolveEntries } from '../../../market/resolve.ts'
import { isAmbiguousZone, isZone } from '../../../schedule/plan.ts'
import { unclearNames } from '../refusals.ts'
import type { AlertRuleInput } from './alert-schemas.ts'

type EntryTexts = {
  type: (types: string) => string
  scope: (type: string, scopes: string) => string
  missing: string
  order: string
  long: string
  number: (least: number | null, above: number | null, most: number, isInteger: boolean) => string
  choice: (values: string) => string
  choices: (values: string) => string
  unknownStock: (code: string) => string
  noList: string
  noAccount: string
  market: (markets: string) => string
  oneLine: string
  zone: string
  quiet: string
  unknown: (names: string) => string
  noChannels: (ids: string) => string
  instant: string
  past: string
}

export const ALERT_ENTRY_TEXTS: Record<CallerLanguage, EntryTexts> = {
  en: {
    type: (types) => `alert_type: one of ${types} is wanted`,
    scope: (type, scopes) => `target_scope: a rule of the kind ${type} needs ${scopes}`,
    missing: 'is missing',
    order: 'must be smaller than slow_period',
    long: 'is too long: together the indicator needs more than 365 bars',
    number: (least, above, most, isInteger) =>
      `must be a ${isInteger ? 'whole number' : 'number'}, ${above === null ? `at least ${least ?? -most}` : `above ${above}`} and at most ${most}`,
    choice: (values) => `must be one of ${values}`,
    choices: (values) => `must be a list of ${values}`,
    unknownStock: (code) => `target: no list and no source knows ${code}, or none answers now`,
    noList: 'target: no watchlist of yours has this id; `default` is the default one',
    noAccount: 'target: no account of yours has this number; `all` is all of them',
    oneLine: 'name: one line without control characters is wanted',
    market: (markets) => `target: only the markets ${markets} have a light`,
    zone: 'notification_policy.quiet_hours.zone: an IANA zone such as Asia/Shanghai is wanted',
    quiet: 'notification_policy.quiet_hours.to: another time than the beginning is wanted',
    unknown: (names) => `is no parameter of this kind; it has ${names === '' ? 'none' : names}`,
    noChannels: (ids) => `notification_policy.channels: no channel of yours has the id ${ids}`,
    instant: 'expires_at: a time like 2026-12-31T00:00:00Z is wanted',
    past: 'expires_at: this time is over',
  },
  zh: {
    type: (types) => `alert_type：应为 ${types} 之一`,
    scope: (type, scopes) => `target_scope：${type} 类规则需要 ${scopes}`,
    missing: '缺失',
    order: '必须小于 slow_period',
    long: '过长：该指标共需要超过 365 根日线',
    number: (least, above, most, isInteger) =>
      `应为${isInteger ? '整数' : '数字'}，${above === null ? `不小于 ${least ?? -most}` : `大于 ${above}`}，不大于 ${most}`,
    choice: (values) => `应为 ${values} 之一`,
    choices: (values) => `应为由 ${values} 组成的列表`,
    unknownStock: (code) => `target：没有名单或数据源认识 ${code}，或目前没有数据源应答`,
    noList: 'target：您没有此 id 的自选列表；default 为默认列表',
    noAccount: 'target：您没有此编号的账户；all 为全部账户',
    oneLine: 'name：应为一行，且不含控制字符',
    market: (markets) => `target：只有 ${markets} 市场有红绿灯`,
    zone: 'notification_policy.quiet_hours.zone：应为 IANA 时区，例如 Asia/Shanghai',
    quiet: 'notification_policy.quiet_hours.to：结束时间应与开始时间不同',
    unknown: (names) => `不是此类提醒的参数；可用参数：${names === '' ? '无' : names}`,
    noChannels: (ids) => `notification_policy.channels：您没有此 id 的通知渠道：${ids}`,
    instant: 'expires_at：应为 2026-12-31T00:00:00Z 这样的时间',
    past: 'expires_at：该时间已过',
  },
  ko: {
    type: (types) => `alert_type: ${types} 중 하나여야 합니다`,
    scope: (type, scopes) => `target_scope: ${type} 규칙에는 ${scopes}가 필요합니다`,
    missing: '빠져 있습니다',
    order: 'slow_period보다 작아야 합니다',
    long: '너무 깁니다. 지표에 365개가 넘는 일봉이 필요합니다',
    number: (least, above, most, isInteger) =>
      `${above === null ? `${least ?? -most} 이상` : `${above} 초과`} ${most} 이하의 ${isInteger ? '정수' : '수'}여야 합니다`,
    choice: (values) => `${values} 중 하나여야 합니다`,
    choices: (values) => `${values}의 목록이어야 합니다`,
    unknownStock: (code) => `target: ${code}를 아는 목록이나 출처가 없거나 지금 답이 없습니다`,
    noList: 'target: 이 id의 관심 목록이 없습니다. default는 기본 목록입니다',
    noAccount: 'target: 이 번호의 계좌가 없습니다. all은 전체입니다',
    oneLine: 'name: 제어 문자가 없는 한 줄이어야 합니다',
    market: (markets) => `target: 신호등은 ${markets} 시장에만 있습니다`,
    zone: 'notification_policy.quiet_hours.zone: Asia/Shanghai와 같은 IANA 시간대여야 합니다',
    quiet: 'notification_policy.quiet_hours.to: 시작 시각과 다른 시각이어야 합니다',
    unknown: (names) => `이 종류에 없는 매개변수입니다. 쓸 수 있는 것: ${names === '' ? '없음' : names}`,
    noChannels: (ids) => `notification_policy.channels: 이 id의 알림 채널이 없습니다: ${ids}`,
    instant: 'expires_at: 2026-12-31T00:00:00Z와 같은 시각이어야 합니다',
    past: 'expires_at: 이미 지난 시각입니다',
  },
}

const refusal = (message: string, field: string, word?: string): AppError =>
  new AppError('bad_request', message, {
    extra: { detail: { message, field } },
    ...(word === undefined ? {} : { word }),
  })

const DAY_SECONDS = 86_400
const MOST_NAME = 64

export async function enteredRule(c: Context<AppEnv>, body: AlertRuleInput): Promise<NewRule> {
  const texts = ALERT_ENTRY_TEXTS[callerLanguage(c)]
  const { alert_type: type, target_scope: scope } = body
  if (!isAlertType(type)) throw refusal(texts.type(ALERT_TYPES.join(', ')), 'alert_type', 'unsupported_alert_type')
  if (/\p{Cc}/u.test(body.name ?? '')) throw refusal(texts.oneLine, 'name')
  const scopes: readonly Scope[] = KINDS[type].scopes
  if (!scopes.includes(scope)) throw refusal(texts.scope(type, scopes.join(', ')), 'target_scope')
  const checked = checkedParameters(type, body.parameters ?? {})
  if (!checked.ok) throw faultRefusal(texts, checked.fault)
  const { target, label } = await targetOf(c, body, texts)
  const notification = await notificationOf(c, body, texts)
  const preset = KINDS[type].source === 'quote' ? DAY_SECONDS : 0
  return {
    ...{ owner: c.get('principal').owner, scope, target, type },
    name: body.name ? body.name : nameOf(type, label, callerLanguage(c)),
    parameters: JSON.stringify(checked.parameters),
    ...{ severity: body.severity, isEnabled: body.enabled, source: body.source ?? 'api', language: callerLanguage(c) },
    cooldownSeconds: body.cooldown_policy?.cooldown_seconds ?? preset,
    ...{ notification: JSON.stringify(notification), expiresAt: expiryOf(body.expires_at, texts) },
  }
}

const nameOf = (type: AlertType, label: string, language: CallerLanguage): string =>
  `${ALERT_TEXTS[language].kind[type]} ${label}`.slice(0, MOST_NAME)

function faultRefusal(texts: EntryTexts, fault: ParameterFault): AppError {
  const what =
    fault.why === 'number'
      ? texts.number(fault.least, fault.above, fault.most, fault.isInteger)
      : fault.why === 'choice' || fault.why === 'choices' || fault.why === 'unknown'
        ? texts[fault.why](fault.values.join(', '))
        : texts[fault.why]
  return refusal(`${fault.field}: ${what}`, fault.field)
}

type Target = { target: string; label: string }

async function targetOf(c: Context<AppEnv>, body: AlertRuleInput, texts: EntryTexts): Promise<Target> {
  const { target, target_scope: scope } = body
  const { owner } = c.get('principal')
  if (scope === 'single_symbol') return listingOf(c, body, texts)
  if (scope === 'market') {
    const market = REGIONS.find((region) => region === target.toLowerCase())
    const lit = REGIONS.filter((region) => REGION_SPECS[region].hasLight)
    if (market === undefined || !REGION_SPECS[market].hasLight) throw refusal(texts.market(lit.join(', ')), 'target')
    return { target: market, label: market.toUpperCase() }
  }
  if (scope === 'watchlist') {
    if (target === 'default') return { target, label: target }
    const list = (await listWatchlists(c.env.DB, owner)).find(({ id }) => id === target)
    if (list === undefined) throw refusal(texts.noList, 'target')
    return { target, label: list.name }
  }
  if (target === 'all') return { target, label: target }
  const account = (await listAccounts(c.env.DB, owner)).find(({ id }) => String(id) === target)
  if (account === undefined) throw refusal(texts.noAccount, 'target')
  return { target, label: account.name }
}

/** The refusal with its candidates; the sentence starts with the name of the field. */
function unclearTarget(rejected: readonly Rejected[], language: CallerLanguage): AppError {
  const { message, options } = unclearNames(rejected, language)
  const named = `target: ${message}`
  const detail = { ...(options.extra?.detail as object), message: named, field: 'target' }
  return new AppError('bad_request', named, { extra: { detail } })
}

const PATIENCE_MS = 10_000

/** A listing that is in no list must be known to a source, so that no rule waits forever for one that does not exist. */
async function listingOf(c: Context<AppEnv>, body: AlertRuleInput, texts: EntryTexts): Promise<Target> {
  const language = callerLanguage(c)
  const names = await currentNames(stockNameStore(c.env.DB))
  const { targets, rejected } = resolveEntries([body.target], names, { confirm: body.confirm ?? false })
  const [resolved] = targets
  if (rejected.length > 0) throw unclearTarget(rejected, language)
  if (resolved === undefined) throw refusal(`target: ${texts.missing}`, 'target')
  const { instrument, listing } = resolved
  if (listing === null && instrument.kind !== 'index' && !(await isQuoted(c, resolved))) {
    throw refusal(texts.unknownStock(instrument.key), 'target')
  }
  const name = listing === null ? '' : `${nameIn(listing, language)} `
  return { target: instrument.key, label: `${name}${instrument.key}` }
}

async function isQuoted(c: Context<AppEnv>, { instrument }: Resolved): Promise<boolean> {
  const market = await marketDataOf(c.env)
  return (await market.quote(instrument, { signal: AbortSignal.timeout(PATIENCE_MS) })).ok
}

async function notificationOf(c: Context<AppEnv>, body: AlertRuleInput, texts: EntryTexts) {
  const { channels = null, quiet_hours: quiet = null } = body.notification_policy ?? {}
  if (quiet !== null && (!isZone(quiet.zone) || isAmbiguousZone(quiet.zone))) {
    throw refusal(texts.zone, 'notification_policy.quiet_hours.zone')
  }
  // It could mean the whole day or nothing.
  if (quiet !== null && quiet.from === quiet.to) throw refusal(texts.quiet, 'notification_policy.quiet_hours.to')
  if (channels !== null && channels.length > 0) {
    const known = new Set((await notifyTargets(c.env, c.get('principal').owner)).map(({ id }) => id))
    const unknown = channels.filter((id) => !known.has(id))
    if (unknown.length > 0) throw refusal(texts.noChannels(unknown.join(', ')), 'notification_policy.channels')
  }
  return { channels: channels === null || channels.length === 0 ? null : channels, quietHours: quiet }
}

function expiryOf(text: string | null | undefined, texts: EntryTexts): string | null {
  if (text === null || text === undefined || text === '') return null
  const at = isoMicrosOf(text)
  if (at === null) throw refusal(texts.instant, 'expires_at')
  if (Date.parse(at) <= Date.now()) throw refusal(texts.past, 'expires_at')
  return at
}
