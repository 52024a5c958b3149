// The notebook of the conversation: Python cells in one kernel on its runner. Offered only if that machine has one.

import { z } from 'zod'
import type { ActionEvent } from '../events.ts'
import { failureText, type RunnerResult } from '../runtime.ts'
import { type ActionKind, always, contentOf, givenOf, textPart, withoutRemarks } from './action-kind.ts'
import {
  AGENT,
  defineTool,
  errorOutcome,
  type Outcome,
  PositiveNumber,
  type ToolContext,
  type ToolUnit,
} from './tool.ts'

const NAME = 'execute_ipython_cell'

const DESCRIPTION = `Runs a cell of Python in the notebook of this conversation, an IPython kernel on the machine, in the workspace, and answers with its output.

* There is one kernel: variables, imports and functions stay from one cell to the next. The value of the last line is shown.
* Plots are shown to the user and to you: \`%matplotlib inline\`, then draw. Magics such as \`%pip install\` and \`!command\` work.
* A cell cannot ask for input. A file that it writes below the workspace is kept with the conversation.
* A cell without output for 30 seconds, or beyond its timeout, is not stopped: the call answers with what there is. Then a call with empty
  code waits for more, and kernel="interrupt" interrupts it.
* kernel="restart" begins with a new kernel, without any variables.`

const Arguments = z.object({
  code: z.string().describe('The Python code of the cell; empty to wait for the cell that still runs.'),
  timeout: PositiveNumber.optional().describe('Seconds after which the call ends.'),
  kernel: z
    .enum(['interrupt', 'restart'])
    .optional()
    .describe(
      'interrupt: interrupt the cell that runs, without code. restart: a new kernel, then the code if there is any.',
    ),
})
type Arguments = z.infer<typeof Arguments>

const CELL: ActionKind = {
  action: 'run_ipython',
  observation: 'run_ipython',
  risk: {
    by: 'rules',
    rules: [{ risk: 'high', about: 'notebook', says: 'runs Python, which nothing here judges', given: always }],
  },
  asks: () => 'by-risk',
  view: ({ code }) => `Running Python code interactively: ${String(code ?? '')}`,
  ends: null,
  modelText: ({ content, extras }) => [
    textPart(content),
    ...picturesIn(extras.image_urls).map((url) => ({ type: 'image', url }) as const),
  ],
  replay: (args) => ({ name: NAME, arguments: { code: args.code, ...givenOf(args, ['kernel']) } }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

export const NOTEBOOK_TOOL: ToolUnit = defineTool<Arguments>({
  name: NAME,
  description: DESCRIPTION,
  schema: Arguments,
  agents: ['CodeActAgent'],
  kinds: [CELL],
  repeatable: false,
  isPage: false,
  prepare: ({ hasKernel }) =>
    hasKernel === true ? (args) => ({ action: actionOf(args), run: (context) => runCell(args, context) }) : null,
})

function actionOf({ code, timeout, kernel }: Arguments): ActionEvent {
  return {
    source: AGENT,
    message: `Running Python code interactively: ${code}`,
    action: CELL.action,
    args: {
      code,
      thought: '',
      include_extra: true,
      confirmation_state: 'confirmed',
      kernel_init_code: '',
      ...(kernel === undefined ? {} : { kernel }),
    },
    ...(timeout === undefined ? {} : { timeout }),
  }
}

async function runCell({ code, timeout, kernel }: Arguments, context: ToolContext): Promise<Outcome> {
  const { shell, secrets, key, signal, onOutput } = context
  const runtime = await context.runtime(key)
  if (runtime.kind === 'missing') return errorOutcome(runtime.why)
  if (runtime.kind === 'edge') return errorOutcome('The notebook needs a runner, and none is connected any more.')
  const result = await runtime.run({
    key,
    kind: kernel ?? 'cell',
    text: code,
    cwd: shell.cwd,
    env: secrets,
    timeoutMs: timeout === undefined ? null : timeout * 1000,
    signal,
    filter: context.outputFilter(),
    onOutput,
  })
  const before = context.recall(MEMORY)
  if (result.kernel !== null) context.remember(MEMORY, result.kernel.id)
  if (result.failure !== null && !result.aborted) return errorOutcome(failureText(result))
  return cellOutcome(code, result, isUntold(result, before))
}

/** The kernel that ran the model's last cell. */
const MEMORY = 'notebook'
const OTHER_KERNEL =
  'This is a new kernel: the one of before is gone with its runner, and all variables, imports and functions with it.'

/** A restarted machine, or another one, does not know that there was a kernel before. */
const isUntold = ({ kernel }: RunnerResult, before: unknown): boolean =>
  kernel?.isFirst === true && typeof before === 'string' && before !== kernel.id

/** As clients know it: the last two lines show the kernel's folder and Python. */
function cellOutcome(code: string, result: RunnerResult, isOther: boolean): Outcome {
  const { output, remark, workingDir, interpreter, pictures } = result
  const shown = output.replace(/\n$/, '')
  // A cell that did not end normally has a remark that says so.
  const isSilent = shown === '' && pictures.length === 0 && remark === ''
  const told = [
    ...(isOther ? [`[${OTHER_KERNEL}]`] : []),
    isSilent ? '[Code executed successfully with no output]' : shown,
    remark,
    ...pictures.map((_, index) => `[picture ${index + 1} of ${pictures.length}]`),
    `[Jupyter current working directory: ${workingDir}]`,
    `[Jupyter Python interpreter: ${interpreter}]`,
  ]
  return {
    source: AGENT,
    message: 'Code executed in IPython cell.',
    observation: CELL.observation,
    content: told.filter((line) => line !== '').join('\n'),
    extras: { code, image_urls: pictures.length === 0 ? null : [...pictures] },
    success: true,
  }
}

/** Recordings from other services may contain anything; the model's vendor would fetch an address. */
function picturesIn(urls: unknown): string[] {
  if (!Array.isArray(urls)) return []
  return urls.filter((url): url is string => typeof url === 'string' && /^data:image\/(png|jpeg);base64,/.test(url))
}
