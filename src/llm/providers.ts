// The providers of models: their dialects and what they need. A provider is the part before the first slash of a
// model's id.

export type Dialect = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google' | 'workers-ai'

/** Providers whose keys the operator can set. */
export const KEYED_PROVIDERS = [
  'openai',
  'anthropic',
  'google',
  'openrouter',
  'deepseek',
  'mistral',
  'groq',
  'xai',
] as const
export type KeyedProvider = (typeof KEYED_PROVIDERS)[number]

export type Provider = {
  readonly name: string
  readonly label: string
  readonly dialect: Dialect
  /** Null: an address must be given, or the provider is a binding. */
  readonly baseUrl: string | null
  readonly needsKey: boolean
}

const provider = (name: string, label: string, more: Omit<Provider, 'name' | 'label'>): Provider => ({
  name,
  label,
  ...more,
})
const hosted = (baseUrl: string) => ({ dialect: 'openai-chat', baseUrl, needsKey: true }) as const
const ownServer = { dialect: 'openai-chat', baseUrl: null, needsKey: false } as const

const PROVIDERS: readonly Provider[] = [
  provider('openai', 'OpenAI', { dialect: 'openai-responses', baseUrl: 'https://api.openai.com/v1', needsKey: true }),
  provider('anthropic', 'Anthropic', {
    dialect: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
  }),
  provider('google', 'Google', {
    dialect: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
  }),
  provider('openrouter', 'OpenRouter', hosted('https://openrouter.ai/api/v1')),
  provider('deepseek', 'DeepSeek', hosted('https://api.deepseek.com/v1')),
  provider('mistral', 'Mistral', hosted('https://api.mistral.ai/v1')),
  provider('groq', 'Groq', hosted('https://api.groq.com/openai/v1')),
  provider('xai', 'xAI', hosted('https://api.x.ai/v1')),
  provider('workers-ai', 'Workers AI', { dialect: 'workers-ai', baseUrl: null, needsKey: false }),
  provider('ollama', 'Ollama', { dialect: 'openai-chat', baseUrl: 'http://127.0.0.1:11434/v1', needsKey: false }),
  provider('lm_studio', 'LM Studio', { dialect: 'openai-chat', baseUrl: 'http://127.0.0.1:1234/v1', needsKey: false }),
  provider('vllm', 'vLLM', ownServer),
  provider('hosted_vllm', 'vLLM', ownServer),
  provider('litellm_proxy', 'The gateway', ownServer),
  provider('custom', 'The model server', ownServer),
]

const ALIASES: Readonly<Record<string, string>> = {
  gemini: 'google',
  ollama_chat: 'ollama',
  cloudflare: 'workers-ai',
  'cloudflare-workers-ai': 'workers-ai',
  lmstudio: 'lm_studio',
}

/** Well-known models that users name without their provider. */
const BARE_NAMES: readonly (readonly [RegExp, KeyedProvider])[] = [
  [/^(gpt-|chatgpt-|codex-|o\d(-|$))/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'google'],
  [/^(mistral|codestral|devstral|magistral|ministral|pixtral)-/, 'mistral'],
  [/^deepseek-/, 'deepseek'],
  [/^grok-/, 'xai'],
]

/** Prefixes of the hosted gateway that the web client proposes by default, and of our own. */
export const GATEWAY_PREFIXES: ReadonlySet<string> = new Set(['openhands', 'bellwether'])

/** The parts of a model's id. For an unknown provider it is null, and the model's name is the whole id. */
export function partsOf(id: string): { prefix: string | null; provider: Provider | null; model: string } {
  const slash = id.indexOf('/')
  if (slash < 1) return { prefix: null, provider: named(bareProvider(id)), model: id }
  const prefix = id.slice(0, slash).toLowerCase()
  const found = named(ALIASES[prefix] ?? prefix)
  const isKnown = found !== null || GATEWAY_PREFIXES.has(prefix)
  return { prefix, provider: found, model: isKnown ? id.slice(slash + 1) : id }
}

export function providerNamed(name: string): Provider | null {
  return named(name)
}

const named = (name: string | null): Provider | null => PROVIDERS.find((known) => known.name === name) ?? null

function bareProvider(id: string): string | null {
  const name = id.toLowerCase()
  return BARE_NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? null
}
