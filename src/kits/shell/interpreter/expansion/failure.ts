import type { StepResult } from '../shape.ts'

/** The command fails, or everything that the shell is doing is abandoned; `reports`: under `set -e`, the shell too. */
type End = 'fails' | 'discards' | 'reports'

/** The failure of a word's expansion. */
export class ExpansionFailure extends Error {
  readonly result: StepResult
  readonly end: End

  constructor(result: StepResult, end: End = 'fails') {
    super(result.stderr)
    this.result = result
    this.end = end
  }
}
