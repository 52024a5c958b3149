// The owner's current secrets: the variables of the shell, and the mask that every stored event passes. Before the
// secrets are read, the owner's object is asked to report every change. As long as it has reported none and its promise
// is valid, nothing is read again. A sealed copy survives the instance, so that a message is masked even when the
// database is unavailable.
//
// Reads are never shared between calls. Otherwise a call inside `blockConcurrencyWhile` could wait for the read of a
// call that it blocks, which would never end.

import { z } from 'zod'
import { Mask, MaskedStream } from '../../../src/agent/masking.ts'
import { conversationId, owner as ownerOf } from '../../../src/bindings.ts'
import { config } from '../../../src/config.ts'
import { type AgentConfig, agentConfig } from '../../../src/db/agent-config.ts'
import { sealKeys } from '../../../src/db/sealed.ts'
import type { McpServers } from '../../../src/db/settings.ts'
import { seal, unseal } from '../../../src/lib/crypto.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { inTime, noAnswerWithin } from '../../../src/lib/wait-at-most.ts'
import { NamedTexts } from '../../named-texts.ts'
import type { ConversationRecord } from '../schema.ts'
import { ownServers } from './own-servers.ts'
import { secretsInServers, secretsInSettings, secretsInToken } from './secret-values.ts'

const StoredSecrets = z.object({
  variables: z.record(z.string(), z.string()),
  descriptions: z.record(z.string(), z.string()),
  /** Secrets that the shell does not see: keys of models and tool servers. */
  others: z.array(z.string()),
})
type StoredSecrets = z.infer<typeof StoredSecrets>

const NOTHING: StoredSecrets = { variables: {}, descriptions: {}, others: [] }
/** Stored data uses this name: in the table, and when the values are sealed. */
const NAME = 'vault'
/** How long a message may wait for the database before it is stored. */
const OPEN_WAIT_MS = 5_000
/** How long the owner's object may take to promise that it will report changes. */
const HOLD_WAIT_MS = 2_000
/** After the database was unavailable, calls do not wait for it again for this long. */
const AWAY_MS = 5_000

/** The owner of the secrets, and the conversation with its own tool servers. */
export type SecretOwner = Pick<ConversationRecord, 'owner' | 'id' | 'toolServers'>

export class SecretMasker {
  readonly #env: Env
  readonly #texts: NamedTexts
  readonly #of: SecretOwner
  #kept: StoredSecrets = NOTHING
  #text = JSON.stringify(NOTHING)
  #mask = new Mask([])
  #isOpen = false
  /** How many changes the owner's object has reported, and how many of them the values here include. */
  #changes = 0
  #seenChanges = 0
  /** The promise of the owner's object: when it was asked for, and how long it is valid. */
  #word = { at: 0, ms: 0 }
  #awayAt: number | null = null
  /** Reads are numbered, so that a slow read does not overwrite the values of a later one. */
  #begunReads = 0
  #newestRead = 0

  constructor(env: Env, sql: SqlStorage, of: SecretOwner) {
    this.#env = env
    this.#texts = new NamedTexts(sql, 'meta')
    this.#of = of
  }

  /** Whether the values are current; until they are, nothing must be stored. */
  get isOpen(): boolean {
    if (!this.#isOpen) return false
    if (this.#awayAt !== null && isYoung({ at: this.#awayAt, ms: AWAY_MS })) return true
    return this.#seenChanges === this.#changes && isYoung(this.#word)
  }

  /** For the owner's object: the values here are outdated. */
  changed(): void {
    this.#changes += 1
    this.#awayAt = null
  }

  /** Environment variables of the shell, by name. */
  get variables(): Readonly<Record<string, string>> {
    return this.#kept.variables
  }

  /** The owner's description of each custom secret, by name. */
  get descriptions(): Readonly<Record<string, string>> {
    return this.#kept.descriptions
  }

  /**
   * Never throws. Without the database it uses the last values, or the sealed copy; without a copy there is no mask.
   */
  async open(): Promise<void> {
    if (this.isOpen) return
    try {
      await inTime(OPEN_WAIT_MS, this.refresh(), noAnswerWithin(OPEN_WAIT_MS))
    } catch (error) {
      log.warn('vault.database_away', errorFields(error))
      const copy = this.#isOpen ? null : await this.#copy()
      // Another call may have read the database meanwhile.
      if (copy !== null && this.#newestRead === 0) this.#use(copy)
      this.#awayAt = Date.now()
    }
    this.#isOpen = true
  }

  /** Reads everything again, including the agent's settings. Throws when the database is unavailable. */
  async refresh(): Promise<Pick<AgentConfig, 'settings' | 'riskSeverity'>> {
    await this.#beTold()
    this.#begunReads += 1
    const read = { number: this.#begunReads, changes: this.#changes }
    const [ownerConfig, servers] = await Promise.all([
      agentConfig(this.#env, this.#of.owner),
      ownServers(this.#env, this.#of),
    ])
    await this.#keep(keptOf(ownerConfig, servers), read)
    return ownerConfig
  }

  mask<T extends object>(event: T): T {
    return this.#mask.event(event)
  }

  maskText(text: string): string {
    return this.#mask.text(text)
  }

  /** Masks a text that comes in pieces, each piece with the current secrets. */
  stream(): MaskedStream {
    return new MaskedStream(() => this.#mask)
  }

  /**
   * Subscribes to changes before anything is read, so that no change is missed in between. Without an answer every call
   * reads again.
   */
  async #beTold(): Promise<void> {
    if (isYoung({ at: this.#word.at, ms: this.#word.ms / 2 })) return
    const { owner, id } = this.#of
    const at = Date.now()
    try {
      const held = ownerOf(this.#env, owner).holdSecrets(conversationId(this.#env, owner, id))
      const ms = await inTime(HOLD_WAIT_MS, held, noAnswerWithin(HOLD_WAIT_MS))
      this.#word = { at, ms }
    } catch (error) {
      log.warn('vault.owner_away', errorFields(error))
    }
  }

  #use(kept: StoredSecrets): void {
    this.#kept = kept
    this.#text = JSON.stringify(kept)
    this.#mask = new Mask([...Object.values(kept.variables), ...kept.others])
  }

  async #keep(kept: StoredSecrets, read: { number: number; changes: number }): Promise<void> {
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

  async #copy(): Promise<StoredSecrets | null> {
    const stored = this.#texts.get(NAME)
    if (stored === null) return null
    const opened = await unseal(sealKeys(this.#env), JSON.parse(stored) as string, this.#context)
    if (!opened.ok) {
      log.error('vault.unreadable', { reason: opened.reason })
      return null
    }
    return StoredSecrets.parse(JSON.parse(opened.text))
  }

  get #context(): string[] {
    return [NAME, this.#of.owner, this.#of.id]
  }
}

/** A clock that was set back must not make an old promise valid. */
function isYoung({ at, ms }: { at: number; ms: number }): boolean {
  const age = Date.now() - at
  return age >= 0 && age < ms
}

/**
 * If one value cannot be decrypted, no value of its kind is used; but the values that can be decrypted are masked all
 * the same.
 */
function keptOf({ settings, secrets, tokens }: AgentConfig, servers: McpServers | null): StoredSecrets {
  const kept: StoredSecrets = { variables: {}, descriptions: {}, others: [] }
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
