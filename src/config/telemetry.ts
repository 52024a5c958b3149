// OpenTelemetry traces, with the variable names of its specification, and the access to metrics. All of it is for the
// operator; without an endpoint nothing is recorded or sent.

import { z } from 'zod'
import { optionalBaseUrl, secret, type ValuesOf, variable, wholeNumber } from '../lib/variables.ts'

/** `name=value,name=value`, percent-encoded, as the specification writes headers and attributes. */
const PAIRS = 'name=value pairs between commas, values percent-encoded'

function pairsOf(text: string, context: z.core.$RefinementCtx): [string, string][] {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  return parts.flatMap((part) => {
    const at = part.indexOf('=')
    const value = decoded(part.slice(at + 1).trim())
    const name = part.slice(0, Math.max(0, at)).trim()
    if (name !== '' && value !== null) return [[name, value] as [string, string]]
    context.addIssue('not name=value')
    return []
  })
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    // A percent sign that is not an escape.
    return null
  }
}

const pairs = () => z.string().default('').transform(pairsOf)

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const headers = () =>
  secret(
    pairs().refine((all) => all.every(([name, value]) => HEADER_NAME.test(name) && /^[\x20-\x7e]*$/.test(value))),
    PAIRS,
  )

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, fallback: Words[number]) =>
  variable(
    z
      .string()
      .transform((text) => text.toLowerCase())
      .pipe(z.enum(words))
      .default(fallback),
    words.map((word) => `"${word}"`).join(', '),
  )

export const TELEMETRY_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalBaseUrl(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optionalBaseUrl(),
  OTEL_EXPORTER_OTLP_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headers(),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(100, 60_000, 10_000),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/json'], 'http/json'),
  OTEL_SERVICE_NAME: variable(z.string().max(255).optional(), 'a name of at most 255 characters'),
  OTEL_RESOURCE_ATTRIBUTES: variable(pairs(), PAIRS),
  OTEL_TRACES_SAMPLER: oneOf(SAMPLERS, 'parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: variable(z.coerce.number().min(0).max(1).default(1), 'a number from 0 to 1'),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none'], 'otlp'),
  OTEL_SDK_DISABLED: oneOf(['true', 'false'], 'false'),
  METRICS_TOKEN: secret(z.string().min(32).optional(), 'a text of at least 32 characters'),
} as const

export type TelemetryConfig = {
  /** The complete URL for traces. */
  url: string
  headers: Record<string, string>
  timeoutMs: number
  resource: Record<string, string>
  /** The share of traces that is recorded. */
  ratio: number
  /** Values that must not be logged. */
  secrets: string[]
}

type Values = ValuesOf<typeof TELEMETRY_VARIABLES>

/** Null: nothing is recorded. */
export function telemetryConfig(values: Values): TelemetryConfig | null {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = values
  const url = own ?? (base === undefined ? undefined : `${base}/v1/traces`)
  const ratio = ratioOf(values)
  const isOff = values.OTEL_SDK_DISABLED === 'true' || values.OTEL_TRACES_EXPORTER === 'none'
  if (url === undefined || isOff || ratio === 0) return null
  const headers = Object.fromEntries([
    ...values.OTEL_EXPORTER_OTLP_HEADERS,
    ...values.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
  ])
  const named = Object.fromEntries(values.OTEL_RESOURCE_ATTRIBUTES)
  return {
    url,
    headers,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
    resource: { ...named, 'service.name': values.OTEL_SERVICE_NAME ?? named['service.name'] ?? 'bellwether' },
    ratio,
    secrets: Object.values(headers),
  }
}

/** Every trace begins here, so the decision of a parent sampler does not exist. */
function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: ratio }: Values): number {
  if (sampler.endsWith('always_off')) return 0
  return sampler.endsWith('traceidratio') ? ratio : 1
}
