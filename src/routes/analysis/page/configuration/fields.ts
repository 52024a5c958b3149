// The keys of the configuration document, in the order of their tabs: the value of each, and the effect of a new value.
// The keys are those of the page's own service; a key that is not listed does not exist.

import type { SettingsChange } from '../../../../db/settings.ts'
import { partsOf } from '../../../../llm/providers.ts'
import type { ChannelKind } from '../../../../notify/registry.ts'
import { isAmbiguousZone, isZone } from '../../../../schedule/plan.ts'
import { channelOf, type PageState } from './state.ts'
import type { ConfigTexts } from './texts.ts'

export const MASK = '******'

export type Category = 'base' | 'ai_model' | 'data_source' | 'notification' | 'system' | 'agent'
type Control = 'text' | 'password' | 'number' | 'select' | 'textarea' | 'switch' | 'time'

/** The combined changes of the new values; they are stored in one transaction. */
export type Draft = {
  settings: SettingsChange
  /** Comma-separated names or codes. */
  stocks: string | null
  schedule: { isOn?: boolean; times?: string[]; zone?: string }
  /** Settings by channel kind; null removes a setting. */
  channels: Partial<Record<ChannelKind, Record<string, unknown>>>
  model: { protocol?: string; name?: string }
  /** Whether the page shows it; null if unchanged. */
  screening: boolean | null
  /** Values that were stored differently from the request. */
  notes: string[]
  /** Texts in the caller's language: messages, and the title and description of a field. */
  say: ConfigTexts
  wordsOf: (field: Pick<Field, 'key' | 'title' | 'description'>) => [string, string]
}

export type Problem = { code: string; message: string; expected?: string }

export type Field = {
  key: string
  category: Category
  control: Control
  title: string
  description: string
  isSensitive?: true
  /** Can only be changed with access to conversations. */
  isOfAgents?: true
  options?: readonly string[]
  validation?: Readonly<Record<string, unknown>>
  /** Empty if not set. */
  value: (state: PageState) => string
  /** Whether it is the owner's value, not the operator's or a default; by default: whether it has a value. */
  isOwn?: (state: PageState) => boolean
  /** Whether the operator has not enabled it. */
  isFixed?: (state: PageState) => boolean
  /** Adds a new value to the draft, or returns the error in it. Without it the field is read-only. */
  write?: (value: string, draft: Draft) => Problem | null
}

const flag = (value: boolean) => (value ? 'true' : 'false')

/** A switch contains `true` or `false`; empty is the default. */
const asSwitch =
  (put: (draft: Draft, isOn: boolean) => void) =>
  (value: string, draft: Draft): Problem | null => {
    if (!/^(true|false|)$/i.test(value)) {
      return { code: 'invalid_enum', message: draft.say.trueOrFalse, expected: 'true, false' }
    }
    put(draft, value.toLowerCase() === 'true')
    return null
  }

const TIME = /^([01]?\d|2[0-3]):[0-5]\d$/

function writeTimes(value: string, draft: Draft): Problem | null {
  const times = value.split(/[,;\s]+/).filter((one) => one !== '')
  if (!times.every((one) => TIME.test(one))) {
    return { code: 'invalid_format', message: draft.say.times, expected: 'HH:MM' }
  }
  draft.schedule.times = times.map((one) => one.padStart(5, '0'))
  return null
}

const timesOf = ({ schedule }: PageState): string[] =>
  schedule !== null && 'times' in schedule.plan.when ? schedule.plan.when.times : []

const modelOf = ({ settings }: PageState) => {
  const id = settings.llmModel?.trim() ?? ''
  const { prefix, model } = partsOf(id)
  return { id, protocol: prefix ?? '', name: prefix === null ? id : model }
}

const hasOwnModel = ({ settings }: PageState) =>
  [settings.llmModel, settings.llmApiKey, settings.llmBaseUrl].some((value) => (value ?? '') !== '')

const setting =
  (name: 'llmApiKey' | 'llmBaseUrl') =>
  (value: string, draft: Draft): null => {
    draft.settings[name] = value === '' ? null : value
    return null
  }

const LLM = { category: 'ai_model', isOfAgents: true } as const

const MODEL_FIELDS: readonly Field[] = [
  {
    ...{ ...LLM, key: 'LLM_CHANNELS', control: 'text', title: 'Model entries' },
    description: 'One entry is kept: the model of your settings. It is called main',
    value: (state) => (hasOwnModel(state) ? 'main' : ''),
    // The contents of the entry are in its own keys; without any of them it is removed.
    write: (value, draft) => {
      const names = value.split(',').filter((one) => one.trim() !== '')
      if (names.length > 1) return { code: 'invalid_value', message: draft.say.oneEntry }
      if (names.length === 0) Object.assign(draft.settings, { llmModel: null, llmApiKey: null, llmBaseUrl: null })
      return null
    },
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_PROTOCOL', control: 'text', title: 'Provider' },
    description: 'What stands before the slash of a model: openai, anthropic, gemini, deepseek, ollama …',
    value: (state) => modelOf(state).protocol,
    write: (value, draft) => {
      draft.model.protocol = value.trim()
      return null
    },
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_BASE_URL', control: 'text', title: 'Address' },
    description: 'The address of an own server; empty for the provider’s',
    validation: { item_type: 'url' },
    value: ({ settings }) => settings.llmBaseUrl ?? '',
    write: (value, draft) =>
      value === '' || /^https?:\/\/\S+$/.test(value)
        ? setting('llmBaseUrl')(value.trim(), draft)
        : { code: 'invalid_url', message: draft.say.address },
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_API_KEY', control: 'password', title: 'Key', isSensitive: true },
    description: 'The key of the provider',
    value: ({ settings }) => settings.llmApiKey ?? '',
    write: (value, draft) => setting('llmApiKey')(value.trim(), draft),
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_API_KEYS', control: 'password', title: 'Keys', isSensitive: true },
    description: 'One key is kept: use the field for one',
    value: () => '',
    write: (value, { say }) => (value === '' ? null : { code: 'invalid_value', message: say.oneKey }),
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_MODELS', control: 'text', title: 'Model' },
    description: 'The name of the model, without its provider',
    value: (state) => modelOf(state).name,
    write: (value, draft) => {
      const [first = '', ...others] = value.split(',').flatMap((one) => one.trim() || [])
      draft.model.name = first
      if (others.length > 0) draft.notes.push(draft.say.oneModel(first))
      return null
    },
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_EXTRA_HEADERS', control: 'text', title: 'Headers' },
    description: 'Not used',
    value: () => '',
    write: (value, { say }) => (value === '' ? null : { code: 'invalid_value', message: say.noHeaders }),
  },
  {
    ...{ ...LLM, key: 'LLM_MAIN_ENABLED', control: 'switch', title: 'In use' },
    description: 'An entry that is there is in use',
    value: (state) => (hasOwnModel(state) ? 'true' : ''),
    write: (value, { say }) => (/^(true|)$/i.test(value) ? null : { code: 'invalid_value', message: say.noSwitch }),
  },
  {
    ...{ ...LLM, key: 'LITELLM_MODEL', control: 'text', title: 'Model in use' },
    description: 'provider/model, as in your settings; empty for the operator’s',
    value: (state) => modelOf(state).id,
    write: (value, draft) => {
      draft.settings.llmModel = value.trim() === '' ? null : value.trim()
      return null
    },
  },
]

/** Always sent by the page's editor and not used here. */
const unread = (key: string, title: string, more: { description: string; usual?: string }): Field => ({
  ...{ ...LLM, key, control: 'text', title, description: more.description },
  value: () => more.usual ?? '',
  isOwn: () => false,
  write: (value, { say, wordsOf }) => {
    const words = wordsOf({ key, title, description: more.description })
    return value === '' ? null : { code: 'invalid_value', message: say.readOnly(...words) }
  },
})

const UNREAD_FIELDS: readonly Field[] = [
  unread('AGENT_LITELLM_MODEL', 'Model for questions', { description: 'Questions are answered by the model in use' }),
  unread('LITELLM_FALLBACK_MODELS', 'Models that stand in', {
    description: 'Models that stand in are set by the operator',
  }),
  unread('VISION_MODEL', 'Model for pictures', { description: 'Pictures are read by the model in use' }),
  unread('LLM_TEMPERATURE', 'Temperature', { description: 'The temperature is the provider’s own', usual: '0.7' }),
]

const NOTIFY = { category: 'notification' } as const

/** The field of one setting of one channel. */
function channelField(
  key: string,
  { kind, name, title, ...more }: { kind: ChannelKind; name: string; title: string } & Partial<Field>,
): Field {
  return {
    ...{ ...NOTIFY, key, title, control: more.isSensitive ? 'password' : 'text', description: `Of a ${kind} channel` },
    value: (state) => {
      const row = channelOf(state, kind)
      return String({ ...row?.shown, ...row?.secret }[name] ?? '')
    },
    write: (value, draft) => {
      draft.channels[kind] = { ...draft.channels[kind], [name]: value.trim() === '' ? null : value.trim() }
      return null
    },
    ...more,
  }
}

const secretOf = (key: string, kind: ChannelKind, name: string, title: string): Field =>
  channelField(key, { kind, name, title, isSensitive: true })
const plainOf = (key: string, kind: ChannelKind, name: string, title: string): Field =>
  channelField(key, { kind, name, title })

/** The page has one address with the topic as its path. */
const NTFY_URL: Field = channelField('NTFY_URL', {
  ...{ kind: 'ntfy', name: 'url', title: 'ntfy address', description: 'With the topic: https://ntfy.sh/my-topic' },
  value: (state) => {
    const { url, topic } = channelOf(state, 'ntfy')?.shown ?? {}
    return topic === undefined ? '' : `${url ?? 'https://ntfy.sh'}/${topic}`
  },
  write: (value, draft) => {
    const [, url = null, topic = null] = /^(https?:\/\/.+)\/([\w-]+)\/?$/.exec(value.trim()) ?? []
    if (value.trim() !== '' && topic === null) {
      return { code: 'invalid_url', message: draft.say.topic, expected: 'https://ntfy.sh/my-topic' }
    }
    draft.channels.ntfy = { ...draft.channels.ntfy, url, topic }
    return null
  },
})

const WEBHOOK_URLS: Field = channelField('CUSTOM_WEBHOOK_URLS', {
  ...{ kind: 'webhook', name: 'url', title: 'Own webhook', description: 'One address', isSensitive: true },
  write: (value, draft) => {
    const [url = null, ...more] = value.split(',').flatMap((one) => one.trim() || [])
    if (more.length > 0) return { code: 'invalid_value', message: draft.say.oneAddress }
    draft.channels.webhook = { ...draft.channels.webhook, url }
    return null
  },
})

const CHANNEL_FIELDS: readonly Field[] = [
  secretOf('WECHAT_WEBHOOK_URL', 'wecom', 'webhook_url', 'WeCom webhook'),
  secretOf('FEISHU_WEBHOOK_URL', 'feishu', 'webhook_url', 'Feishu webhook'),
  secretOf('FEISHU_WEBHOOK_SECRET', 'feishu', 'secret', 'Feishu signing secret'),
  secretOf('TELEGRAM_BOT_TOKEN', 'telegram', 'bot_token', 'Telegram bot token'),
  plainOf('TELEGRAM_CHAT_ID', 'telegram', 'chat_id', 'Telegram chat'),
  secretOf('DISCORD_WEBHOOK_URL', 'discord', 'webhook_url', 'Discord webhook'),
  secretOf('SLACK_WEBHOOK_URL', 'slack', 'webhook_url', 'Slack webhook'),
  secretOf('PUSHOVER_USER_KEY', 'pushover', 'user', 'Pushover user'),
  secretOf('PUSHOVER_API_TOKEN', 'pushover', 'token', 'Pushover token'),
  NTFY_URL,
  secretOf('NTFY_TOKEN', 'ntfy', 'token', 'ntfy token'),
  plainOf('GOTIFY_URL', 'gotify', 'url', 'Gotify address'),
  secretOf('GOTIFY_TOKEN', 'gotify', 'token', 'Gotify token'),
  secretOf('PUSHPLUS_TOKEN', 'pushplus', 'token', 'PushPlus token'),
  plainOf('PUSHPLUS_TOPIC', 'pushplus', 'topic', 'PushPlus topic'),
  secretOf('SERVERCHAN3_SENDKEY', 'serverchan', 'key', 'ServerChan key'),
  WEBHOOK_URLS,
  secretOf('CUSTOM_WEBHOOK_BEARER_TOKEN', 'webhook', 'token', 'Token of the own webhook'),
]

/** Set by the operator: shown, but not changed here. */
const operators = (key: string, { category, title, value }: Pick<Field, 'category' | 'title' | 'value'>): Field => ({
  ...{ key, category, control: 'text', title, description: 'Set by the operator', value, isOwn: () => false },
})

const STOCKS: Field = {
  ...{ key: 'STOCK_LIST', category: 'base', control: 'textarea', title: 'Watchlist' },
  description: 'The stocks of your default watchlist, with commas between them',
  validation: { multi_value: false, delimiter: ',' },
  value: ({ list }) => (list?.stocks ?? []).map(({ stockCode }) => stockCode).join(','),
  write: (value, draft) => {
    draft.stocks = value
    return null
  },
}

const SYSTEM_FIELDS: readonly Field[] = [
  {
    ...{ key: 'SCHEDULE_ENABLED', category: 'system', control: 'switch', title: 'Analyse the watchlist by itself' },
    description: 'On trading days, at the times below',
    value: ({ schedule }) => (schedule === null ? '' : flag(schedule.row.enabled)),
    write: asSwitch((draft, isOn) => {
      draft.schedule.isOn = isOn
    }),
  },
  {
    ...{ key: 'SCHEDULE_TIMES', category: 'system', control: 'text', title: 'Times' },
    description: 'Such as 09:00,18:00',
    validation: { delimiter: ',' },
    value: (state) => timesOf(state).join(','),
    write: writeTimes,
  },
  {
    ...{ key: 'SCHEDULE_TIME', category: 'system', control: 'time', title: 'Time' },
    description: 'The first of the times',
    value: (state) => timesOf(state)[0] ?? '',
    write: writeTimes,
  },
  {
    ...{ key: 'SCHEDULE_TIMEZONE', category: 'system', control: 'text', title: 'Zone of the times' },
    description: 'An IANA zone such as Asia/Shanghai',
    value: ({ schedule }) => (schedule !== null && 'zone' in schedule.plan.when ? schedule.plan.when.zone : ''),
    write: (value, draft) => {
      const zone = value.trim() || DEFAULT_ZONE
      if (!isZone(zone) || isAmbiguousZone(zone)) return { code: 'invalid_timezone', message: draft.say.zone }
      draft.schedule.zone = zone
      return null
    },
  },
  operators('MARKET_REVIEW_REGION', {
    ...{ category: 'system', title: 'Regions of a review that names none' },
    value: ({ config }) => config.tasks.reviewRegion,
  }),
  operators('MARKET_REVIEW_COLOR_SCHEME', {
    ...{ category: 'system', title: 'Colours of rise and fall' },
    value: ({ config }) => config.tasks.colorScheme,
  }),
  {
    ...{ key: 'ALPHASIFT_ENABLED', category: 'system', control: 'switch', title: 'Screening' },
    description: 'Whether the page shows it',
    value: ({ screening }) => (screening.isOffered ? flag(screening.isShown) : 'false'),
    isOwn: ({ screening }) => screening.isShown,
    isFixed: ({ screening }) => !screening.isOffered,
    write: asSwitch((draft, isOn) => {
      draft.screening = isOn
    }),
  },
]

export const DEFAULT_ZONE = 'Asia/Shanghai'

export const FIELDS: readonly Field[] = [
  STOCKS,
  operators('REPORT_LANGUAGE', {
    ...{ category: 'base', title: 'Language of reports that name none' },
    value: ({ config }) => config.reportLanguage,
  }),
  ...MODEL_FIELDS,
  ...UNREAD_FIELDS,
  ...CHANNEL_FIELDS,
  ...SYSTEM_FIELDS,
  {
    ...{ key: 'AGENT_CONTEXT_COMPRESSION_ENABLED', category: 'agent', control: 'switch', isOfAgents: true },
    ...{ title: 'Shorten long talks', description: 'Whether long conversations are summed up for the model' },
    value: ({ settings }) => flag(settings.enableDefaultCondenser),
    write: asSwitch((draft, isOn) => {
      draft.settings.enableDefaultCondenser = isOn
    }),
  },
]

const BY_KEY = new Map(FIELDS.map((field) => [field.key, field]))

/** An entry may be sent under any name; it is stored as `main`. */
const OF_AN_ENTRY = /^LLM_(?:[A-Z0-9_]+?)_(PROTOCOL|BASE_URL|API_KEY|API_KEYS|MODELS|EXTRA_HEADERS|ENABLED)$/

export function fieldOf(key: string): Field | null {
  const [, detail] = OF_AN_ENTRY.exec(key) ?? []
  return BY_KEY.get(key) ?? (detail === undefined ? null : (BY_KEY.get(`LLM_MAIN_${detail}`) ?? null))
}

export const mayChange = (field: Field, state: PageState): boolean =>
  field.write !== undefined && (field.isOfAgents !== true || state.mayChangeAgents) && field.isFixed?.(state) !== true
