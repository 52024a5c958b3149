// The actions of `find` for found files.

import { type Zone, zoneOf } from '../../../../lib/clock.ts'
import { isFileError } from '../../../../workspace/file-system.ts'
import { quoted, shellMessage, withVariables } from '../../interpreter-command.ts'
import type { ShellCall } from '../../shell-extensions.ts'
import { textOf } from '../file-text.ts'
import type { Entry } from './entry.ts'
import { formatted, listingLine } from './formats.ts'
import { FindMisuse } from './misuse.ts'

export type Step = (entry: Entry) => boolean | Promise<boolean>

/** The limit of a command line on other systems. */
const MAX_COMMAND_CHARS = 128 * 1024

interface Batch {
  command: string[]
  cwd: string
  names: string[]
  chars: number
}

export class Actions {
  text = ''
  problems = ''
  hasFailed = false
  isQuitting = false
  readonly call: ShellCall
  readonly nowMs: number
  readonly zone: Zone
  /** Of `{} +`, by the action and the folder in which its command runs. */
  readonly #batches = new Map<string, Batch>()
  #batchCount = 0

  constructor(call: ShellCall, nowMs: number) {
    this.call = call
    this.nowMs = nowMs
    this.zone = zoneOf(call.env.TZ ?? '')
  }

  fail(problem: string): void {
    this.problems += `find: ${problem}\n`
    this.hasFailed = true
  }

  async run(command: readonly string[], cwd: string): Promise<boolean> {
    const script = withVariables(command.map(quoted).join(' '), { exportedEnv: { ...this.call.env } })
    const result = await this.call.execute(script, cwd)
    if (result.exitCode === 127 && result.stderr.includes('command not found')) {
      this.problems += `find: ‘${command[0]}’: No such file or directory\n`
      return false
    }
    this.text += textOf(result.stdoutBytes).text
    this.problems += result.stderr
    return result.exitCode === 0
  }

  nextBatch(): number {
    return this.#batchCount++
  }

  async gather(key: string, name: string, { command, cwd }: { command: string[]; cwd: string }): Promise<void> {
    const batch = this.#batches.get(key) ?? { command, cwd, names: [], chars: 0 }
    this.#batches.set(key, batch)
    if (batch.chars + name.length > MAX_COMMAND_CHARS) await this.#runBatch(batch)
    batch.names.push(name)
    batch.chars += name.length + 1
  }

  async finish(): Promise<void> {
    for (const batch of this.#batches.values()) await this.#runBatch(batch)
  }

  async #runBatch(batch: Batch): Promise<void> {
    if (batch.names.length === 0) return
    const { command, cwd, names } = batch
    Object.assign(batch, { names: [], chars: 0 })
    if (!(await this.run([...command, ...names], cwd))) this.hasFailed = true
  }
}

/** Takes the arguments of the action; null for an unknown name. */
export function readAction(name: string, words: string[], actions: Actions): Step | null {
  const write =
    (text: (entry: Entry) => string): Step =>
    (entry) => {
      actions.text += text(entry)
      return true
    }
  switch (name) {
    case '-print':
      return write(({ shown }) => `${shown}\n`)
    case '-print0':
      return write(({ shown }) => `${shown}\0`)
    case '-ls':
      return write((entry) => listingLine(entry, actions.nowMs, actions.zone))
    case '-printf': {
      const format = words.shift()
      if (format === undefined) throw new FindMisuse("missing argument to `-printf'")
      const written = formatted(format, actions.zone)
      return write((entry) => written(entry))
    }
    case '-prune':
      return (entry) => {
        entry.isPruned = true
        return true
      }
    case '-quit':
      return () => {
        actions.isQuitting = true
        return true
      }
    case '-delete':
      return (entry) => remove(entry, actions)
    case '-exec':
    case '-execdir':
      return execution(name, words, actions)
    default:
      return null
  }
}

function remove({ shown, path }: Entry, actions: Actions): boolean {
  // The current folder cannot be removed by this name, and this is never intended.
  if (shown === '.') return true
  try {
    actions.call.fs.remove(path)
    return true
  } catch (error) {
    if (!isFileError(error)) throw error
    actions.fail(`cannot delete ‘${shown}’: ${shellMessage(error)}`)
    return false
  }
}

function execution(name: string, words: string[], actions: Actions): Step {
  const end = words.findIndex((word, i) => word === ';' || (word === '+' && words[i - 1] === '{}'))
  if (end < 1) throw new FindMisuse(`missing argument to \`${name}'`)
  const command = words.splice(0, end)
  const isBatch = words.shift() === '+'
  const place = (entry: Entry) =>
    name === '-exec'
      ? { word: entry.shown, cwd: actions.call.cwd }
      : {
          word: entry.name === '/' ? '/' : `./${entry.name}`,
          cwd: entry.path.slice(0, entry.path.lastIndexOf('/')) || '/',
        }
  if (!isBatch) {
    return (entry) => {
      const { word, cwd } = place(entry)
      return actions.run(
        command.map((part) => part.replaceAll('{}', () => word)),
        cwd,
      )
    }
  }
  if (command.slice(0, -1).includes('{}'))
    throw new FindMisuse(`Only one instance of {} is supported with ${name} ... +`)
  const batch = actions.nextBatch()
  return async (entry) => {
    const { word, cwd } = place(entry)
    await actions.gather(`${batch}:${cwd}`, word, { command: command.slice(0, -1), cwd })
    return true
  }
}
