// The steps of a shell with its own output table (`output-routes.ts`).

import { isBlindName } from './looking.ts'
import { OutputRedirector, splitRedirections } from './output-redirections.ts'
import {
  type CapturedStreams,
  captured,
  emitted,
  type OutputRoutes,
  shownAtOnce,
  takenRoutes,
  terminalRoutes,
  withEmitted,
} from './output-routes.ts'
import type { PendingRedirections } from './pending-redirections.ts'
import type { Position, Watched } from './position.ts'
import type { ReaderWants } from './reader-wants.ts'
import type { Command, CommandCall, StepResult } from './shape.ts'
import { callTrace } from './trace.ts'
import { isWordsAlone, type Run, writtenText } from './words-alone.ts'

/** They pass on the output of the shell they start, and write nothing else. */
const HANDING_ON: ReadonlySet<string> = new Set([
  'bash',
  'sh',
  'env',
  'nice',
  'nohup',
  'timeout',
  'setsid',
  'stdbuf',
  'xargs',
  'flock',
])
const FIND_WRITING = /^-f?(?:print0?|printf|ls)$/

function handsOn(name: string, args: readonly string[]): boolean {
  if (name !== 'find') return HANDING_ON.has(name)
  return args.some((arg) => arg.startsWith('-exec')) && !args.some((arg) => FIND_WRITING.test(arg))
}

const NAMED_DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/([3-9]|[1-9]\d+)$/

const OF_THIS_SHELL: ReadonlySet<string> = new Set(['eval', 'source', '.'])

type Step = { node: Command; run: Run; own: Run }

/** `own` is only the interpreter's step. */
export async function routedCommand(shell: Watched, position: Position, { node, run, own }: Step): Promise<StepResult> {
  const { outputs } = position
  if (outputs === null) return run(node)
  const split = splitRedirections(shell, outputs, node)
  const redirector = new OutputRedirector(shell, position, { routes: outputs, run: own, isShell: isBareExec(node) })
  if (isBareExec(node)) {
    const opened = await redirector.open(split.own)
    if ('failure' in opened) position.ending = { exitCode: 1, isReplaced: false }
    return 'failure' in opened ? opened.failure : own(split.as)
  }
  if (node.type === 'SimpleCommand') {
    const pending = { list: split.own, run: own, isDone: false }
    return withPending(position, pending, async () => {
      const result = await run(split.as)
      if (pending.isDone || split.own.length === 0) return result
      // Without a command, the redirections are opened anyway.
      const opened = await redirector.open(split.own)
      if ('failure' in opened) return opened.failure
      await opened.close()
      return result
    })
  }
  if (split.own.length === 0) return run(split.as)
  const opened = await redirector.open(split.own)
  if ('failure' in opened) return opened.failure
  try {
    return await withEmitted(shell, outputs, () => run(split.as))
  } finally {
    await opened.close()
  }
}

async function withPending<T>(position: Position, pending: PendingRedirections, run: () => Promise<T>): Promise<T> {
  const before = position.pendingOutputs
  position.pendingOutputs = pending
  try {
    return await run()
  } finally {
    position.pendingOutputs = before
  }
}

function isBareExec(node: Command): boolean {
  return (
    node.type === 'SimpleCommand' && node.args.length === 0 && node.name?.parts.map(writtenText).join('') === 'exec'
  )
}

type Call = { call: CommandCall; run: () => Promise<StepResult> }

/** A command with expanded words. */
export async function routedCall(shell: Watched, position: Position, { call, run }: Call): Promise<StepResult> {
  const { outputs, pendingOutputs: pending } = position
  const [name, args] = call
  if (outputs === null || pending === null || pending.isDone || isWordsAlone(position, name)) return run()
  pending.isDone = true
  const isDirect = handsOn(name, args)
  // The output of `set -x` comes before the command's output, and goes to the previous destination of errors.
  const trace = isDirect || pending.list.length > 0 ? await tracedCall(shell, position, call) : null
  const redirector = new OutputRedirector(shell, position, { routes: outputs, run: pending.run })
  const opened = await redirector.open(pending.list)
  if ('failure' in opened) return opened.failure
  try {
    const written = () => withNamedDescriptors(shell, outputs, args, run)
    const inherited = { routes: outputs, isDirect, isKept: position.isKept }
    return await withInherited(position, inherited, () =>
      shell.ctx.state.options.xtrace && !isDirect && pending.list.length === 0
        ? written()
        : withEmitted(shell, outputs, written, { gathers: pending.list.length === 0 && isBlindName(name) }),
    )
  } finally {
    await opened.close()
    if (trace !== null) position.shownTrace = trace
  }
}

/** A line that was shown; the interpreter returns it again in the result. */
async function tracedCall(shell: Watched, position: Position, [name, args]: CommandCall): Promise<string | null> {
  // They show it themselves.
  const isShown = shell.ctx.state.functions.has(name) || OF_THIS_SHELL.has(name)
  const line = isShown ? null : await callTrace(shell, [name, ...args])
  if (line === null || !(await shownAtOnce(position, line))) return null
  position.shownTrace = line
  return line
}

async function withInherited<T>(
  { watch }: Position,
  inherited: NonNullable<Position['watch']['inherited']>,
  run: () => Promise<T>,
): Promise<T> {
  const before = watch.inherited
  watch.inherited = inherited
  try {
    return await run()
  } finally {
    watch.inherited = before
  }
}

/** `tee /dev/fd/3`: output to a file with such a name goes to the descriptor's destination. */
async function withNamedDescriptors(
  { ctx }: Watched,
  routes: OutputRoutes,
  args: readonly string[],
  run: () => Promise<StepResult>,
): Promise<StepResult> {
  const named = [...new Set(args.flatMap((arg) => Number(NAMED_DESCRIPTOR.exec(arg)?.[1] ?? 0)))].filter(
    (descriptor) => descriptor > 0 && routes.at(descriptor) !== undefined,
  )
  if (named.length === 0) return run()
  const pathOf = (descriptor: number) => `/dev/fd/${descriptor}`
  for (const one of named) await ctx.fs.writeFile(pathOf(one), '', 'binary')
  try {
    return await run()
  } finally {
    for (const one of named) {
      const written = await ctx.fs.readFile(pathOf(one), 'binary')
      await ctx.fs.rm(pathOf(one), { force: true })
      if (written !== '') await routes.at(one)?.write(written)
    }
  }
}

/** A stage of a pipe has its own table, in which its output is the input of the next one. */
export function routedStage(
  shell: Watched,
  routes: OutputRoutes,
  { takes, wants, run }: { takes: CapturedStreams | null; wants: ReaderWants | null; run: () => Promise<StepResult> },
): Promise<StepResult> {
  return takes === null
    ? routes.within([], () => withEmitted(shell, routes, run))
    : captured(shell, routes, { takes, wants, run })
}

/** For a substitution, or a shell started by a command such as `bash -c`. */
export function routedSubshell(shell: Watched, routes: OutputRoutes, run: () => Promise<StepResult>) {
  return captured(shell, routes, { takes: 'output', run })
}

type Beginning = { needsTable: boolean; run: () => Promise<StepResult> }

/** A new shell: with the table of its parent, or with its own if its script needs one. */
export async function routedShell(
  shell: Watched,
  position: Position,
  { needsTable, run }: Beginning,
): Promise<StepResult> {
  const { inherited } = position.watch
  const { isLive } = position
  // For a shell without a terminal, the interpreter would lose the distinction of bytes and text.
  if (inherited === null && !needsTable && isLive) return run()
  const routes = inherited?.routes.copy() ?? (isLive ? terminalRoutes(shell, position) : takenRoutes())
  position.outputs = routes
  position.isLive = false
  position.isKept = inherited === null ? isLive : inherited.isDirect && inherited.isKept
  const isTaken = inherited === null ? !isLive : !inherited.isDirect
  return isTaken ? captured(shell, routes, { takes: 'each', run }) : withEmitted(shell, routes, run)
}

/**
 * A substitution, whose bytes the interpreter would treat as text; or the text of `eval` and `source`, if it is the
 * first to need a table.
 */
export async function routedText(
  shell: Watched,
  position: Position,
  { isLive, wants = null, run }: { isLive: boolean; wants?: ReaderWants | null; run: () => Promise<StepResult> },
): Promise<StepResult> {
  const { fileDescriptors } = shell.ctx.state
  if (isLive && !fileDescriptors?.has(1) && !fileDescriptors?.has(2)) {
    position.outputs = terminalRoutes(shell, position)
    return emitted(shell, position.outputs, await run())
  }
  const routes = takenRoutes()
  position.outputs = routes
  try {
    return await captured(shell, routes, { takes: 'each', wants, run })
  } finally {
    position.outputs = null
  }
}
