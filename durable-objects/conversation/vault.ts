// What the owner keeps secret, for as long as this instance lives: the variables of the shell, and the mask without which
// nothing is stored. A sealed copy outlives the instance, so that a message that arrives while the database is away is
// masked all the same.

import { z } from 'zod'
import type { NewEvent } from '../../src/agent/events.ts'
import { Mask, type MaskedStream } from '../../src/agent/masking.ts'
import { config } from '../../src/config.ts'
import { type AgentMeans, agentMeans } from '../../src/db/agent-means.ts'
import { sealKeys } from '../../src/db/sealed.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { seal, unseal } from '../../src/lib/seal.ts'
import { NamedTexts } from './named-texts.ts'

const Kept = z.object({
  variables: z.record(z.string(), z.string()),
  descriptions: z.record(z.string(), z.string()),
  /** Secrets that the shell does not see: keys of models and tool servers. */
  others: z.array(z.string()),
})
type Kept = z.infer<typeof Kept>

const NOTHING: Kept = { variables: {}, descriptions: {}, others: [] }
const NAME = 'vault'
/** How long a message may wait for the database before it is stored. */
const OPEN_WAIT_MS = 5_000

export class Vault {
  readonly #env: Env
  readonly #texts: NamedTexts
  readonly #owner: string
  readonly #conversation: string
  #kept: Kept = NOTHING
  #text = JSON.stringify(NOTHING)
  #mask = new Mask([])
  #opening: Promise<void> | null = null
  #isOpen = false

  constructor(env: Env, sql: SqlStorage, { owner, id }: { owner: string; id: string }) {
    this.#env = env
    this.#texts = new NamedTexts(sql, 'meta')
    this.#owner = owner
    this.#conversation = id
  }

  /** Whether the values are there; until then nothing must be stored. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Environment variables of the shell, by name. */
  get variables(): Readonly<Record<string, string>> {
    return this.#kept.variables
  }

  /** What the owner says of each custom secret, by name. */
  get descriptions(): Readonly<Record<string, string>> {
    return this.#kept.descriptions
  }

  /** Never throws: without the database the copy serves, and without a copy there is nothing to mask by. */
  open(): Promise<void> {
    this.#opening ??= this.#open()
    return this.#opening
  }

  /** Reads everything anew, and what else the agent works by along with it. Throws when the database is away. */
  async refresh(): Promise<Pick<AgentMeans, 'settings' | 'riskSeverity'>> {
    const { settings, secrets, tokens, riskSeverity } = await agentMeans(this.#env, this.#owner)
    const kept: Kept = { variables: {}, descriptions: {}, others: [] }
    for (const { provider, token } of tokens.ok ? tokens.tokens : []) {
      if (token !== '') kept.variables[`${provider.toUpperCase()}_TOKEN`] = token
    }
    for (const { name, value, description } of secrets.ok ? secrets.secrets : []) {
      kept.variables[name.toUpperCase()] = value
      kept.descriptions[name.toUpperCase()] = description
    }
    if (settings.ok) kept.others.push(...keysIn(settings.settings))
    await this.#keep(kept)
    return { settings, riskSeverity }
  }

  mask(event: NewEvent): NewEvent {
    return this.#mask.event(event)
  }

  maskText(text: string): string {
    return this.#mask.text(text)
  }

  /** Masks a text that comes in pieces. */
  stream(): MaskedStream {
    return this.#mask.stream()
  }

  async #open(): Promise<void> {
    try {
      await inTime(this.refresh())
    } catch (error) {
      log.warn('vault.database_away', errorFields(error))
      const copy = await this.#copy()
      if (copy !== null) this.#use(copy)
      // The next one who asks tries again.
      this.#opening = null
    }
    this.#isOpen = true
  }

  #use(kept: Kept): void {
    this.#kept = kept
    this.#text = JSON.stringify(kept)
    this.#mask = new Mask([...Object.values(kept.variables), ...kept.others])
  }

  async #keep(kept: Kept): Promise<void> {
    const text = JSON.stringify(kept)
    if (text === this.#text) return
    this.#use(kept)
    if (config(this.#env).secretsKey === null) return
    const sealed = await seal(sealKeys(this.#env), text, this.#context)
    this.#texts.put(NAME, JSON.stringify(sealed))
  }

  async #copy(): Promise<Kept | null> {
    const stored = this.#texts.get(NAME)
    if (stored === null) return null
    const opened = await unseal(sealKeys(this.#env), JSON.parse(stored) as string, this.#context)
    if (!opened.ok) {
      log.error('vault.unreadable', { reason: opened.reason })
      return null
    }
    return Kept.parse(JSON.parse(opened.text))
  }

  get #context(): string[] {
    return ['vault', this.#owner, this.#conversation]
  }
}

/** A database that does not answer is one that is away. */
async function inTime(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the database did not answer in time')), OPEN_WAIT_MS)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

type Keys = { llmApiKey: string | null; searchApiKey: string | null; mcpServers: Servers | null }
type Servers = { sse: { apiKey: string | null }[]; shttp: { apiKey: string | null }[]; stdio: { env: object }[] }

function keysIn({ llmApiKey, searchApiKey, mcpServers }: Keys): string[] {
  const servers = mcpServers === null ? [] : [...mcpServers.sse, ...mcpServers.shttp].map(({ apiKey }) => apiKey)
  return [llmApiKey, searchApiKey, ...servers].filter((key): key is string => key !== null && key !== '')
}
