// Settings as they travel. A field that is absent is kept; what null means is told in `settings-wire.ts`.

import { z } from '@hono/zod-openapi'
import { line, pastedKey } from '../../http/text.ts'
import { laxBool, laxInt, laxNumber } from '../../http/validation.ts'
import { MCPConfig, ProviderType } from './schemas.ts'

const text = () => line({ max: 4_096 }).nullish()
const key = () => pastedKey({ max: 16_384 }).nullish()
const amount = () => laxInt({ min: 0 }).nullish()
/** Empty where there is none. */
const address = () =>
  line({ max: 4_096 })
    .refine((value) => value.trim() === '' || isWebAddress(value.trim()), {
      error: 'must be an address such as https://models.example.com/v1',
    })
    .nullish()
const flag = () => laxBool().nullish()
/** Clients send back what they read, and they read booleans here. */
const firmFlag = () => laxBool().optional()

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

export const SettingsBody = z
  .object({
    language: text(),
    agent: text(),
    max_iterations: laxInt({ min: 1 }).nullish(),
    security_analyzer: text(),
    confirmation_mode: flag(),
    llm_model: text(),
    llm_api_key: key(),
    llm_base_url: address(),
    remote_runtime_resource_factor: amount(),
    enable_default_condenser: firmFlag(),
    enable_sound_notifications: firmFlag(),
    enable_proactive_conversation_starters: firmFlag(),
    enable_solvability_analysis: firmFlag(),
    user_consents_to_analytics: flag(),
    sandbox_base_container_image: text(),
    sandbox_runtime_container_image: text(),
    mcp_config: MCPConfig.nullish(),
    search_api_key: key(),
    /** False without a key clears the stored one, which an empty key does not. */
    search_api_key_set: flag(),
    sandbox_api_key: key(),
    max_budget_per_task: laxNumber({ min: 0 }).nullish(),
    email: text(),
    email_verified: flag(),
    git_user_name: text(),
    git_user_email: text(),
  })
  .openapi('Settings')
export type SettingsBody = z.infer<typeof SettingsBody>

/** It stands in the settings for clients that expect it, and is always empty there. */
const UserSecretsOutput = z
  .object({
    provider_tokens: z.record(z.string(), z.unknown()).optional(),
    custom_secrets: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('UserSecrets-Output')

const shown = () => z.string().nullable()
const never = () => z.string().nullable().openapi({ format: 'password', writeOnly: true })

export const GETSettingsModel = z
  .object({
    language: shown(),
    agent: shown(),
    max_iterations: z.int().nullable(),
    security_analyzer: shown(),
    confirmation_mode: z.boolean().nullable(),
    llm_model: shown(),
    llm_api_key: never(),
    llm_base_url: shown(),
    remote_runtime_resource_factor: z.int().nullable(),
    enable_default_condenser: z.boolean().default(true),
    enable_sound_notifications: z.boolean().default(false),
    enable_proactive_conversation_starters: z.boolean().default(true),
    enable_solvability_analysis: z.boolean().default(true),
    user_consents_to_analytics: z.boolean().nullable(),
    sandbox_base_container_image: shown(),
    sandbox_runtime_container_image: shown(),
    mcp_config: MCPConfig.nullable(),
    search_api_key: never(),
    sandbox_api_key: never(),
    max_budget_per_task: z.number().nullable(),
    email: shown(),
    email_verified: z.boolean().nullable(),
    git_user_name: shown(),
    git_user_email: shown(),
    secrets_store: UserSecretsOutput,
    provider_tokens_set: z.partialRecord(ProviderType, z.string().nullable()).nullable(),
    llm_api_key_set: z.boolean(),
    search_api_key_set: z.boolean().default(false),
  })
  .openapi('GETSettingsModel')
export type GETSettingsModel = z.infer<typeof GETSettingsModel>
