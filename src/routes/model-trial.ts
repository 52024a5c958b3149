// Sends one short question to a model, before its key is stored or when a user looks for an error.

import { config } from '../config.ts'
import { ownerSettings } from '../db/settings.ts'
import { ownerPurse } from '../limits/owner-purse.ts'
import { chooseModel, isChoice, type ModelChoice, type OwnModel, unknownModel } from '../llm/choose.ts'
import { type LanguageModel, ModelError, type ModelFailure } from '../llm/model.ts'

/** Longer than a working model takes for two words, and short enough for a user to wait. */
const TEST_MS = 30_000
const TEST_TOKENS = 512
const MAX_REPLY_SHOWN = 200

/** `failure` is null if the model answered. */
export type Trial = {
  ok: boolean
  model: string | null
  reply: string | null
  latency_ms: number | null
  failure: ModelFailure | 'no_model' | 'needs-key' | 'needs-address' | null
  error: string | null
}

/** The tested model, and the owner whose budget is used. */
export type Tried = OwnModel & { owner: string }

export async function triedModel(env: Env, own: Tried, totalMs = TEST_MS): Promise<Trial> {
  const { operator } = config(env).models
  const chosen = chooseModel(own, operator)
  if (isChoice(chosen)) return askedModel(chosen.id, await modelFor(env, { choice: chosen, owner: own.owner }, totalMs))
  const nothing = { ok: false, model: null, reply: null, latency_ms: null }
  if (chosen === null) return { ...nothing, failure: 'no_model', error: 'No model is named. Choose one first.' }
  if (chosen === 'needs-address') return { ...nothing, failure: chosen, error: unknownModel(own, operator) }
  return { ...nothing, failure: chosen, error: 'This model needs an API key, and none is given or stored.' }
}

/** Null if it cannot be called with these settings. */
export async function trialModel(env: Env, own: Tried, totalMs: number): Promise<LanguageModel | null> {
  const chosen = chooseModel(own, config(env).models.operator)
  return isChoice(chosen) ? modelFor(env, { choice: chosen, owner: own.owner }, totalMs) : null
}

type Payer = { choice: ModelChoice; owner: string }

async function modelFor(env: Env, { choice, owner }: Payer, totalMs: number): Promise<LanguageModel> {
  const { addressPolicy, models } = config(env)
  const { languageModel } = await import('../llm/client.ts')
  const patience = { ...models.patience, firstByteMs: totalMs, totalMs }
  const read = await ownerSettings(env, owner)
  const purse = ownerPurse(env, owner, read.ok ? read.settings : read.others)
  const deps = { addressPolicy, patience, toolProtocol: 'native' as const, ai: 'AI' in env ? env.AI : undefined, purse }
  return languageModel({ ...choice, fallbacks: [] }, deps)
}

async function askedModel(id: string, model: LanguageModel): Promise<Trial> {
  const content = [{ type: 'text' as const, text: 'Answer with the one word: ready' }]
  const prompt = {
    system: 'You are asked whether you can be reached.',
    messages: [{ role: 'user' as const, content }],
    tools: [],
  }
  try {
    const reply = await model.ask(prompt, { maxOutputTokens: TEST_TOKENS })
    const text = reply.text.trim().slice(0, MAX_REPLY_SHOWN)
    return { ok: true, model: id, reply: text, latency_ms: reply.latencyMs, failure: null, error: null }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    return { ok: false, model: id, reply: null, latency_ms: null, failure: error.kind, error: error.message }
  }
}
