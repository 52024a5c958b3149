// Gathers what the agent works with: the owner's settings and secrets as they are now, the model that follows from them,
// the tools, and what confirmation asks for.

import { agentToRun } from '../../src/agent/agents.ts'
import { systemPrompt } from '../../src/agent/prompt.ts'
import type { JudgeScript } from '../../src/agent/security/judge.ts'
import { toolsOf } from '../../src/agent/tools/index.ts'
import { mcpTools } from '../../src/agent/tools/mcp.ts'
import type { Tool } from '../../src/agent/tools/tool.ts'
import { config } from '../../src/config.ts'
import type { McpServers, Settings } from '../../src/db/settings.ts'
import { errorFields, log } from '../../src/lib/log.ts'
import { chooseModel, type ModelChoice, unknownModel } from '../../src/llm/choose.ts'
import { languageModel } from '../../src/llm/client.ts'
import { type LanguageModel, ModelError } from '../../src/llm/model.ts'
import { callMcpTool } from '../../src/mcp/call-tool.ts'
import { toolServerDoor } from '../../src/mcp/door.ts'
import type { McpTool } from '../../src/mcp/session-tools.ts'
import type { ShellCommand } from '../../src/workspace/shell-extensions.ts'
import { judgementBy, type Scene } from './judgement.ts'
import type { Outfit } from './outfit.ts'
import type { Vault } from './vault.ts'

const DEFAULT_ITERATIONS = 500

/** `severity`: the level from which an action waits; null for the usual one. */
type Means = { settings: Settings; severity: number | null }

type Parts = {
  env: Env
  owner: string
  conversationId: string
  vault: Vault
  /** Tool servers of this conversation alone; null for the owner's. */
  ownServers(): Promise<McpServers | null>
  /** The listing of these servers, asked for once. */
  listTools(servers: McpServers, signal: AbortSignal): Promise<readonly McpTool[]>
  /** Tools for pull and merge requests, as far as the owner has tokens. */
  requestTools(): Tool[]
  /** What earlier actions have left. */
  scene(): Omit<Scene, 'secretNames'>
  /** Commands of the shell that need more than the workspace. */
  commands(): readonly ShellCommand[]
}

export class Outfitter {
  readonly #parts: Parts
  #newest: Outfit | null = null
  #model: { key: string; model: Promise<LanguageModel> } | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * For a call of the newest answer: the tools that the model was told of, judged by the settings as they are now. Made
   * when nobody has yet.
   */
  async current(signal: AbortSignal): Promise<Outfit> {
    if (this.#newest === null) return this.renew(signal)
    const { tools } = this.#newest
    const means = await this.#meansOrNull()
    if (means !== null && this.#newest.tools === tools) {
      this.#newest = { ...this.#newest, judge: await this.#judge(means, tools) }
    }
    return this.#newest
  }

  /** The model alone, for what is no step of the agent's. Throws as `renew` does. */
  async model(): Promise<LanguageModel | null> {
    if (this.#newest !== null) return this.#newest.model
    const means = await this.#means()
    const choice = means === null ? null : this.#choice(means.settings)
    return choice === null ? null : this.#modelOf(choice)
  }

  /** Throws `ModelError` when the settings cannot be read, or name a model that cannot be asked. */
  async renew(signal: AbortSignal): Promise<Outfit> {
    const means = await this.#means()
    // Without the database what held before goes on holding.
    if (means === null) {
      if (this.#newest !== null) return this.#newest
      throw new ModelError('unavailable', 'The settings cannot be read at the moment.')
    }
    const { settings } = means
    const choice = this.#choice(settings)
    const model = choice === null ? null : await this.#modelOf(choice)
    const { agent, isUnknown } = agentToRun(settings.agent, model !== null)
    const tools = await this.#tools(agent, { model, settings, signal })
    const outfit: Outfit = {
      agent,
      isUnknownAgent: isUnknown,
      model,
      system: agent === 'ShellAgent' ? '' : systemPrompt(agent),
      tools,
      maxIterations: settings.maxIterations ?? DEFAULT_ITERATIONS,
      maxBudget: settings.maxBudgetPerTask === 0 ? null : settings.maxBudgetPerTask,
      condenses: settings.enableDefaultCondenser,
      judge: await this.#judge(means, tools),
    }
    this.#newest = outfit
    return outfit
  }

  async #judge(means: Means, tools: ReadonlyMap<string, Tool>): Promise<Outfit['judge']> {
    const { vault, scene } = this.#parts
    const judgeScript = await scriptJudge(means.settings)
    const secretNames = () => Object.keys(vault.variables)
    return judgementBy({ ...means, judgeScript, tools, scene: () => ({ ...scene(), secretNames: secretNames() }) })
  }

  #choice(settings: Settings): ModelChoice | null {
    const { operator } = config(this.#parts.env).models
    const choice = chooseModel(settings, operator)
    if (choice === 'needs-address') throw new ModelError('bad_request', unknownModel(settings, operator))
    if (choice !== 'needs-key') return choice
    const name = settings.llmModel ?? ''
    throw new ModelError('authentication', `The model ${name} needs an API key. Add it in the settings.`)
  }

  /** Null also when the settings cannot be read: what held goes on holding. */
  async #meansOrNull(): Promise<Means | null> {
    try {
      return await this.#means()
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      log.warn('agent.settings_unreadable', errorFields(error))
      return null
    }
  }

  /** Null without the database. */
  async #means(): Promise<Means | null> {
    try {
      const { settings: read, riskSeverity } = await this.#parts.vault.refresh()
      if (!read.ok) {
        const fields = read.unreadable.join(', ')
        throw new ModelError('bad_request', `These settings cannot be read any more; set them again: ${fields}.`)
      }
      return { settings: read.settings, severity: riskSeverity }
    } catch (error) {
      if (error instanceof ModelError) throw error
      log.warn('agent.settings_away', errorFields(error))
      return null
    }
  }

  /** Kept from answer to answer: it learns what its vendor does not take. */
  #modelOf(choice: ModelChoice): Promise<LanguageModel> {
    const key = JSON.stringify(choice)
    if (this.#model?.key !== key) {
      this.#model = { key, model: languageModel(choice, modelMeans(this.#parts.env)) }
    }
    return this.#model.model
  }

  async #tools(
    agent: Outfit['agent'],
    { model, settings, signal }: { model: LanguageModel | null; settings: Settings; signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Tool>> {
    if (agent === 'ShellAgent') return new Map()
    const { shellTimeoutMs, addressPolicy } = config(this.#parts.env)
    const commands = this.#parts.commands()
    const browse = { policy: addressPolicy }
    const basic = toolsOf(agent, { commands, shellTimeoutMs, seesImages: model?.seesImages ?? false, browse })
    if (agent === 'ReadOnlyAgent') return byName(basic)
    const own = [...basic, ...this.#parts.requestTools()]
    const servers = (await this.#parts.ownServers()) ?? settings.mcpServers
    if (servers === null) return byName(own)
    const listed = await this.#parts.listTools(servers, signal)
    const call = { servers, door: toolServerDoor(addressPolicy), conversationId: this.#parts.conversationId }
    return byName([
      ...own,
      ...mcpTools(listed, (tool, args, stop) => callMcpTool(tool, args, { ...call, signal: stop })),
    ])
  }
}

const byName = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, tool]))

/** Null without an analyzer. It holds the shell's parser, so it is loaded by those alone who want it. */
async function scriptJudge({ securityAnalyzer }: Settings): Promise<JudgeScript | null> {
  if (securityAnalyzer === null || securityAnalyzer === '') return null
  const { loadScriptJudge } = await import('../../src/agent/security/judge.ts')
  return loadScriptJudge()
}

/** What asking a model needs besides the choice. */
export function modelMeans(env: Env) {
  const { addressPolicy, models } = config(env)
  const { patience, toolProtocol } = models
  return { addressPolicy, patience, toolProtocol, ai: 'AI' in env ? env.AI : undefined }
}
