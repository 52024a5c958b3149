import type { StepResult } from '../shape.ts'

/** The command fails, or all that the shell is doing is given up; `reports`: under `set -e`, so is the shell. */
type End = 'fails' | 'discards' | 'reports'

/** How the expansion of a word failed. */
export class ExpansionFailure extends Error {
  readonly result: StepResult
  readonly end: End

  constructor(result: StepResult, end: End = 'fails') {
    super(result.stderr)
    this.result = result
    this.end = end
  }
}
