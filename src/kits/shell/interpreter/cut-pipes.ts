// A writer whose reader ends early is stopped (`yes | head -1`): its status is 141, which `pipefail` and PIPESTATUS
// show. Here a stage has written everything before the next one starts, so this is determined from the amounts written
// and read.

import { endShell } from './exec.ts'
import type { Watched } from './position.ts'
import type { Command, Pipeline, Statement, StepResult } from './shape.ts'
import { writtenText } from './words-alone.ts'

const CUT_OFF = 141
/** The size of a pipe's buffer without a reader, and of one read. */
const PIPE_BYTES = 65_536
const READ_BYTES = 4096

const WRITTEN = new WeakMap<Command, number>()

/** For a stage that has ended. */
export function noteWrittenBytes(node: Command, count: number): void {
  // For text beyond ASCII it is slightly more.
  WRITTEN.set(node, count)
}

export function withCutPipes({ ctx }: Watched, node: Pipeline, result: StepResult): StepResult {
  const short = node.commands.some((command, i) => isTooShort(command, node.commands[i + 1]))
  if (short) return { ...result, stderr: `${result.stderr}${TOO_SHORT}`, exitCode: 1 }
  const cut = node.commands.map((command, i) => isCut(command, node.commands[i + 1]))
  const statuses = ctx.state.arrays?.get('PIPESTATUS')?.elements
  if (!statuses || !cut.includes(true)) return result
  for (const [i, isCutOff] of cut.entries()) {
    if (isCutOff && statuses.get(String(i)) === '0') statuses.set(String(i), String(CUT_OFF))
  }
  if (!ctx.state.options.pipefail) return result
  const failed = node.commands.map((_, i) => Number(statuses.get(String(i)) ?? 0)).findLast((status) => status !== 0)
  const exitCode = node.negated ? Number(!failed) : (failed ?? 0)
  return { ...result, exitCode }
}

/** Ends a shell that has written more than its readers need; the end of an inner shell does not affect the outer one. */
export function cutOff(shell: Watched, node: Statement, result: StepResult): StepResult | Promise<StepResult> {
  const writes = node.pipelines.some(
    ({ commands: [first, ...more] }) => first?.type === 'SimpleCommand' && more.length === 0,
  )
  return writes ? endShell(shell, { exitCode: CUT_OFF, isReplaced: true }, result) : result
}

function isCut(writer: Command, reader: Command | undefined): boolean {
  if (reader === undefined || !endsEarly(reader)) return false
  return (WRITTEN.get(writer) ?? 0) > (WRITTEN.get(reader) ?? 0) + PIPE_BYTES + READ_BYTES
}

const TOO_SHORT = 'yes: more than a mebibyte for one pipe is not available here\n'

/** `yes` is limited here, and `head` has read all of it and needed more. */
function isTooShort(writer: Command, reader: Command | undefined): boolean {
  if (reader === undefined || wordsOf(writer)[0] !== 'yes' || wordsOf(reader)[0] !== 'head') return false
  const written = WRITTEN.get(writer) ?? 0
  return written > PIPE_BYTES && (WRITTEN.get(reader) ?? 0) >= written
}

function wordsOf(command: Command): string[] {
  if (command.type !== 'SimpleCommand') return []
  return [command.name, ...command.args].map((word) => word?.parts.map(writtenText).join('') ?? '')
}

const QUITS = /(?:^|[\d$/{;}!\s])[qQ]\d*\s*(?:[;}]|$)/
const EXITS = /\bexit\b/

/** Readers that end early, judging by their arguments. */
function endsEarly(reader: Command): boolean {
  const [name, ...words] = wordsOf(reader)
  // `head -n -5` reads to the end.
  if (name === 'head') return !/ ?-(?:[nc] ?|-(?:lines|bytes)=)-\d/.test(words.join(' '))
  if (name === 'sed') return words.some((word) => !/^-[a-zE]+$/.test(word) && QUITS.test(word))
  return name === 'awk' && words.some((word) => EXITS.test(word) && !/\bEND\b/.test(word))
}
