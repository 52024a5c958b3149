// What the model says and what the tools do in a simulated turn. Every call and every command carries a token of its own, so
// that whatever happens twice can be counted.

import type { StepConfig } from '../../src/agent/step-config.ts'
import { FINISH_TOOL, THINK_TOOL } from '../../src/agent/tools/control.ts'
import { BadCall, type Outcome, type Tool } from '../../src/agent/tools/tool.ts'
import type { CommandOutcome } from '../../src/agent/turn-deps.ts'
import type { ShellState } from '../../src/kits/shell/index.ts'
import { type AskOptions, type LanguageModel, ModelError, type ModelReply, type ToolCall } from '../../src/llm/model.ts'
import type { Random } from './random.ts'

export type ToolRun = { token: string; isRepeatable: boolean }

/** What the script needs of the world that it is played in. */
export type Stage = {
  readonly random: Random
  /** Time passes, what was written becomes durable, and everything may end. */
  moment(name: string, signal?: AbortSignal): Promise<void>
  /** The same for a while that only the clock knows. */
  pause(ms: number): Promise<void>
  begins(told: ToolRun): void
  took(told: ToolRun): void
}

const PARAMETERS = { type: 'object', properties: { token: { type: 'string' } } }
const MOST_ANSWERS = 4

export class Script {
  readonly #stage: Stage
  #tokens = 0
  #answers = 0

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** The next token. */
  token(): string {
    this.#tokens += 1
    return `t${this.#tokens}`
  }

  configOf = async (): Promise<StepConfig> => {
    if (this.#stage.random.chance(0.3)) await this.#stage.moment('while the settings are read')
    return {
      agent: 'CodeActAgent',
      model: this.#model,
      system: 'You are simulated.',
      tools: toolsFor(this.#stage),
      isUnknownAgent: false,
      maxIterations: 500,
      maxBudget: null,
      condenses: false,
      judge: ({ args }) => ({ risk: null, reasons: [], needsConfirmation: isHeld(String(args.command ?? '')) }),
    }
  }

  runCommand = async (command: string, shell: ShellState, signal: AbortSignal): Promise<CommandOutcome> => {
    const told = { token: command, isRepeatable: false }
    await this.#stage.moment('before a command')
    if (!signal.aborted) await perform(told, { stage: this.#stage, signal })
    return { ...shell, output: `did ${command}`, exitCode: 0, aborted: signal.aborted }
  }

  readonly #model: LanguageModel = {
    id: 'simulated/model',
    contextWindow: null,
    seesImages: false,
    ask: (_prompt, options) => this.#answer(options),
  }

  async #answer({ signal, onDelta }: AskOptions = {}): Promise<ModelReply> {
    const { random, moment } = this.#stage
    await moment('after the model is asked', signal)
    this.#answers += 1
    const text = `Answer ${this.#answers}. ${'Words. '.repeat(random.below(3) * 40)}`
    onDelta?.({ kind: 'text', text })
    await moment('while the model answers', signal)
    if (random.chance(0.1)) throw new ModelError('broken_stream', 'The answer broke off.', { partialText: text })
    const calls = this.#answers > MOST_ANSWERS ? [] : this.#calls()
    const usage = { promptTokens: 10, completionTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    const finish = calls.length === 0 ? 'stop' : 'calls'
    return { text, calls, usage, cost: 0, responseId: `r${this.#answers}`, finish, latencyMs: 1 }
  }

  #calls(): ToolCall[] {
    const { random } = this.#stage
    const dice = random.next()
    if (dice < 0.15) return []
    if (dice < 0.2) return [{ id: 'broken', name: 'once', arguments: '{"token": "t' }]
    const calls: ToolCall[] = Array.from({ length: 1 + random.below(3) }, () => ({
      id: random.pick(['', 'same', `id-${this.#tokens}`]),
      name: random.pick(['once', 'once', 'again', 'stubborn', 'think']),
      arguments: JSON.stringify({ token: this.token(), thought: `thought ${this.#tokens}` }),
    }))
    if (dice < 0.3) calls.splice(random.below(3), 0, { id: '', name: 'finish', arguments: '{"message": "Done."}' })
    return calls
  }
}

/** Some actions wait for the user's word, the same ones whenever they are looked at. */
const isHeld = (token: string): boolean => /^t\d*[37]$/.test(token)

const toolsFor = (stage: Stage): ReadonlyMap<string, Tool> =>
  new Map([tool('once', stage), tool('again', stage), tool('stubborn', stage), ...OUR_TOOLS].map(byName))

const OUR_TOOLS = [THINK_TOOL, FINISH_TOOL].flatMap(
  (unit) => unit.open({ commands: [], runsOn: 'edge', shellTimeoutMs: 1000, seesImages: false }) ?? [],
)

const byName = (known: Tool): [string, Tool] => [known.name, known]

function tool(name: 'once' | 'again' | 'stubborn', stage: Stage): Tool {
  const isRepeatable = name === 'again'
  return {
    name,
    description: '',
    parameters: PARAMETERS,
    repeatable: isRepeatable,
    hints: null,
    prepare: (args) => {
      const { token } = args as { token?: unknown }
      if (typeof token !== 'string') throw new BadCall('There is no token.')
      const action = { source: 'agent', message: token, action: 'run', args: { command: token, thought: '' } } as const
      return {
        action,
        run: async ({ signal }): Promise<Outcome> => {
          await stage.moment('before the tool')
          if (name === 'stubborn') await stage.pause(300)
          if (!signal.aborted) await perform({ token, isRepeatable }, { stage, signal })
          return { source: 'agent', message: '', observation: 'done', content: `did ${token}`, extras: {} }
        },
      }
    },
  }
}

/** The effect comes in the middle, so that a death finds it not yet begun, under way, or over and unrecorded. */
async function perform(told: ToolRun, { stage, signal }: { stage: Stage; signal: AbortSignal }): Promise<void> {
  stage.begins(told)
  await stage.moment('during the tool')
  if (signal.aborted) return
  stage.took(told)
  await stage.moment('after the effect')
}
