// The sentences that the model reads with the output of a call on a runner. The sentences about commands that still run are those that
// models know from the reference's shell.

import type { RunnerCall } from '../../../../src/agent/runtime.ts'
import { BROWSER_KIND } from '../../../../src/runners/page.ts'
import { type CallOutcome, CELL_KINDS, type TransferStored } from '../../../../src/runners/wire.ts'

const GO_ON =
  "You may wait longer to see additional output by sending empty command '', send other commands to interact with the current process, or send keys to interrupt/kill the command."
const SHOWN_PATHS = 5

export function remarkOn(outcome: CallOutcome, refused: TransferStored['refused'], call: RunnerCall): string {
  const isCell = CELL_KINDS.some((kind) => kind === call.kind)
  const isBrowser = call.kind === BROWSER_KIND
  return [
    isBrowser ? outcome.text : isCell ? cellRemark(outcome, call) : stateRemark(outcome, call),
    ...outcome.remarks.map((text) => `[${text}]`),
    refusedRemark(refused),
  ]
    .filter((text) => text !== '')
    .join('\n')
}

/** For a command that was killed for a reason other than its timeout, the runner's own remark gives the reason. */
function stateRemark({ state, text, remarks }: CallOutcome, { timeoutMs }: RunnerCall): string {
  switch (state) {
    case 'ended':
      return text === '' ? '' : `[${text}]`
    case 'quiet':
      return `[The command has no new output after 30 seconds. ${GO_ON}]`
    case 'soft':
      return `[The command timed out after ${(timeoutMs ?? 0) / 1000} seconds. ${GO_ON}]`
    case 'killed':
      if (remarks.some((remark) => remark.startsWith('The command was killed'))) return ''
      return '[The command ran into the longest time that a command may take and was killed.]'
    case 'refused':
      return `[${text}]`
    case 'lost':
      return `[The shell of the runner failed; the outcome of the command is unknown.${text === '' ? '' : ` ${text}`}]`
  }
}

const CELL_GOES_ON =
  'It still runs. Wait for it with empty code, end it with kernel="interrupt", or begin anew with kernel="restart".'

function cellRemark({ state, text }: CallOutcome, { timeoutMs }: RunnerCall): string {
  if (state === 'quiet') return `[The cell has no new output after 30 seconds. ${CELL_GOES_ON}]`
  if (state === 'soft') return `[The cell timed out after ${(timeoutMs ?? 0) / 1000} seconds. ${CELL_GOES_ON}]`
  return text === '' ? '' : `[${text}]`
}

function refusedRemark(refused: TransferStored['refused']): string {
  if (refused.length === 0) return ''
  const paths = refused.slice(0, SHOWN_PATHS).map(({ path, reason }) => `${path} (${reason})`)
  const more = refused.length > SHOWN_PATHS ? ` and ${refused.length - SHOWN_PATHS} more` : ''
  return `[Not kept in the workspace, only on the runner: ${paths.join(', ')}${more}.]`
}
