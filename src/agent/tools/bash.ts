// The shell of the agent. A call is a script; where it leaves off, the next one begins. Nothing goes on after a
// command has ended: there is no process that could.

import { z } from 'zod'
import { runScript, type ScriptOutcome } from '../../workspace/shell.ts'
import type { ShellCommand } from '../../workspace/shell-extensions.ts'
import { runAction } from '../actions.ts'
import type { ActionEvent } from '../events.ts'
import { defineTool, PositiveNumber } from './define-tool.ts'
import { runOutcome } from './outcomes.ts'
import type { Outcome, Tool, ToolContext } from './tool.ts'

export type ShellParts = {
  /** What the shell has besides its own commands. */
  readonly commands: readonly ShellCommand[]
  /** Of a command for which the model asks for nothing else. */
  readonly timeoutMs: number
  /** As much as the model may ask for. */
  readonly maxTimeoutMs: number
}

const DESCRIPTION = `Runs a bash command or script in the workspace and answers with its output and exit code.

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

const Arguments = z.object({
  command: z.string().describe('The bash command to run.'),
  is_input: z
    .union([z.enum(['true', 'false']), z.boolean()])
    .optional()
    .describe('Input for a running command. No command keeps running here, so leave it out.'),
  timeout: PositiveNumber.optional().describe('Seconds after which the command is stopped.'),
})
type Arguments = z.infer<typeof Arguments>

const NOTHING_RUNS = `No command is running that could take input: every command here has ended when its output is shown.
Nothing was run. Call the tool without is_input.`
const NO_COMMAND = 'There is no command in the call, and none is running whose output could be fetched.'

export function bashTool(parts: ShellParts): Tool {
  return defineTool<Arguments>({
    name: 'execute_bash',
    description: DESCRIPTION,
    schema: Arguments,
    repeatable: false,
    prepare: (args) => ({ action: actionOf(args), run: (context) => runCall(args, parts, context) }),
  })
}

function actionOf({ command, is_input: isInput, timeout }: Arguments): ActionEvent {
  const action = runAction('agent', command)
  return {
    ...action,
    args: { ...action.args, is_input: String(isInput ?? false) === 'true' },
    ...(timeout === undefined ? {} : { timeout }),
  }
}

async function runCall(args: Arguments, parts: ShellParts, context: ToolContext): Promise<Outcome> {
  const { command } = args
  const workingDir = context.shell.cwd
  if (String(args.is_input ?? false) === 'true') {
    return runOutcome({ command, output: `ERROR: ${NOTHING_RUNS}`, exitCode: 1, workingDir })
  }
  if (command.trim() === '') return runOutcome({ command, output: `ERROR: ${NO_COMMAND}`, exitCode: 1, workingDir })
  const wantedMs = args.timeout === undefined ? parts.timeoutMs : args.timeout * 1000
  const timeoutMs = Math.min(wantedMs, parts.maxTimeoutMs)
  const outcome = await runInSession({ script: command, commands: parts.commands, timeoutMs }, context)
  return runOutcome({ command, ...shownOf(outcome), workingDir: outcome.cwd, remark: remarkOn(outcome, timeoutMs) })
}

export type SessionRun = { script: string; commands: readonly ShellCommand[]; timeoutMs: number }

/** Runs in the session of the conversation and keeps what it left. */
export async function runInSession(run: SessionRun, context: ToolContext): Promise<ScriptOutcome> {
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

/** A terminal shows its next prompt where the last line ends. */
export function shownOf({ output, exitCode }: ScriptOutcome): { output: string; exitCode: number } {
  return { output: output.replace(/\n$/, ''), exitCode }
}

function remarkOn({ timedOut, aborted }: ScriptOutcome, timeoutMs: number): string {
  if (aborted) return '[The command was stopped by the user.]'
  if (!timedOut) return ''
  return `[The command was stopped after at most ${timeoutMs / 1000} seconds and does not go on. A longer limit can be set with the timeout parameter.]`
}
