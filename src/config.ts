// The only reader of raw variables. Every variable is named here once, with what it allows; a bad value stops the start
// with its name, what was found and what is allowed. Secrets are never shown.

import { z } from 'zod'
import { fromBase64 } from './lib/crypto.ts'

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

const SCHEMAS = {
  AUTH_MODE: z.enum(['keys', 'local']).default('keys'),
  ROOT_API_KEY: z.string().min(32).optional(),
  SECRETS_KEY: z
    .string()
    .refine((text) => fromBase64(text)?.length === 32)
    .optional(),
  KEY_CACHE_SECONDS: integer(0, 3600, 5),
  CORS_ORIGINS: z.string().default('').transform(list).pipe(z.array(origin)),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  MAX_BODY_BYTES: integer(1024, 100_000_000, 8_388_608),
  MAX_UPLOAD_BYTES: integer(1024, 1_000_000_000, 67_108_864),
  MAX_FILE_BYTES: integer(1024, 1_000_000_000, 33_554_432),
  MAX_WORKSPACE_BYTES: integer(65_536, 9_000_000_000, 1_073_741_824),
  SHELL_TIMEOUT_SECONDS: integer(1, 600, 120),
  MARKET_DATA: z
    .string()
    .default('tencent,yahoo,eastmoney')
    .transform(list)
    .pipe(z.array(z.enum(MARKET_SOURCES)).min(1)),
  TENCENT_QUOTE_URL: baseUrl('https://qt.gtimg.cn'),
  TENCENT_KLINE_URL: baseUrl('https://web.ifzq.gtimg.cn'),
  YAHOO_URL: baseUrl('https://query1.finance.yahoo.com'),
  REPORT_LANGUAGE: z.enum(['zh', 'en', 'ko']).default('zh'),
  MAX_RUNNING_TASKS: integer(1, 100, 3),
  MAX_ATTEMPTS: integer(1, 10, 3),
  TASK_TIMEOUT_SECONDS: integer(5, 3600, 300),
  FETCH_TIMEOUT_SECONDS: integer(1, 120, 10),
} as const

type Parsed = { [Name in keyof typeof SCHEMAS]: z.output<(typeof SCHEMAS)[Name]> }

const SECRET_NAMES: ReadonlySet<string> = new Set(['ROOT_API_KEY', 'SECRETS_KEY'])

const ALLOWED: { [Name in keyof typeof SCHEMAS]: string } = {
  AUTH_MODE: '"keys" or "local"',
  ROOT_API_KEY: 'a text of at least 32 characters',
  SECRETS_KEY: '32 random bytes in base64 (make one: openssl rand -base64 32)',
  KEY_CACHE_SECONDS: 'a whole number from 0 to 3600',
  CORS_ORIGINS: 'a comma-separated list of origins such as https://app.example.com',
  LOG_LEVEL: '"debug", "info", "warn", "error" or "silent"',
  MAX_BODY_BYTES: 'a whole number from 1024 to 100000000',
  MAX_UPLOAD_BYTES: 'a whole number from 1024 to 1000000000',
  MAX_FILE_BYTES: 'a whole number from 1024 to 1000000000',
  MAX_WORKSPACE_BYTES: 'a whole number from 65536 to 9000000000',
  SHELL_TIMEOUT_SECONDS: 'a whole number from 1 to 600',
  MARKET_DATA: `a comma-separated list of ${MARKET_SOURCES.join(', ')}`,
  TENCENT_QUOTE_URL: 'an http(s) URL',
  TENCENT_KLINE_URL: 'an http(s) URL',
  YAHOO_URL: 'an http(s) URL',
  REPORT_LANGUAGE: '"zh", "en" or "ko"',
  MAX_RUNNING_TASKS: 'a whole number from 1 to 100',
  MAX_ATTEMPTS: 'a whole number from 1 to 10',
  TASK_TIMEOUT_SECONDS: 'a whole number from 5 to 3600',
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
  keyCacheMs: number
  corsOrigins: string[]
  logLevel: Parsed['LOG_LEVEL']
  maxBodyBytes: number
  maxUploadBytes: number
  maxFileBytes: number
  maxWorkspaceBytes: number
  shellTimeoutMs: number
  marketData: MarketSource[]
  tencentQuoteUrl: string
  tencentKlineUrl: string
  yahooUrl: string
  reportLanguage: 'zh' | 'en' | 'ko'
  maxRunningTasks: number
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
  return toConfig(values)
}

function toConfig(values: Parsed): Config {
  return {
    authMode: values.AUTH_MODE,
    rootApiKey: values.ROOT_API_KEY ?? null,
    secretsKey: values.SECRETS_KEY ?? null,
    keyCacheMs: values.KEY_CACHE_SECONDS * 1000,
    corsOrigins: values.CORS_ORIGINS,
    logLevel: values.LOG_LEVEL,
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxUploadBytes: values.MAX_UPLOAD_BYTES,
    maxFileBytes: values.MAX_FILE_BYTES,
    maxWorkspaceBytes: values.MAX_WORKSPACE_BYTES,
    shellTimeoutMs: values.SHELL_TIMEOUT_SECONDS * 1000,
    marketData: [...new Set(values.MARKET_DATA)],
    tencentQuoteUrl: values.TENCENT_QUOTE_URL,
    tencentKlineUrl: values.TENCENT_KLINE_URL,
    yahooUrl: values.YAHOO_URL,
    reportLanguage: values.REPORT_LANGUAGE,
    maxRunningTasks: values.MAX_RUNNING_TASKS,
    maxAttempts: values.MAX_ATTEMPTS,
    taskTimeoutMs: values.TASK_TIMEOUT_SECONDS * 1000,
    fetchTimeoutMs: values.FETCH_TIMEOUT_SECONDS * 1000,
  }
}

const cache = new WeakMap<object, Config>()

/** The configuration of this environment, parsed on first use in each isolate. */
export function config(env: object): Config {
  const known = cache.get(env)
  if (known !== undefined) return known
  const parsed = parseConfig(env as Readonly<Record<string, unknown>>)
  cache.set(env, parsed)
  return parsed
}
