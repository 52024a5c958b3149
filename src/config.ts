// The only reader of raw variables. Every variable is named here once, with what it allows; a bad value stops the start
// with its name, what was found and what is allowed. Secrets are never shown.

import { z } from 'zod'
import { MODEL_ALLOWED, MODEL_SCHEMAS, MODEL_SECRETS, type ModelsConfig, modelsConfig } from './config/models.ts'
import { NEWS_ALLOWED, NEWS_SCHEMAS, NEWS_SECRETS, type NewsConfig, newsConfig } from './config/news.ts'
import { NOTIFY_ALLOWED, NOTIFY_SCHEMAS, NOTIFY_SECRETS, type NotifyConfig, notifyConfig } from './config/notify.ts'
import { QUOTA_ALLOWED, QUOTA_SCHEMAS, type QuotaConfig, quotaConfig } from './config/quotas.ts'
import { TASK_ALLOWED, TASK_SCHEMAS, type TaskConfig, taskConfig } from './config/tasks.ts'
import { type AddressPolicy, isPolicyEntry } from './lib/address-policy.ts'
import { fromBase64 } from './lib/crypto.ts'
import { type HostPort, hostPortOf } from './lib/host-port.ts'
import { setLogLevel } from './lib/log.ts'
import { outboundMarker } from './lib/outbound-marker.ts'

type Variable = {
  readonly name: string
  readonly secret: boolean
  readonly schema: z.ZodType
  readonly allowed: string
}

/** What a bad configuration throws: one line for each variable at fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const MARKET_SOURCES = [
  'tencent',
  'yahoo',
  'eastmoney',
  'sina',
  'finnhub',
  'alphavantage',
  'tushare',
  'sample',
] as const

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const integer = (min: number, max: number, fallback: number) =>
  z.coerce.number().int().min(min).max(max).default(fallback)

const baseUrl = (fallback: string) =>
  z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .default(fallback)

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text)

/** Every entry read, or a problem that stops the start. */
function hostPorts(entries: string[], context: z.core.$RefinementCtx): HostPort[] {
  const read = entries.map(hostPortOf)
  const known = read.filter((entry) => entry !== null)
  if (known.length < read.length) context.addIssue('not a host or host:port')
  return known
}

const sealingKey = z.string().refine((text) => fromBase64(text)?.length === 32)

/** So many in so many milliseconds, all at once if need be. */
export type RateLimit = { count: number; windowMs: number }

const RATE = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/

const rateLimit = (fallback: string) =>
  z
    .string()
    .refine((text) => text === 'off' || RATE.test(text))
    .default(fallback)
    .transform((text): RateLimit | null => {
      const [, count, seconds] = RATE.exec(text) ?? []
      return count === undefined ? null : { count: Number(count), windowMs: Number(seconds) * 1000 }
    })

// Goes into a header or a body as it stands.
const providerKey = z.string().regex(/^[\x21-\x7e]{1,200}$/)

const SCHEMAS = {
  AUTH_MODE: z.enum(['keys', 'local']).default('keys'),
  ROOT_API_KEY: z.string().min(32).optional(),
  SECRETS_KEY: sealingKey.optional(),
  SECRETS_KEY_PREVIOUS: sealingKey.optional(),
  KEY_CACHE_SECONDS: integer(0, 3600, 5),
  CORS_ORIGINS: z.string().default('').transform(list).pipe(z.array(origin)),
  ALLOW_PRIVATE_NETWORK: z
    .string()
    .default('')
    .transform(list)
    .pipe(z.array(z.string().refine(isPolicyEntry))),
  OWN_ORIGINS: z.string().default('').transform(list).transform(hostPorts),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  MAX_BODY_BYTES: integer(1024, 100_000_000, 8_388_608),
  MAX_UPLOAD_BYTES: integer(1024, 100_000_000, 67_108_864),
  MAX_FILE_BYTES: integer(1024, 28_000_000, 26_214_400),
  MAX_WORKSPACE_BYTES: integer(65_536, 9_000_000_000, 1_073_741_824),
  MAX_GIT_ANSWER_BYTES: integer(65_536, 28_000_000, 25_165_824),
  SHELL_TIMEOUT_SECONDS: integer(1, 600, 120),
  SOCKET_MESSAGES_PER_SECOND: integer(1, 1_000_000, 50),
  MAX_RUNNING_LOOPS: integer(1, 1000, 3),
  IDLE_CLOSE_SECONDS: integer(1, 2_592_000, 3600),
  RATE_LIMIT_READS: rateLimit('6000/60'),
  RATE_LIMIT_WRITES: rateLimit('3000/60'),
  RATE_LIMIT_STARTS: rateLimit('300/60'),
  RATE_LIMIT_ANALYSES: rateLimit('300/60'),
  RATE_LIMIT_UPLOADS: rateLimit('300/60'),
  RATE_LIMIT_WRONG_KEYS: rateLimit('30/60'),
  GITHUB_API_URL: baseUrl('https://api.github.com'),
  GITLAB_API_URL: baseUrl('https://gitlab.com/api/v4'),
  BITBUCKET_API_URL: baseUrl('https://api.bitbucket.org/2.0'),
  MARKET_DATA: z
    .string()
    .default('tencent,yahoo,eastmoney,sina,tushare,finnhub,alphavantage')
    .transform(list)
    .pipe(z.array(z.enum(MARKET_SOURCES)).min(1)),
  TENCENT_QUOTE_URL: baseUrl('https://qt.gtimg.cn'),
  TENCENT_KLINE_URL: baseUrl('https://web.ifzq.gtimg.cn'),
  YAHOO_URL: baseUrl('https://query1.finance.yahoo.com'),
  YAHOO_COOKIE_URL: baseUrl('https://fc.yahoo.com'),
  SINA_QUOTE_URL: baseUrl('https://hq.sinajs.cn'),
  SINA_KLINE_URL: baseUrl('https://quotes.sina.cn'),
  EASTMONEY_QUOTE_URL: baseUrl('https://push2.eastmoney.com'),
  EASTMONEY_HISTORY_URL: baseUrl('https://push2his.eastmoney.com'),
  EASTMONEY_DATACENTER_URL: baseUrl('https://datacenter-web.eastmoney.com'),
  FINNHUB_URL: baseUrl('https://finnhub.io'),
  ALPHAVANTAGE_URL: baseUrl('https://www.alphavantage.co'),
  TUSHARE_URL: baseUrl('https://api.tushare.pro'),
  FINNHUB_API_KEY: providerKey.optional(),
  ALPHAVANTAGE_API_KEY: providerKey.optional(),
  TUSHARE_TOKEN: providerKey.optional(),
  ...NEWS_SCHEMAS,
  ...MODEL_SCHEMAS,
  ...NOTIFY_SCHEMAS,
  REPORT_LANGUAGE: z.enum(['zh', 'en', 'ko']).default('zh'),
  MAX_RUNNING_TASKS: integer(1, 100, 3),
  MAX_ATTEMPTS: integer(1, 10, 3),
  TASK_TIMEOUT_SECONDS: integer(5, 3600, 300),
  ...TASK_SCHEMAS,
  ...QUOTA_SCHEMAS,
  FETCH_TIMEOUT_SECONDS: integer(1, 120, 10),
} as const

type Parsed = { [Name in keyof typeof SCHEMAS]: z.output<(typeof SCHEMAS)[Name]> }

const SECRET_NAMES: ReadonlySet<string> = new Set([
  'ROOT_API_KEY',
  'SECRETS_KEY',
  'SECRETS_KEY_PREVIOUS',
  'FINNHUB_API_KEY',
  'ALPHAVANTAGE_API_KEY',
  'TUSHARE_TOKEN',
  ...NEWS_SECRETS,
  ...MODEL_SECRETS,
  ...NOTIFY_SECRETS,
])

const RATE_ALLOWED = '"off", or a count and a number of seconds up to 99999 such as 600/60'

const ALLOWED: { [Name in keyof typeof SCHEMAS]: string } = {
  AUTH_MODE: '"keys" or "local"',
  ROOT_API_KEY: 'a text of at least 32 characters',
  SECRETS_KEY: '32 random bytes in base64 (make one: openssl rand -base64 32)',
  SECRETS_KEY_PREVIOUS: '32 bytes in base64: what SECRETS_KEY was before',
  KEY_CACHE_SECONDS: 'a whole number from 0 to 3600',
  CORS_ORIGINS: 'a comma-separated list of origins such as https://app.example.com',
  ALLOW_PRIVATE_NETWORK: 'a comma-separated list of hosts, host:port or blocks such as 10.0.0.0/8',
  OWN_ORIGINS: 'a comma-separated list of hosts or host:port such as bellwether.example.com or 127.0.0.1:8787',
  LOG_LEVEL: '"debug", "info", "warn", "error" or "silent"',
  MAX_BODY_BYTES: 'a whole number from 1024 to 100000000',
  MAX_UPLOAD_BYTES: 'a whole number from 1024 to 100000000',
  MAX_FILE_BYTES: 'a whole number from 1024 to 28000000',
  MAX_WORKSPACE_BYTES: 'a whole number from 65536 to 9000000000',
  MAX_GIT_ANSWER_BYTES: 'a whole number from 65536 to 28000000',
  SHELL_TIMEOUT_SECONDS: 'a whole number from 1 to 600',
  SOCKET_MESSAGES_PER_SECOND: 'a whole number from 1 to 1000000',
  MAX_RUNNING_LOOPS: 'a whole number from 1 to 1000',
  IDLE_CLOSE_SECONDS: 'a whole number from 1 to 2592000',
  RATE_LIMIT_READS: RATE_ALLOWED,
  RATE_LIMIT_WRITES: RATE_ALLOWED,
  RATE_LIMIT_STARTS: RATE_ALLOWED,
  RATE_LIMIT_ANALYSES: RATE_ALLOWED,
  RATE_LIMIT_UPLOADS: RATE_ALLOWED,
  RATE_LIMIT_WRONG_KEYS: RATE_ALLOWED,
  GITHUB_API_URL: 'an http(s) URL',
  GITLAB_API_URL: 'an http(s) URL',
  BITBUCKET_API_URL: 'an http(s) URL',
  MARKET_DATA: `a comma-separated list of ${MARKET_SOURCES.join(', ')}`,
  TENCENT_QUOTE_URL: 'an http(s) URL',
  TENCENT_KLINE_URL: 'an http(s) URL',
  YAHOO_URL: 'an http(s) URL',
  YAHOO_COOKIE_URL: 'an http(s) URL',
  SINA_QUOTE_URL: 'an http(s) URL',
  SINA_KLINE_URL: 'an http(s) URL',
  EASTMONEY_QUOTE_URL: 'an http(s) URL',
  EASTMONEY_HISTORY_URL: 'an http(s) URL',
  EASTMONEY_DATACENTER_URL: 'an http(s) URL',
  FINNHUB_URL: 'an http(s) URL',
  ALPHAVANTAGE_URL: 'an http(s) URL',
  TUSHARE_URL: 'an http(s) URL',
  FINNHUB_API_KEY: 'a key as its provider gave it, without blanks',
  ALPHAVANTAGE_API_KEY: 'a key as its provider gave it, without blanks',
  TUSHARE_TOKEN: 'a key as its provider gave it, without blanks',
  ...NEWS_ALLOWED,
  ...MODEL_ALLOWED,
  ...NOTIFY_ALLOWED,
  REPORT_LANGUAGE: '"zh", "en" or "ko"',
  MAX_RUNNING_TASKS: 'a whole number from 1 to 100',
  MAX_ATTEMPTS: 'a whole number from 1 to 10',
  TASK_TIMEOUT_SECONDS: 'a whole number from 5 to 3600',
  ...TASK_ALLOWED,
  ...QUOTA_ALLOWED,
  FETCH_TIMEOUT_SECONDS: 'a whole number from 1 to 120',
}

/** Every variable that the service reads. */
export const VARIABLES: readonly Variable[] = Object.entries(SCHEMAS).map(([name, schema]) => ({
  name,
  secret: SECRET_NAMES.has(name),
  schema,
  allowed: ALLOWED[name as keyof typeof SCHEMAS],
}))

export type MarketSource = (typeof MARKET_SOURCES)[number]

export type Config = {
  authMode: 'keys' | 'local'
  rootApiKey: string | null
  /** 32 bytes in base64; null only in local mode. */
  secretsKey: string | null
  /** What `secretsKey` was before: still opens what was sealed under it. */
  secretsKeyPrevious: string | null
  keyCacheMs: number
  corsOrigins: string[]
  /** For addresses that are not from the environment. */
  addressPolicy: AddressPolicy
  logLevel: Parsed['LOG_LEVEL']
  maxBodyBytes: number
  maxUploadBytes: number
  maxFileBytes: number
  maxWorkspaceBytes: number
  /** Of a git host: a pack becomes one file of the workspace. */
  maxGitAnswerBytes: number
  shellTimeoutMs: number
  socketMessagesPerSecond: number
  maxRunningLoops: number
  idleCloseMs: number
  models: ModelsConfig
  /** Null: no limit. */
  rateLimits: Record<'reads' | 'writes' | 'starts' | 'analyses' | 'uploads' | 'wrongKeys', RateLimit | null>
  githubApiUrl: string
  gitlabApiUrl: string
  bitbucketApiUrl: string
  marketData: MarketSource[]
  tencentQuoteUrl: string
  tencentKlineUrl: string
  yahooUrl: string
  yahooCookieUrl: string
  sinaQuoteUrl: string
  sinaKlineUrl: string
  eastMoneyQuoteUrl: string
  eastMoneyHistoryUrl: string
  eastMoneyDatacenterUrl: string
  finnhubUrl: string
  alphaVantageUrl: string
  tushareUrl: string
  /** Null: the provider is left out. */
  finnhubApiKey: string | null
  alphaVantageApiKey: string | null
  tushareToken: string | null
  news: NewsConfig
  notify: NotifyConfig
  reportLanguage: 'zh' | 'en' | 'ko'
  maxRunningTasks: number
  tasks: TaskConfig
  /** Of one owner. */
  quotas: QuotaConfig
  maxAttempts: number
  taskTimeoutMs: number
  fetchTimeoutMs: number
}

/** Parses the variables; an empty value counts as not set. Throws `ConfigError` naming every variable at fault. */
export function parseConfig(vars: Readonly<Record<string, unknown>>): Config {
  const parsed: Record<string, unknown> = {}
  const faults: string[] = []
  for (const { name, secret, schema, allowed } of VARIABLES) {
    const raw = vars[name]
    const result = schema.safeParse(raw === '' ? undefined : raw)
    if (result.success) parsed[name] = result.data
    else
      faults.push(`${name}: found ${secret ? 'a value that does not fit' : JSON.stringify(raw)}, allowed is ${allowed}`)
  }
  const values = parsed as Parsed
  if (faults.length === 0 && values.AUTH_MODE === 'keys') {
    for (const name of ['ROOT_API_KEY', 'SECRETS_KEY'] as const) {
      if (values[name] === undefined) faults.push(`${name}: not set, but AUTH_MODE=keys needs it: ${ALLOWED[name]}`)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return toConfig(values, { hasWorkersAi: typeof vars.AI === 'object' && vars.AI !== null })
}

function toConfig(values: Parsed, bindings: { hasWorkersAi: boolean }): Config {
  return {
    authMode: values.AUTH_MODE,
    rootApiKey: values.ROOT_API_KEY ?? null,
    secretsKey: values.SECRETS_KEY ?? null,
    secretsKeyPrevious: values.SECRETS_KEY_PREVIOUS ?? null,
    keyCacheMs: values.KEY_CACHE_SECONDS * 1000,
    corsOrigins: values.CORS_ORIGINS,
    addressPolicy: addressPolicyOf(values),
    logLevel: values.LOG_LEVEL,
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxUploadBytes: values.MAX_UPLOAD_BYTES,
    maxFileBytes: values.MAX_FILE_BYTES,
    maxWorkspaceBytes: values.MAX_WORKSPACE_BYTES,
    maxGitAnswerBytes: Math.min(values.MAX_GIT_ANSWER_BYTES, values.MAX_FILE_BYTES),
    shellTimeoutMs: values.SHELL_TIMEOUT_SECONDS * 1000,
    socketMessagesPerSecond: values.SOCKET_MESSAGES_PER_SECOND,
    maxRunningLoops: values.MAX_RUNNING_LOOPS,
    idleCloseMs: values.IDLE_CLOSE_SECONDS * 1000,
    models: modelsConfig(values, bindings.hasWorkersAi),
    rateLimits: rateLimitsOf(values),
    githubApiUrl: values.GITHUB_API_URL,
    gitlabApiUrl: values.GITLAB_API_URL,
    bitbucketApiUrl: values.BITBUCKET_API_URL,
    marketData: [...new Set(values.MARKET_DATA)],
    tencentQuoteUrl: values.TENCENT_QUOTE_URL,
    tencentKlineUrl: values.TENCENT_KLINE_URL,
    yahooUrl: values.YAHOO_URL,
    yahooCookieUrl: values.YAHOO_COOKIE_URL,
    sinaQuoteUrl: values.SINA_QUOTE_URL,
    sinaKlineUrl: values.SINA_KLINE_URL,
    eastMoneyQuoteUrl: values.EASTMONEY_QUOTE_URL,
    eastMoneyHistoryUrl: values.EASTMONEY_HISTORY_URL,
    eastMoneyDatacenterUrl: values.EASTMONEY_DATACENTER_URL,
    finnhubUrl: values.FINNHUB_URL,
    alphaVantageUrl: values.ALPHAVANTAGE_URL,
    tushareUrl: values.TUSHARE_URL,
    finnhubApiKey: values.FINNHUB_API_KEY ?? null,
    alphaVantageApiKey: values.ALPHAVANTAGE_API_KEY ?? null,
    tushareToken: values.TUSHARE_TOKEN ?? null,
    news: newsConfig(values),
    notify: notifyConfig(values),
    reportLanguage: values.REPORT_LANGUAGE,
    maxRunningTasks: values.MAX_RUNNING_TASKS,
    tasks: taskConfig(values, values.MAX_RUNNING_TASKS),
    quotas: quotaConfig(values, values.AUTH_MODE),
    maxAttempts: values.MAX_ATTEMPTS,
    taskTimeoutMs: values.TASK_TIMEOUT_SECONDS * 1000,
    fetchTimeoutMs: values.FETCH_TIMEOUT_SECONDS * 1000,
  }
}

const addressPolicyOf = (values: Parsed): AddressPolicy => ({
  allowPrivate: values.ALLOW_PRIVATE_NETWORK,
  personMayUseLoopback: values.AUTH_MODE === 'local',
  ownOrigins: values.OWN_ORIGINS,
  marker: outboundMarker(values.SECRETS_KEY ?? null),
})

const rateLimitsOf = (values: Parsed): Config['rateLimits'] => ({
  reads: values.RATE_LIMIT_READS,
  writes: values.RATE_LIMIT_WRITES,
  starts: values.RATE_LIMIT_STARTS,
  analyses: values.RATE_LIMIT_ANALYSES,
  uploads: values.RATE_LIMIT_UPLOADS,
  wrongKeys: values.RATE_LIMIT_WRONG_KEYS,
})

const cache = new WeakMap<object, Config>()

/** The configuration of this environment, parsed on first use in each isolate. */
export function config(env: object): Config {
  const known = cache.get(env)
  if (known !== undefined) return known
  const parsed = parseConfig(env as Readonly<Record<string, unknown>>)
  cache.set(env, parsed)
  setLogLevel(parsed.logLevel)
  return parsed
}
