import { Mask } from '../../../src/agent/masking.ts'
import { toolsOf } from '../../../src/agent/tools/index.ts'
import {
  BadCall,
  type Outcome,
  parseArguments,
  type ToolAgent,
  type ToolContext,
  type ToolDeps,
} from '../../../src/agent/tools/tool.ts'
import { gitCommand } from '../../../src/kits/git/index.ts'
import type { ShellState } from '../../../src/kits/shell/index.ts'
import { STRANGER } from '../../../src/lib/address-policy.ts'
import type { FileSystem } from '../../../src/workspace/file-system.ts'
import { CLOSED } from '../../helpers/policies.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

type Options = {
  agent?: ToolAgent
  fs?: FileSystem
  secrets?: Record<string, string>
  /** What the output is kept clean of. */
  masked?: readonly string[]
  parts?: Partial<ToolDeps>
  /** Called whenever a tool shows something. */
  onOutput?: () => void
}

/** An agent's tools at work on a workspace in memory, as the turn uses them. */
export function openToolSession({
  agent = 'CodeActAgent',
  fs = new MemoryFileSystem(),
  secrets = {},
  masked = [],
  parts = {},
  onOutput = () => {},
}: Options = {}) {
  let shell: ShellState = { cwd: '/workspace', env: {}, variables: {} }
  const kept = new Map<string, string>()
  const shown: string[] = []
  const tools = toolsOf(agent, {
    commands: [gitCommand({ policy: CLOSED, chosenBy: STRANGER })],
    runsOn: 'edge',
    shellTimeoutMs: 80_000,
    seesImages: true,
    ...parts,
  })
  const context = (signal: AbortSignal): ToolContext => ({
    files: fs,
    runtime: async () => ({ kind: 'edge' }),
    key: 'a-call',
    shell,
    keepShell: (left) => {
      shell = { cwd: left.cwd, env: left.env, variables: left.variables }
    },
    secrets,
    signal,
    outputFilter: () => new Mask(masked).stream(),
    onOutput: (text) => {
      shown.push(text)
      onOutput()
    },
    recall: (name) => JSON.parse(kept.get(name) ?? 'null') as unknown,
    remember: (name, value) => kept.set(name, JSON.stringify(value)),
  })
  const toolNamed = (name: string) => {
    const tool = tools.find((one) => one.name === name)
    if (!tool) throw new Error(`no tool ${name}`)
    return tool
  }
  const prepare = (name: string, args: unknown) =>
    toolNamed(name).prepare(parseArguments(typeof args === 'string' ? args : JSON.stringify(args)))
  return {
    fs,
    tools,
    shown,
    kept,
    prepare,
    shell: () => shell,
    call: async (name: string, args: unknown, signal = new AbortController().signal): Promise<Outcome> =>
      prepare(name, args).run(context(signal)),
    /** What the model is told of a call that cannot be made. */
    refusal: (name: string, args: unknown): string => {
      try {
        prepare(name, args)
      } catch (error) {
        if (error instanceof BadCall) return error.message
        throw error
      }
      throw new Error(`the call of ${name} was accepted`)
    },
    write: async (path: string, content: string | Uint8Array) => {
      fs.makeDirectory(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true })
      await fs.write(path, typeof content === 'string' ? new TextEncoder().encode(content) : content)
    },
    read: async (path: string) =>
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await fs.read(path)),
  }
}
