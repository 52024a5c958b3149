// The shell of the agent. A call is a script; the next call continues in its session. In the interpreter at the edge no
// process outlives its command; on a runner the session is a real shell.

import { z } from 'zod'
import { runScript, type ScriptOutcome, type ShellCommand } from '../../kits/shell/index.ts'
import { runAction } from '../actions.ts'
import type { ActionEvent, ObservationEvent } from '../events.ts'
import { cutMiddle } from '../observations.ts'
import { failureText, folderKept, type Runtime, shownResult } from '../runtime.ts'
import { type ActionKind, textPart, withoutRemarks } from './action-kind.ts'
import {
  defineTool,
  errorOutcome,
  type Outcome,
  PositiveNumber,
  runOutcome,
  type ToolContext,
  type ToolDeps,
  type ToolUnit,
} from './tool.ts'

const BASH = 'execute_bash'

/** The longest timeout that a model may request, whatever the configured limit is. */
const MAX_TIMEOUT_MS = 600_000

const AT_THE_EDGE = `Runs a bash command or script in the workspace and answers with its output and exit code.

* The session lasts: folder and variables are those that the command before left.
* A command may be a script of many lines. It is one call with one output and one exit code, that of its last command:
  join with && what must not go on after a failure, or begin with set -e.
* This shell is an interpreter over the files of the workspace, not a machine. There are no processes and nothing goes on
  in the background: no servers, no sudo, no package managers (npm, pip, apt), no compilers and NO PYTHON.
* What there is: the usual text tools (grep, rg, sed, awk, find, sort, diff, jq, patch and their kind), git, curl, tar,
  gzip, zip, unzip, and JavaScript: \`node file.js\`, \`node -e code\`, \`node --test\`, with the files of the workspace and
  without network or packages that are not in the workspace.
* A command is stopped after its time limit; what it wrote until then is shown. Output beyond 30000 characters loses its
  middle: narrow it down with grep, head or tail instead.
* Nothing waits for input: give input through a pipe or a here-document.`

const ON_RUNNER = `Runs a bash command or script in a real shell on a machine, in the workspace, and answers with its output and exit code.

* The session lasts: folder, variables, functions, activated environments and background jobs stay from one call to the next.
* A command may be a script of many lines. It is one call with one output and one exit code, that of its last command:
  join with && what must not go on after a failure, or begin with set -e.
* A command that goes on is not stopped: after 30 seconds without output, or where the call names a timeout only after that, the call
  answers with what there is and exit code -1. Name one for what is quiet for long (installing, building). Then an empty command waits for more, is_input=true sends text or C-c, C-d, C-z to it. Start servers in the background with their
  output in a file: \`server > log 2>&1 &\`.
* Dependency folders (node_modules, .venv, target, __pycache__ and their kind) stay on the machine; everything else below
  the workspace is kept with the conversation.
* Output beyond 30000 characters loses its middle: narrow it down with grep, head or tail instead.`

const Arguments = z.object({
  command: z.string().describe('The bash command to run.'),
  is_input: z
    .union([z.enum(['true', 'false']), z.boolean()])
    .optional()
    .describe('Whether the command is input for the command that runs, instead of a new one.'),
  timeout: PositiveNumber.optional().describe('Seconds after which the call ends, 600 at most.'),
})
type Arguments = z.infer<typeof Arguments>

const NOTHING_RUNS = `No command is running that could take input: every command here has ended when its output is shown.
Nothing was run. Call the tool without is_input.`
const NO_COMMAND = 'There is no command in the call, and none is running whose output could be fetched.'

/** A shell command. A search is one, too: its tool writes the command. */
export const COMMAND: ActionKind = {
  action: 'run',
  observation: 'run',
  risk: { by: 'script', scriptOf: ({ command }) => String(command ?? '') },
  // Static: a tool wrote the command, not the model.
  asks: ({ is_static: isStatic }) => (isStatic === true ? 'never' : 'by-risk'),
  view: ({ command }) => `Running command: ${String(command ?? '')}`,
  ends: null,
  modelText: (observed) => [textPart(runText(observed))],
  replay: ({ command }) => ({ name: BASH, arguments: { command } }),
  sameAction: withoutRemarks,
  // The output may contain the time, so the command and its exit code are compared.
  sameOutcome: ({ extras }) => [extras.command, (extras.metadata as Partial<Metadata> | undefined)?.exit_code],
}

export const BASH_TOOL: ToolUnit = defineTool<Arguments>({
  name: BASH,
  description: ({ runsOn }) => (runsOn === 'runner' ? ON_RUNNER : AT_THE_EDGE),
  schema: Arguments,
  agents: ['CodeActAgent'],
  kinds: [COMMAND],
  repeatable: false,
  isPage: false,
  prepare: (deps) => (args) => ({ action: actionOf(args), run: (context) => runCall(args, deps, context) }),
})

function actionOf({ command, is_input: isInput, timeout }: Arguments): ActionEvent {
  const action = runAction('agent', command)
  return {
    ...action,
    args: { ...action.args, is_input: String(isInput ?? false) === 'true' },
    ...(timeout === undefined ? {} : { timeout }),
  }
}

async function runCall(args: Arguments, deps: ToolDeps, context: ToolContext): Promise<Outcome> {
  const { command } = args
  const workingDir = context.shell.cwd
  const runtime = await context.runtime(context.key)
  if (runtime.kind === 'missing')
    return runOutcome({ command, output: `ERROR: ${runtime.why}`, exitCode: 1, workingDir })
  if (runtime.kind === 'runner') return runOnRunner(args, runtime, context)
  if (String(args.is_input ?? false) === 'true') {
    return runOutcome({ command, output: `ERROR: ${NOTHING_RUNS}`, exitCode: 1, workingDir })
  }
  if (command.trim() === '') return runOutcome({ command, output: `ERROR: ${NO_COMMAND}`, exitCode: 1, workingDir })
  const { commands, shellTimeoutMs } = deps
  const wantedMs = args.timeout === undefined ? shellTimeoutMs : args.timeout * 1000
  const timeoutMs = Math.min(wantedMs, Math.max(shellTimeoutMs, MAX_TIMEOUT_MS))
  const outcome = await runInSession({ script: command, commands, timeoutMs }, context)
  return runOutcome({ command, ...shownOf(outcome), workingDir: outcome.cwd, remark: remarkOn(outcome, timeoutMs) })
}

async function runOnRunner(
  { command, is_input: isInput, timeout }: Arguments,
  runtime: Extract<Runtime, { kind: 'runner' }>,
  context: ToolContext,
): Promise<Outcome> {
  const { shell, secrets, key, signal, onOutput } = context
  const kind = String(isInput ?? false) === 'true' ? 'input' : command.trim() === '' ? 'more' : 'run'
  const timeoutMs = timeout === undefined ? null : timeout * 1000
  const filter = context.outputFilter()
  const call = { key, kind, text: command, cwd: shell.cwd, env: secrets, timeoutMs, signal, filter, onOutput } as const
  const result = await runtime.run(call)
  if (result.failure !== null && !result.aborted) return errorOutcome(failureText(result))
  if (!result.aborted) context.keepShell({ ...shell, cwd: folderKept(result, shell.cwd) })
  return runOutcome({ command, ...shownResult(result) })
}

export type SessionRun = { script: string; commands: readonly ShellCommand[]; timeoutMs: number }

/** Runs in the session of the conversation and stores the changed session. */
async function runInSession(run: SessionRun, context: ToolContext): Promise<ScriptOutcome> {
  const { files: fs, shell, secrets, signal } = context
  const outcome = await runScript({
    fs,
    script: run.script,
    cwd: shell.cwd,
    env: shell.env,
    secrets,
    variables: shell.variables,
    commands: run.commands,
    signal,
    limits: { timeoutMs: run.timeoutMs },
    filter: context.outputFilter(),
    onProgress: (text) => context.onOutput(text),
  })
  const { cwd, env, variables, aborted } = outcome
  if (!aborted) context.keepShell({ cwd, env, variables })
  return outcome
}

/** Without the final line end, where a terminal would show its next prompt. */
export function shownOf({ output, exitCode }: ScriptOutcome): { output: string; exitCode: number } {
  return { output: output.replace(/\n$/, ''), exitCode }
}

function remarkOn({ timedOut, aborted }: ScriptOutcome, timeoutMs: number): string {
  if (aborted) return '[The command was stopped by the user.]'
  if (!timedOut) return ''
  return `[The command was stopped after at most ${timeoutMs / 1000} seconds and does not go on. A longer limit can be set with the timeout parameter.]`
}

type Metadata = { exit_code: number; working_dir: string; prefix: string; suffix: string }

function runText({ content, extras }: ObservationEvent): string {
  const metadata = extras.metadata as Partial<Metadata>
  const { exit_code: exitCode = -1, working_dir: folder = '', prefix = '', suffix = '' } = metadata
  return [
    ...(prefix === '' ? [] : [prefix]),
    cutMiddle(content) || '[no output]',
    ...(suffix === '' ? [] : [suffix]),
    ...(folder === '' ? [] : [`[Current working directory: ${folder}]`]),
    `[Command finished with exit code ${exitCode}]`,
  ].join('\n')
}
