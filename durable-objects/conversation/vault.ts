// What the owner keeps secret, as it is now: the variables of the shell, and the mask without which nothing is stored. Before
// it is read, the owner's object is asked to tell of every change; until it does, or its word is over, nobody need look
// again. A sealed copy outlives the instance, so that a message that arrives while the database is away is masked all the
// same.
//
// A read is never shared: who waits for one that another call began, while it keeps all others from going on, waits for
// ever.

import { z } from 'zod'
import type { NewEvent } from '../../src/agent/events.ts'
import { Mask, MaskedStream } from '../../src/agent/masking.ts'
import { conversationId, owner as ownerOf } from '../../src/bindings.ts'
import { config } from '../../src/config.ts'
import { type AgentMeans, agentMeans } from '../../src/db/agent-means.ts'
import { sealKeys } from '../../src/db/sealed.ts'
import type { McpServers } from '../../src/db/settings.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { seal, unseal } from '../../src/lib/seal.ts'
import type { ConversationRecord } from './meta.ts'
import { NamedTexts } from './named-texts.ts'
import { ownServers } from './own-servers.ts'
import { secretsInServers, secretsInSettings, secretsInToken } from './secret-values.ts'

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
/** How long the owner's object may take to say that it will tell of changes. */
const HOLD_WAIT_MS = 2_000
/** While the database is away, others do not wait for it as well. */
const AWAY_MS = 5_000

/** Whose secrets they are, and the conversation with the tool servers that it has for itself. */
export type VaultOf = Pick<ConversationRecord, 'owner' | 'id' | 'toolServers'>

export class Vault {
  readonly #env: Env
  readonly #texts: NamedTexts
  readonly #of: VaultOf
  #kept: Kept = NOTHING
  #text = JSON.stringify(NOTHING)
  #mask = new Mask([])
  #isOpen = false
  /** Of how many changes the owner's object told, and how many of them are in what is kept. */
  #changes = 0
  #seenChanges = 0
  /** The word of the owner's object: when it was asked for, and for how long it holds. */
  #word = { at: 0, ms: 0 }
  #awayAt: number | null = null
  /** Reads are counted, so that a slow one does not bring back what a later one found changed. */
  #begunReads = 0
  #newestRead = 0

  constructor(env: Env, sql: SqlStorage, of: VaultOf) {
    this.#env = env
    this.#texts = new NamedTexts(sql, 'meta')
    this.#of = of
  }

  /** Whether the values are there as they are now; until then nothing must be stored. */
  get isOpen(): boolean {
    if (!this.#isOpen) return false
    if (this.#awayAt !== null && isYoung({ at: this.#awayAt, ms: AWAY_MS })) return true
    return this.#seenChanges === this.#changes && isYoung(this.#word)
  }

  /** For the owner's object: what is kept here is not what is stored any more. */
  changed(): void {
    this.#changes += 1
    this.#awayAt = null
  }

  /** Environment variables of the shell, by name. */
  get variables(): Readonly<Record<string, string>> {
    return this.#kept.variables
  }

  /** What the owner says of each custom secret, by name. */
  get descriptions(): Readonly<Record<string, string>> {
    return this.#kept.descriptions
  }

  /** Never throws: without the database what was known serves, or the copy; without a copy there is nothing to mask by. */
  async open(): Promise<void> {
    if (this.isOpen) return
    try {
      await inTime(this.refresh(), OPEN_WAIT_MS)
    } catch (error) {
      log.warn('vault.database_away', errorFields(error))
      const copy = this.#isOpen ? null : await this.#copy()
      // Another call may have found the database there meanwhile.
      if (copy !== null && this.#newestRead === 0) this.#use(copy)
      this.#awayAt = Date.now()
    }
    this.#isOpen = true
  }

  /** Reads everything anew, and what else the agent works by along with it. Throws when the database is away. */
  async refresh(): Promise<Pick<AgentMeans, 'settings' | 'riskSeverity'>> {
    await this.#beTold()
    this.#begunReads += 1
    const read = { number: this.#begunReads, changes: this.#changes }
    const [means, servers] = await Promise.all([agentMeans(this.#env, this.#of.owner), ownServers(this.#env, this.#of)])
    await this.#keep(keptOf(means, servers), read)
    return means
  }

  mask(event: NewEvent): NewEvent {
    return this.#mask.event(event)
  }

  maskText(text: string): string {
    return this.#mask.text(text)
  }

  /** Masks a text that comes in pieces, each by what is secret when it comes. */
  stream(): MaskedStream {
    return new MaskedStream(() => this.#mask)
  }

  /** Asked before anything is read: no change can slip through between the two. Without the object everybody reads anew. */
  async #beTold(): Promise<void> {
    if (isYoung({ at: this.#word.at, ms: this.#word.ms / 2 })) return
    const { owner, id } = this.#of
    const at = Date.now()
    try {
      const ms = await inTime(ownerOf(this.#env, owner).holdSecrets(conversationId(this.#env, owner, id)), HOLD_WAIT_MS)
      this.#word = { at, ms }
    } catch (error) {
      log.warn('vault.owner_away', errorFields(error))
    }
  }

  #use(kept: Kept): void {
    this.#kept = kept
    this.#text = JSON.stringify(kept)
    this.#mask = new Mask([...Object.values(kept.variables), ...kept.others])
  }

  async #keep(kept: Kept, read: { number: number; changes: number }): Promise<void> {
    if (read.number < this.#newestRead) return
    this.#newestRead = read.number
    this.#seenChanges = read.changes
    this.#awayAt = null
    this.#isOpen = true
    const text = JSON.stringify(kept)
    if (text === this.#text) return
    this.#use(kept)
    if (config(this.#env).secretsKey === null) return
    const sealed = await seal(sealKeys(this.#env), text, this.#context)
    if (read.number === this.#newestRead) this.#texts.put(NAME, JSON.stringify(sealed))
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
    return ['vault', this.#of.owner, this.#of.id]
  }
}

/** A clock that was set back makes nothing young. */
function isYoung({ at, ms }: { at: number; ms: number }): boolean {
  const age = Date.now() - at
  return age >= 0 && age < ms
}

/** Who does not answer is away. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Where one value cannot be opened none of its kind serves, but those that can be are masked all the same. */
function keptOf({ settings, secrets, tokens }: AgentMeans, servers: McpServers | null): Kept {
  const kept: Kept = { variables: {}, descriptions: {}, others: [] }
  for (const { provider, token } of tokens.ok ? tokens.tokens : []) {
    if (token !== '') kept.variables[`${provider.toUpperCase()}_TOKEN`] = token
    kept.others.push(...secretsInToken(token))
  }
  for (const { name, value, description } of secrets.ok ? secrets.secrets : []) {
    kept.variables[name.toUpperCase()] = value
    kept.descriptions[name.toUpperCase()] = description
  }
  if (!tokens.ok) kept.others.push(...tokens.others, ...tokens.others.flatMap(secretsInToken))
  if (!secrets.ok) kept.others.push(...secrets.others.map(({ value }) => value))
  kept.others.push(...secretsInSettings(settings.ok ? settings.settings : settings.others))
  if (servers !== null) kept.others.push(...secretsInServers(servers))
  return kept
}
