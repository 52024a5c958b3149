// Limits of size, time and rate for every request and every conversation.

import { z } from 'zod'
import { optionalDecimal, optionalWholeNumber, type ValuesOf, variable, wholeNumber } from '../lib/variables.ts'

/** A rate limit: `count` requests in `windowMs`, possibly all at once. */
export type RateLimit = { count: number; windowMs: number }

const RATE = /^([1-9]\d{0,8})\/([1-9]\d{0,4})$/

const rateLimit = (fallback: string) =>
  variable(
    z
      .string()
      .refine((text) => text === 'off' || RATE.test(text))
      .default(fallback)
      .transform((text): RateLimit | null => {
        const [, count, seconds] = RATE.exec(text) ?? []
        return count === undefined ? null : { count: Number(count), windowMs: Number(seconds) * 1000 }
      }),
    '"off", or a count and a number of seconds up to 99999 such as 600/60',
  )

export const LIMIT_VARIABLES = {
  MAX_BODY_BYTES: wholeNumber(1024, 100_000_000, 8_388_608),
  MAX_UPLOAD_BYTES: wholeNumber(1024, 100_000_000, 67_108_864),
  MAX_FILE_BYTES: wholeNumber(1024, 28_000_000, 26_214_400),
  MAX_WORKSPACE_BYTES: wholeNumber(65_536, 9_000_000_000, 1_073_741_824),
  MAX_GIT_ANSWER_BYTES: wholeNumber(65_536, 28_000_000, 25_165_824),
  SHELL_TIMEOUT_SECONDS: wholeNumber(1, 600, 120),
  SOCKET_MESSAGES_PER_SECOND: wholeNumber(1, 1_000_000, 50),
  MAX_TERMINAL_VIEWERS: wholeNumber(1, 1000, 16),
  MAX_RUNNING_LOOPS: wholeNumber(1, 1000, 3),
  IDLE_CLOSE_SECONDS: wholeNumber(1, 2_592_000, 3600),
  RATE_LIMIT_READS: rateLimit('6000/60'),
  RATE_LIMIT_WRITES: rateLimit('3000/60'),
  RATE_LIMIT_STARTS: rateLimit('300/60'),
  RATE_LIMIT_ANALYSES: rateLimit('300/60'),
  RATE_LIMIT_CHATS: rateLimit('20/60'),
  RATE_LIMIT_ALERT_TESTS: rateLimit('20/60'),
  RATE_LIMIT_SCREENS: rateLimit('60/60'),
  RATE_LIMIT_UPLOADS: rateLimit('300/60'),
  RATE_LIMIT_WRONG_KEYS: rateLimit('30/60'),
} as const

type LimitValues = ValuesOf<typeof LIMIT_VARIABLES>

export type LimitConfig = {
  maxBodyBytes: number
  maxUploadBytes: number
  maxFileBytes: number
  maxWorkspaceBytes: number
  /** The largest answer of a git host, because a pack becomes one file of the workspace. */
  maxGitAnswerBytes: number
  shellTimeoutMs: number
  socketMessagesPerSecond: number
  /** Viewers of one conversation's terminal. */
  maxTerminalViewers: number
  maxRunningLoops: number
  idleCloseMs: number
  /** Null: no limit. */
  rateLimits: Record<
    'reads' | 'writes' | 'starts' | 'analyses' | 'chats' | 'alertTests' | 'screens' | 'uploads' | 'wrongKeys',
    RateLimit | null
  >
}

export function limitConfig(values: LimitValues): LimitConfig {
  return {
    maxBodyBytes: values.MAX_BODY_BYTES,
    maxUploadBytes: values.MAX_UPLOAD_BYTES,
    maxFileBytes: values.MAX_FILE_BYTES,
    maxWorkspaceBytes: values.MAX_WORKSPACE_BYTES,
    maxGitAnswerBytes: Math.min(values.MAX_GIT_ANSWER_BYTES, values.MAX_FILE_BYTES),
    shellTimeoutMs: values.SHELL_TIMEOUT_SECONDS * 1000,
    socketMessagesPerSecond: values.SOCKET_MESSAGES_PER_SECOND,
    maxTerminalViewers: values.MAX_TERMINAL_VIEWERS,
    maxRunningLoops: values.MAX_RUNNING_LOOPS,
    idleCloseMs: values.IDLE_CLOSE_SECONDS * 1000,
    rateLimits: {
      reads: values.RATE_LIMIT_READS,
      writes: values.RATE_LIMIT_WRITES,
      starts: values.RATE_LIMIT_STARTS,
      analyses: values.RATE_LIMIT_ANALYSES,
      chats: values.RATE_LIMIT_CHATS,
      alertTests: values.RATE_LIMIT_ALERT_TESTS,
      screens: values.RATE_LIMIT_SCREENS,
      uploads: values.RATE_LIMIT_UPLOADS,
      wrongKeys: values.RATE_LIMIT_WRONG_KEYS,
    },
  }
}

// The quotas of one owner. If a variable is not set, local mode, which has one owner, has higher ones.

export const QUOTA_VARIABLES = {
  MAX_SOCKETS_PER_OWNER: optionalWholeNumber(1, 1_000_000),
  MAX_STREAMS_PER_OWNER: optionalWholeNumber(1, 10_000),
  MAX_STREAMS_PER_KEY: optionalWholeNumber(1, 10_000),
  MAX_CONVERSATIONS_PER_OWNER: optionalWholeNumber(1, 10_000_000),
  MAX_STORED_BYTES_PER_OWNER: optionalWholeNumber(1_048_576, 1_000_000_000_000_000),
  MAX_OPEN_ANALYSES_PER_OWNER: optionalWholeNumber(1, 100_000),
  MAX_ANALYSES_PER_DAY: optionalWholeNumber(1, 10_000_000),
  MAX_FEEDBACK_PER_OWNER: optionalWholeNumber(1, 1_000_000),
  MAX_LARGE_BODY_BYTES_IN_FLIGHT: optionalWholeNumber(1_048_576, 1_000_000_000),
  MAX_LARGE_BODY_BYTES_PER_SECOND: optionalWholeNumber(0, 1_000_000_000),
} as const

type QuotaValues = ValuesOf<typeof QUOTA_VARIABLES>

export type QuotaConfig = {
  /** Sockets of conversations that are open at a time. */
  sockets: number
  /** Task streams that are open at a time. */
  streams: number
  streamsPerKey: number
  conversations: number
  storedBytes: number
  /** Analyses that wait or run. */
  openAnalyses: number
  /** Analyses since midnight, UTC. */
  analysesPerDay: number
  feedback: number
  /** Bytes of large request bodies that are being received. */
  bytesInFlight: number
  /** How fast the room of a received body becomes free again; 0 for at once. */
  largeBodyBytesPerSecond: number
}

const GIB = 1_073_741_824

/** A hosted service has several owners who share it; a local one has only one. */
const DEFAULTS: Readonly<Record<'keys' | 'local', QuotaConfig>> = {
  keys: {
    sockets: 1_000,
    streams: 100,
    streamsPerKey: 50,
    conversations: 5_000,
    storedBytes: 20 * GIB,
    openAnalyses: 1_000,
    analysesPerDay: 5_000,
    feedback: 1_000,
    bytesInFlight: 8_388_608,
    largeBodyBytesPerSecond: 524_288,
  },
  local: {
    sockets: 10_000,
    streams: 500,
    streamsPerKey: 500,
    conversations: 100_000,
    storedBytes: 1_000 * GIB,
    openAnalyses: 1_000,
    analysesPerDay: 100_000,
    feedback: 100_000,
    bytesInFlight: 8_388_608,
    largeBodyBytesPerSecond: 0,
  },
}

export function quotaConfig(values: QuotaValues, authMode: 'keys' | 'local'): QuotaConfig {
  const usual = DEFAULTS[authMode]
  const streams = values.MAX_STREAMS_PER_OWNER ?? usual.streams
  return {
    sockets: values.MAX_SOCKETS_PER_OWNER ?? usual.sockets,
    streams,
    streamsPerKey: Math.min(streams, values.MAX_STREAMS_PER_KEY ?? usual.streamsPerKey),
    conversations: values.MAX_CONVERSATIONS_PER_OWNER ?? usual.conversations,
    storedBytes: values.MAX_STORED_BYTES_PER_OWNER ?? usual.storedBytes,
    openAnalyses: values.MAX_OPEN_ANALYSES_PER_OWNER ?? usual.openAnalyses,
    analysesPerDay: values.MAX_ANALYSES_PER_DAY ?? usual.analysesPerDay,
    feedback: values.MAX_FEEDBACK_PER_OWNER ?? usual.feedback,
    bytesInFlight: values.MAX_LARGE_BODY_BYTES_IN_FLIGHT ?? usual.bytesInFlight,
    largeBodyBytesPerSecond: values.MAX_LARGE_BODY_BYTES_PER_SECOND ?? usual.largeBodyBytesPerSecond,
  }
}

// The most that one owner may spend on language models, whatever the owner's own budget is. Not set: no ceiling.

/** The highest budget that the operator and the owner can set. */
export const MOST_USD = 1_000_000
export const MOST_TOKENS = 1_000_000_000_000

export const BUDGET_VARIABLES = {
  MAX_DAY_USD_PER_OWNER: optionalDecimal(0, MOST_USD),
  MAX_DAY_TOKENS_PER_OWNER: optionalWholeNumber(0, MOST_TOKENS),
  MAX_MONTH_USD_PER_OWNER: optionalDecimal(0, MOST_USD),
  MAX_MONTH_TOKENS_PER_OWNER: optionalWholeNumber(0, MOST_TOKENS),
} as const

export type BudgetCeilings = {
  dayUsd: number | null
  dayTokens: number | null
  monthUsd: number | null
  monthTokens: number | null
}

export function budgetCeilings(values: ValuesOf<typeof BUDGET_VARIABLES>): BudgetCeilings {
  return {
    dayUsd: values.MAX_DAY_USD_PER_OWNER ?? null,
    dayTokens: values.MAX_DAY_TOKENS_PER_OWNER ?? null,
    monthUsd: values.MAX_MONTH_USD_PER_OWNER ?? null,
    monthTokens: values.MAX_MONTH_TOKENS_PER_OWNER ?? null,
  }
}
