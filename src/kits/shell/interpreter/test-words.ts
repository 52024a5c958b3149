// `test` and `[`: detects invalid expressions. The interpreter treats some of them as false, and has different
// messages.

import type { StepResult } from './shape.ts'

const UNARY = /^-[abcdefghknoprstuvwxzGLNORS]$/
const INTEGERS = /^-(?:eq|ne|lt|le|gt|ge)$/
const BINARY = /^(?:==?|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/
const INTEGER = /^\s*[-+]?\d+\s*$/

/** The error, or null for a valid expression. */
export function testError(name: string, args: readonly string[]): StepResult | null {
  if (name === '[' && args.at(-1) !== ']') return failed(name, "missing `]'")
  const message = problem(name === '[' ? args.slice(0, -1) : args)
  return message === null ? null : failed(name, message)
}

function problem(words: readonly string[]): string | null {
  const [first = '', second = '', third = ''] = words
  switch (words.length) {
    case 2:
      // Without a message it would look like a negative result.
      if (first === '-N') return '-N: not available here, no times of reading are kept'
      return first === '!' || UNARY.test(first) ? null : `${first}: unary operator expected`
    case 3:
      if (BINARY.test(second)) return INTEGERS.test(second) ? notInteger([first, third]) : null
      if (first === '!') return problem([second, third])
      return first === '(' && third === ')' ? null : `${second}: binary operator expected`
    case 4:
      if (first === '!') return problem(words.slice(1))
      return first === '(' && words[3] === ')' ? problem([second, third]) : null
    default:
      return null
  }
}

function notInteger(words: readonly string[]): string | null {
  const wrong = words.find((word) => !INTEGER.test(word))
  return wrong === undefined ? null : `${wrong}: integer expression expected`
}

function failed(name: string, message: string): StepResult {
  return { stdout: '', stderr: `bash: ${name}: ${message}\n`, exitCode: 2 }
}

/** With bash's name of the command in error messages. */
export function asTest(name: string, result: StepResult): StepResult {
  return { ...result, stderr: result.stderr.replace(/^(?:test|\[): /gm, `bash: ${name}: `) }
}
