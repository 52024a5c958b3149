// The lines in which tests are told, as Node's `spec` reporter writes them.

import { inspect } from 'node:util'
import { placed } from './frames.ts'
import { stdout } from './streams.ts'
import type { TestItem, TestOptions } from './test-suites.ts'

const FOLD = '  '
export type Mark = keyof typeof MARKS
const MARKS = { suite: '▶', passed: '✔', failed: '✖', skipped: '﹣', warned: '⚠', said: 'ℹ' } as const

export function tell(depth: number, mark: Mark, text: string): void {
  stdout.write(placed(`${FOLD.repeat(depth)}${MARKS[mark]} ${text}\n`))
}

export const timed = (start: number) => ` (${(performance.now() - start).toFixed(3)}ms)`

export type Outcome = 'skipped' | 'todo' | 'failed' | 'passed'

export function outcomeOf({ skip, todo }: TestOptions, error: { thrown: unknown } | null): Outcome {
  if (skip) return 'skipped'
  if (todo) return 'todo'
  return error ? 'failed' : 'passed'
}

type Ended = { depth: number; start: number; outcome: Outcome; error: { thrown: unknown } | null }

export function tellTest({ name, options }: TestItem, { depth, start, outcome, error }: Ended): void {
  const line = name + timed(start)
  if (outcome === 'skipped') {
    const why = typeof options.skip === 'string' ? ` ${options.skip}` : ''
    tell(depth, 'skipped', `${line} # SKIP${why}`.trimEnd())
  } else if (outcome === 'todo') tell(depth, error ? 'warned' : 'passed', `${line} # TODO`)
  else tell(depth, outcome, line)
  if (outcome === 'failed') stdout.write(placed(indented(describeError(error?.thrown), FOLD.repeat(depth + 1))))
}

function indented(text: string, pad: string): string {
  return `${text
    .split('\n')
    .map((line) => pad + line)
    .join('\n')}\n`
}

const OURS = /\bbellwether\/|\(node-internal:|at async Run\./

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return inspect(error)
  const stack = String(error.stack ?? error)
  const shown = stack.includes(error.message) ? stack : `${error.name}: ${error.message}\n${stack}`
  const lines = shown.split('\n').filter((line) => !OURS.test(line))
  return lines.join('\n') + comparedValues(error)
}

/** Where the message does not show them. */
function comparedValues(error: Error): string {
  if (!('actual' in error && 'expected' in error && 'generatedMessage' in error) || error.generatedMessage !== false)
    return ''
  const { actual, expected } = error
  return `\n${inspect({ actual, expected, operator: 'operator' in error ? error.operator : undefined })}`
}
