// The variables about language models: what the operator offers, with which keys, and how patiently it is asked.

import { z } from 'zod'
import type { ToolProtocol } from '../llm/ask.ts'
import type { OperatorModels } from '../llm/choose.ts'
import type { KeyedProvider } from '../llm/providers.ts'
import type { RetryPlan } from '../llm/retry.ts'
import type { Patience } from '../llm/wire.ts'

const address = z
  .url({ protocol: /^https?$/ })
  .transform((url) => url.replace(/\/+$/, ''))
  .optional()

// Goes into a header as it stands.
const key = z
  .string()
  .regex(/^[\x21-\x7e]{1,4096}$/)
  .optional()

const seconds = (min: number, max: number, fallback: number) => z.coerce.number().min(min).max(max).default(fallback)

const MODEL_ID = /^[^\s\p{Cc}]{1,200}$/u

export const MODEL_SCHEMAS = {
  LLM_MODEL: z.string().trim().regex(MODEL_ID).optional(),
  LLM_FALLBACK_MODELS: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((id) => id.trim())
        .filter((id) => id !== ''),
    )
    .pipe(z.array(z.string().regex(MODEL_ID)).max(8)),
  LLM_BASE_URL: address,
  LLM_API_KEY: key,
  OPENAI_API_KEY: key,
  ANTHROPIC_API_KEY: key,
  GEMINI_API_KEY: key,
  OPENROUTER_API_KEY: key,
  DEEPSEEK_API_KEY: key,
  MISTRAL_API_KEY: key,
  GROQ_API_KEY: key,
  XAI_API_KEY: key,
  MODEL_GATEWAY_URL: address,
  MODEL_GATEWAY_API_KEY: key,
  LLM_TOOL_CALLS: z.enum(['auto', 'native', 'prompted']).default('auto'),
  LLM_FIRST_BYTE_SECONDS: seconds(0.05, 3600, 300),
  LLM_IDLE_SECONDS: seconds(0.05, 3600, 120),
  LLM_TOTAL_SECONDS: seconds(0, 86_400, 0),
  LLM_RETRY_ATTEMPTS: z.coerce.number().int().min(1).max(20).default(5),
  LLM_RETRY_MIN_SECONDS: seconds(0, 600, 8),
  LLM_RETRY_MAX_SECONDS: seconds(0, 3600, 64),
} as const

type Values = { [Name in keyof typeof MODEL_SCHEMAS]: z.output<(typeof MODEL_SCHEMAS)[Name]> }

const AS_GIVEN = 'a key as its provider gave it, without blanks'

export const MODEL_ALLOWED: { [Name in keyof typeof MODEL_SCHEMAS]: string } = {
  LLM_MODEL: 'a model such as anthropic/claude-sonnet-4-5, without blanks',
  LLM_FALLBACK_MODELS: 'a comma-separated list of at most 8 models',
  LLM_BASE_URL: 'an http(s) URL',
  LLM_API_KEY: AS_GIVEN,
  OPENAI_API_KEY: AS_GIVEN,
  ANTHROPIC_API_KEY: AS_GIVEN,
  GEMINI_API_KEY: AS_GIVEN,
  OPENROUTER_API_KEY: AS_GIVEN,
  DEEPSEEK_API_KEY: AS_GIVEN,
  MISTRAL_API_KEY: AS_GIVEN,
  GROQ_API_KEY: AS_GIVEN,
  XAI_API_KEY: AS_GIVEN,
  MODEL_GATEWAY_URL: 'an http(s) URL',
  MODEL_GATEWAY_API_KEY: AS_GIVEN,
  LLM_TOOL_CALLS: '"auto", "native" or "prompted"',
  LLM_FIRST_BYTE_SECONDS: 'a number from 0.05 to 3600',
  LLM_IDLE_SECONDS: 'a number from 0.05 to 3600',
  LLM_TOTAL_SECONDS: 'a number from 0 to 86400',
  LLM_RETRY_ATTEMPTS: 'a whole number from 1 to 20',
  LLM_RETRY_MIN_SECONDS: 'a number from 0 to 600',
  LLM_RETRY_MAX_SECONDS: 'a number from 0 to 3600',
}

export const MODEL_SECRETS: readonly string[] = Object.keys(MODEL_SCHEMAS).filter((name) => name.endsWith('_API_KEY'))

export type ModelsConfig = {
  operator: OperatorModels
  patience: Patience
  retry: RetryPlan
  toolProtocol: ToolProtocol
}

export function modelsConfig(values: Values, hasWorkersAi: boolean): ModelsConfig {
  const keys: Record<KeyedProvider, string | null> = {
    openai: values.OPENAI_API_KEY ?? null,
    anthropic: values.ANTHROPIC_API_KEY ?? null,
    google: values.GEMINI_API_KEY ?? null,
    openrouter: values.OPENROUTER_API_KEY ?? null,
    deepseek: values.DEEPSEEK_API_KEY ?? null,
    mistral: values.MISTRAL_API_KEY ?? null,
    groq: values.GROQ_API_KEY ?? null,
    xai: values.XAI_API_KEY ?? null,
  }
  return {
    operator: {
      model: values.LLM_MODEL ?? null,
      fallbacks: values.LLM_FALLBACK_MODELS,
      baseUrl: values.LLM_BASE_URL ?? null,
      apiKey: values.LLM_API_KEY ?? null,
      keys,
      gateway: { baseUrl: values.MODEL_GATEWAY_URL ?? null, apiKey: values.MODEL_GATEWAY_API_KEY ?? null },
      hasWorkersAi,
    },
    patience: {
      firstByteMs: values.LLM_FIRST_BYTE_SECONDS * 1000,
      idleMs: values.LLM_IDLE_SECONDS * 1000,
      totalMs: values.LLM_TOTAL_SECONDS === 0 ? null : values.LLM_TOTAL_SECONDS * 1000,
    },
    retry: {
      attempts: values.LLM_RETRY_ATTEMPTS,
      minMs: values.LLM_RETRY_MIN_SECONDS * 1000,
      maxMs: Math.max(values.LLM_RETRY_MIN_SECONDS, values.LLM_RETRY_MAX_SECONDS) * 1000,
    },
    toolProtocol: values.LLM_TOOL_CALLS,
  }
}
