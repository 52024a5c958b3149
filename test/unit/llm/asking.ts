// A model at the scripted server, in any of the dialects that are spoken over HTTP.

import { onTestFinished, vi } from 'vitest'
import type { ModelDeps } from '../../../src/llm/ask.ts'
import type { ModelChoice } from '../../../src/llm/choose.ts'
import { languageModel } from '../../../src/llm/client.ts'
import { ModelError, type Prompt } from '../../../src/llm/model.ts'
import { allowing } from '../../helpers/policies.ts'
import type { Scripted } from '../../helpers/scripted-model.ts'

export const KEY = 'sk-canary-5f1d2c3b4a'
const LIMIT_MS = 60_000
export const PATIENCE = { firstByteMs: LIMIT_MS, idleMs: LIMIT_MS, totalMs: null }
export const DEPS: ModelDeps = { addressPolicy: allowing('127.0.0.1'), purse: null }
export const PROMPT: Prompt = {
  system: '',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [{ name: 'execute_bash', description: '', parameters: { type: 'object', properties: {} } }],
}

export type Dialect = 'openai-chat' | 'anthropic' | 'google' | 'openai-responses'
export const ALL: readonly Dialect[] = ['openai-chat', 'anthropic', 'google', 'openai-responses']
const MODELS: Record<Dialect, string> = {
  'openai-chat': 'gpt-4o',
  anthropic: 'claude-sonnet-4-20250514',
  google: 'gemini-2.5-pro',
  'openai-responses': 'gpt-5',
}

export function modelAt(server: Pick<Scripted, 'baseUrl' | 'googleUrl'>, dialect: Dialect, deps: ModelDeps = DEPS) {
  const choice: ModelChoice = {
    id: `test/${MODELS[dialect]}`,
    label: 'The vendor',
    dialect,
    model: MODELS[dialect],
    baseUrl: dialect === 'google' ? server.googleUrl : server.baseUrl,
    apiKey: KEY,
    isTrustedAddress: false,
  }
  return languageModel(choice, deps)
}

/** From here to the end of the test no time passes but what the test lets pass. */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** How it fails when the time allowed has passed, on a stopped clock. */
export async function failureLate(asked: Promise<unknown>): Promise<ModelError> {
  const failing = failureOf(asked)
  vi.advanceTimersByTime(LIMIT_MS)
  return failing
}

export async function failureOf(asked: Promise<unknown>): Promise<ModelError> {
  const error = await asked.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ModelError)) throw new Error(`no ModelError: ${String(error)}`)
  return error
}
