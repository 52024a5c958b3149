// The variables about language models: what the operator offers, the keys, and the timeouts.

import { z } from 'zod'
import {
  choice,
  commaList,
  decimal,
  optionalBaseUrl,
  providerKey,
  type ValuesOf,
  variable,
  wholeNumber,
} from '../lib/variables.ts'
import type { ToolProtocol } from '../llm/ask.ts'
import type { OperatorModels } from '../llm/choose.ts'
import type { KeyedProvider } from '../llm/providers.ts'
import type { RetryPlan } from '../llm/retry.ts'
import type { Patience } from '../llm/wire.ts'

const MODEL_ID = /^[^\s\p{Cc}]{1,200}$/u

const key = () => providerKey(4096)

export const MODEL_VARIABLES = {
  LLM_MODEL: variable(
    z.string().trim().regex(MODEL_ID).optional(),
    'a model such as anthropic/claude-sonnet-4-5, without blanks',
  ),
  LLM_FALLBACK_MODELS: variable(
    commaList('').pipe(z.array(z.string().regex(MODEL_ID)).max(8)),
    'a comma-separated list of at most 8 models',
  ),
  LLM_BASE_URL: optionalBaseUrl(),
  LLM_API_KEY: key(),
  OPENAI_API_KEY: key(),
  ANTHROPIC_API_KEY: key(),
  GEMINI_API_KEY: key(),
  OPENROUTER_API_KEY: key(),
  DEEPSEEK_API_KEY: key(),
  MISTRAL_API_KEY: key(),
  GROQ_API_KEY: key(),
  XAI_API_KEY: key(),
  MODEL_GATEWAY_URL: optionalBaseUrl(),
  MODEL_GATEWAY_API_KEY: key(),
  LLM_TOOL_CALLS: choice(['auto', 'native', 'prompted'], 'auto'),
  LLM_FIRST_BYTE_SECONDS: decimal(0.05, 3600, 300),
  LLM_IDLE_SECONDS: decimal(0.05, 3600, 120),
  LLM_TOTAL_SECONDS: decimal(0, 86_400, 0),
  LLM_RETRY_ATTEMPTS: wholeNumber(1, 20, 5),
  LLM_RETRY_MIN_SECONDS: decimal(0, 600, 8),
  LLM_RETRY_MAX_SECONDS: decimal(0, 3600, 64),
} as const

type Values = ValuesOf<typeof MODEL_VARIABLES>

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
