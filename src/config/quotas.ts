// What one owner may have at a time. Where a variable is not set, local mode, which has one owner, is given more.

import { z } from 'zod'

const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max).optional()

export const QUOTA_SCHEMAS = {
  MAX_SOCKETS_PER_OWNER: wholeNumber(1, 1_000_000),
  MAX_STREAMS_PER_OWNER: wholeNumber(1, 10_000),
  MAX_STREAMS_PER_KEY: wholeNumber(1, 10_000),
  MAX_CONVERSATIONS_PER_OWNER: wholeNumber(1, 10_000_000),
  MAX_STORED_BYTES_PER_OWNER: wholeNumber(1_048_576, 1_000_000_000_000_000),
  MAX_OPEN_ANALYSES_PER_OWNER: wholeNumber(1, 100_000),
  MAX_ANALYSES_PER_DAY: wholeNumber(1, 10_000_000),
  MAX_FEEDBACK_PER_OWNER: wholeNumber(1, 1_000_000),
  MAX_LARGE_BODY_BYTES_IN_FLIGHT: wholeNumber(1_048_576, 1_000_000_000),
} as const

const whole = (min: number, max: number): string => `a whole number from ${min} to ${max}`

export const QUOTA_ALLOWED: { [Name in keyof typeof QUOTA_SCHEMAS]: string } = {
  MAX_SOCKETS_PER_OWNER: whole(1, 1_000_000),
  MAX_STREAMS_PER_OWNER: whole(1, 10_000),
  MAX_STREAMS_PER_KEY: whole(1, 10_000),
  MAX_CONVERSATIONS_PER_OWNER: whole(1, 10_000_000),
  MAX_STORED_BYTES_PER_OWNER: whole(1_048_576, 1_000_000_000_000_000),
  MAX_OPEN_ANALYSES_PER_OWNER: whole(1, 100_000),
  MAX_ANALYSES_PER_DAY: whole(1, 10_000_000),
  MAX_FEEDBACK_PER_OWNER: whole(1, 1_000_000),
  MAX_LARGE_BODY_BYTES_IN_FLIGHT: whole(1_048_576, 1_000_000_000),
}

type Parsed = { [Name in keyof typeof QUOTA_SCHEMAS]: z.output<(typeof QUOTA_SCHEMAS)[Name]> }

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
  /** Analyses that were begun since midnight, UTC. */
  analysesPerDay: number
  feedback: number
  /** Of large request bodies that are being taken in. */
  bytesInFlight: number
}

const GIB = 1_073_741_824

/** Whoever pays for keys has them for several people; a machine of one's own has nobody to be protected from. */
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
  },
}

export function quotaConfig(values: Parsed, authMode: 'keys' | 'local'): QuotaConfig {
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
  }
}
