// Collects what the agent needs for a step: the owner's current settings and secrets, the model that they name, the tools,
// and the rules for confirmation.

import { agentToRun } from '../../../src/agent/agents.ts'
import { systemPrompt } from '../../../src/agent/prompt.ts'
import { judgementBy } from '../../../src/agent/security/judgement.ts'
import type { JudgeScript } from '../../../src/agent/security/script-judge.ts'
import type { StepConfig, StepConfigs } from '../../../src/agent/step-config.ts'
import { toolsOf } from '../../../src/agent/tools/index.ts'
import { mcpTools } from '../../../src/agent/tools/mcp.ts'
import type { Tool } from '../../../src/agent/tools/tool.ts'
import { config } from '../../../src/config.ts'
import type { Settings } from '../../../src/db/settings.ts'
import { errorFields, log } from '../../../src/lib/log.ts'
import { inTime, noAnswerWithin } from '../../../src/lib/wait-at-most.ts'
import { allowancesOf } from '../../../src/limits/budget.ts'
import { chooseModel, type ModelChoice, unknownModel, withModel } from '../../../src/llm/choose.ts'
import { languageModel } from '../../../src/llm/client.ts'
import { type LanguageModel, ModelError } from '../../../src/llm/model.ts'
import { toolServerDoor } from '../../../src/mcp/remote-server.ts'
import { callMcpTool, isOfProcess } from '../../../src/mcp/session-tools.ts'
import type { Talk } from '../talk/talk.ts'
import { talkTools } from '../talk/talk-tools.ts'
import { ownServers } from './own-servers.ts'
import type { ReplayQueue } from './replay-queue.ts'
import { requestTools } from './request-tools.ts'
import { shellCommands } from './shell-commands.ts'
import { listTools } from './tool-servers.ts'
import type { TurnHost } from './turn-host.ts'

const DEFAULT_ITERATIONS = 500
/** A database that does not answer within this time counts as unavailable, so that no turn waits without end. */
const SETTINGS_WITHIN_MS = 21_000
/** The most model answers in one turn of a talk. */
const TALK_ITERATIONS = 16
const NO_MODEL = 'No model is set any more (no llm configured).'

/** `severity`: the lowest risk for which an action waits for confirmation; null for the default. */
type OwnerConfig = { settings: Settings; severity: number | null }

export class OwnerStepConfigs implements StepConfigs {
  readonly #host: TurnHost
  /** A replayed recording needs the agent's tools, but no model. */
  readonly #replay: Pick<ReplayQueue, 'isPlaying'>
  #newest: StepConfig | null = null
  #model: { key: string; model: Promise<LanguageModel> } | null = null

  constructor(host: TurnHost, replay: Pick<ReplayQueue, 'isPlaying'>) {
    this.#host = host
    this.#replay = replay
  }

  /**
   * For a call of the newest answer: the tools that the model was offered, judged with the current settings. Created
   * here if there are none yet.
   */
  async current(signal: AbortSignal): Promise<StepConfig> {
    if (this.#newest === null) return this.renew(signal)
    if (this.#host.talk !== null) return this.#newest
    const { tools } = this.#newest
    const ownerConfig = await this.#ownerConfigOrNull()
    if (ownerConfig !== null && this.#newest.tools === tools) {
      this.#newest = { ...this.#newest, judge: await this.#judge(ownerConfig, tools) }
    }
    return this.#newest
  }

  /** The model alone, for requests that are not a step of the agent. Throws like `renew`. */
  async model(): Promise<LanguageModel | null> {
    if (this.#newest !== null) return this.#newest.model
    const ownerConfig = await this.#ownerConfig()
    const choice = ownerConfig === null ? null : this.#choice(ownerConfig.settings)
    return choice === null ? null : this.#modelOf(choice)
  }

  /** Throws `ModelError` when the settings cannot be read, or name a model that is not usable. */
  async renew(signal: AbortSignal): Promise<StepConfig> {
    const ownerConfig = await this.#ownerConfig()
    // Without the database the last configuration is used.
    if (ownerConfig === null) {
      if (this.#newest !== null) return this.#newest
      throw new ModelError('unavailable', 'The settings cannot be read at the moment.')
    }
    const { settings } = ownerConfig
    // A recording needs no model: an unusable model is an error only after the recording.
    const choice = this.#replay.isPlaying ? this.#askable(settings) : this.#choice(settings)
    const model = choice === null ? null : await this.#modelOf(choice)
    const { talk } = this.#host
    if (talk !== null) {
      this.#newest = this.#talkConfig(talk, model, settings)
      return this.#newest
    }
    const { agent, isUnknown } = agentToRun(settings.agent, {
      model: model !== null,
      recording: this.#replay.isPlaying,
    })
    const tools = await this.#tools(agent, { model, settings, signal })
    const stepConfig: StepConfig = {
      agent,
      isUnknownAgent: isUnknown,
      model,
      system: agent === 'ShellAgent' ? '' : systemPrompt(agent),
      tools,
      maxIterations: settings.maxIterations ?? DEFAULT_ITERATIONS,
      maxBudget: settings.maxBudgetPerTask === 0 ? null : settings.maxBudgetPerTask,
      condenses: settings.enableDefaultCondenser,
      judge: await this.#judge(ownerConfig, tools),
    }
    this.#newest = stepConfig
    return stepConfig
  }

  /** The tools only read, and no user is there to confirm anything. */
  #talkConfig(talk: Talk, model: LanguageModel | null, settings: Settings): StepConfig {
    // Without a model a message would be run as a script.
    if (model === null) throw new ModelError('authentication', NO_MODEL)
    const { env, record } = this.#host
    const { system } = talk.brief
    return {
      agent: 'ReadOnlyAgent',
      isUnknownAgent: false,
      model,
      system: `${system}\nStocks of this talk: ${talk.codes.join(', ') || 'none yet'}.`,
      tools: talkTools({ env, owner: record.value.owner, talk }),
      maxIterations: Math.min(settings.maxIterations ?? DEFAULT_ITERATIONS, TALK_ITERATIONS),
      maxBudget: settings.maxBudgetPerTask === 0 ? null : settings.maxBudgetPerTask,
      condenses: settings.enableDefaultCondenser,
      judge: () => ({ risk: null, reasons: [], needsConfirmation: false }),
    }
  }

  async #judge(ownerConfig: OwnerConfig, tools: ReadonlyMap<string, Tool>): Promise<StepConfig['judge']> {
    const { secrets, turn, files } = this.#host
    const judgeScript = await scriptJudge(ownerConfig.settings)
    const scene = () => ({ shell: turn.value.shell, files, secretNames: Object.keys(secrets.variables) })
    return judgementBy({ ...ownerConfig, judgeScript, tools, scene })
  }

  #askable(settings: Settings): ModelChoice | null {
    const choice = chooseModel(settings, config(this.#host.env).models.operator)
    return choice === 'needs-address' || choice === 'needs-key' ? null : choice
  }

  #choice(settings: Settings): ModelChoice | null {
    const { operator } = config(this.#host.env).models
    const choice = chooseModel(settings, operator)
    if (choice === 'needs-address') throw new ModelError('bad_request', unknownModel(settings, operator))
    if (choice !== 'needs-key') return choice
    const name = settings.llmModel ?? ''
    throw new ModelError('authentication', `The model ${name} needs an API key. Add it in the settings.`)
  }

  /** Null also when the settings cannot be read: then the last ones are used. */
  async #ownerConfigOrNull(): Promise<OwnerConfig | null> {
    try {
      return await this.#ownerConfig()
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      log.warn('agent.settings_unreadable', errorFields(error))
      return null
    }
  }

  /** Null without the database. */
  async #ownerConfig(): Promise<OwnerConfig | null> {
    try {
      const { settings: read, riskSeverity } = await inTime(
        SETTINGS_WITHIN_MS,
        this.#host.secrets.refresh(),
        noAnswerWithin(SETTINGS_WITHIN_MS),
      )
      if (!read.ok) {
        const fields = read.unreadable.join(', ')
        throw new ModelError('bad_request', `These settings cannot be read any more; set them again: ${fields}.`)
      }
      const { env, budget } = this.#host
      budget.allowances = allowancesOf(read.settings, config(env).budget)
      return { settings: this.#chosen(read.settings), severity: riskSeverity }
    } catch (error) {
      if (error instanceof ModelError) throw error
      log.warn('agent.settings_away', errorFields(error))
      return null
    }
  }

  #chosen(settings: Settings): Settings {
    const { agent, model } = this.#host.record.value.choice ?? { agent: null, model: null }
    return { ...withModel(settings, model), agent: agent ?? settings.agent }
  }

  /** Kept between answers, because it remembers which parameters its vendor refuses. */
  #modelOf(choice: ModelChoice): Promise<LanguageModel> {
    const key = JSON.stringify(choice)
    if (this.#model?.key !== key) {
      const { env, noteCall: onCall, budget } = this.#host
      this.#model = { key, model: languageModel(choice, { ...modelDeps(env), purse: budget.purse, onCall }) }
    }
    return this.#model.model
  }

  async #tools(
    agent: StepConfig['agent'],
    { model, settings, signal }: { model: LanguageModel | null; settings: Settings; signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Tool>> {
    if (agent === 'ShellAgent') return new Map()
    const { shellTimeoutMs, addressPolicy } = config(this.#host.env)
    const { env, record, runner } = this.#host
    const commands = shellCommands(env, record.value)
    const browse = { policy: addressPolicy }
    const runsOn = (await runner.choose(null)).kind === 'runner' ? 'runner' : 'edge'
    const seesImages = model?.seesImages ?? false
    const parts = runsOn === 'runner' ? runner.parts : {}
    const basic = toolsOf(agent, { commands, runsOn, ...parts, shellTimeoutMs, seesImages, browse })
    if (agent === 'ReadOnlyAgent') return byName(basic)
    const own = [...basic, ...requestTools(this.#host)]
    const servers = (await ownServers(env, record.value)) ?? settings.mcpServers
    if (servers === null) return byName(own)
    const listed = await listTools(this.#host, { servers, hasRunner: runsOn === 'runner', signal })
    const { processes } = runner
    const call = { servers, processes, door: toolServerDoor(addressPolicy), conversationId: record.value.id }
    return byName([
      ...own,
      ...mcpTools(listed, (tool, args, { key: effect, signal: stop }) => {
        if (isOfProcess(tool)) processes.call.plan(effect)
        return callMcpTool(tool, args, { ...call, effect, signal: stop })
      }),
    ])
  }
}

const byName = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, tool]))

/** Null when no analyzer is set. It contains the shell's parser, so it is loaded only when it is used. */
async function scriptJudge({ securityAnalyzer }: Settings): Promise<JudgeScript | null> {
  if (securityAnalyzer === null || securityAnalyzer === '') return null
  const { loadScriptJudge } = await import('../../../src/agent/security/script-judge.ts')
  return loadScriptJudge()
}

/** What a request to a model needs besides the choice of the model. */
function modelDeps(env: Env) {
  const { addressPolicy, models } = config(env)
  const { patience, toolProtocol } = models
  return { addressPolicy, patience, toolProtocol, ai: 'AI' in env ? env.AI : undefined }
}
