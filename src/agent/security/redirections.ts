// Where a command's input comes from, and what becomes of the files that its output goes to.

import type { Bench } from './bench.ts'
import type { Input, Output } from './call.ts'
import { isAllUnknown, MARK } from './marks.ts'
import { isAnyHidden, isDevice, isGitConfig, isNetworkDevice, isSecretFile } from './paths.ts'
import type { Redirection, Word } from './words.ts'

const UNKNOWN_OUTPUT: Output = { isEmpty: false, words: [] }

/** The input that the redirections give; null when they give none. */
export function inputOf(redirections: readonly Redirection[], textOf: (word: Word) => string): Input | null {
  const last = redirections.findLast(({ operator, fd }) => READS.has(operator) && (fd ?? 0) === 0)
  if (last === undefined) return null
  const { target, operator } = last
  if (target.type === 'HereDoc') return { kind: 'text', text: textOf(target.content) }
  const text = textOf(target)
  if (operator === '<<<') return { kind: 'text', text: `${text}\n` }
  if (operator === '<&')
    return text === '-' ? { kind: 'file', path: '/dev/null' } : { kind: 'pipe', from: UNKNOWN_OUTPUT }
  if (text.includes(MARK.pipe) || isNetworkDevice(text)) return { kind: 'pipe', from: UNKNOWN_OUTPUT }
  return { kind: 'file', path: text }
}

const READS: ReadonlySet<string> = new Set(['<', '<<', '<<-', '<<<', '<&', '<>'])
const WRITES: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>', '>&', '<>'])
const TRUNCATES: ReadonlySet<string> = new Set(['>', '>|', '&>', '>&'])

export type Written = {
  readonly output: Output
  /** Files that the command reads. */
  readonly reads: readonly string[]
  readonly isShell: boolean
  readonly textOf: (word: Word) => string
}

export function judgeWrites(redirections: readonly Redirection[], written: Written, bench: Bench): void {
  const last = lastOf(redirections)
  for (const redirection of redirections) {
    bench.findings.spend()
    const { operator, target } = redirection
    if (target.type === 'HereDoc' || operator === '<<<') continue
    const path = written.textOf(target)
    if (operator === '<' || operator === '<>') judgeRead(path, written, bench)
    if (!WRITES.has(operator) || isDescriptor(operator, path) || path === MARK.pipe) continue
    if (isNetworkDevice(path)) judgeSending(written, bench)
    else {
      bench.write(path)
      if (TRUNCATES.has(operator) && isEmptied(redirection, path, written, last)) {
        bench.meet('empties-file')
      }
    }
  }
}

function judgeRead(path: string, { isShell }: Written, bench: Bench): void {
  if (isNetworkDevice(path)) bench.meet(isShell ? 'runs-made-text' : 'network-device')
  for (const place of bench.findings.folders.placesOf(path)) {
    if (isSecretFile(place)) bench.meet('secret-file')
    if (isAnyHidden(place)) bench.meet('hidden-files')
    if (isGitConfig(place)) bench.meet('git-config-file')
  }
}

function judgeSending({ isShell, output }: Written, bench: Bench): void {
  if (isShell) bench.meet('runs-made-text')
  else bench.meet(output.isEmpty ? 'network-device' : 'sends-output')
}

/** `>&2` and its like name a descriptor and no file. */
const isDescriptor = (operator: string, text: string) =>
  operator === '>&' && (/^(\d+-?|-)$/.test(text) || isAllUnknown(text))

/** Of each descriptor, the last redirection that makes its file anew. */
function lastOf(redirections: readonly Redirection[]): Map<number, Redirection> {
  const last = new Map<number, Redirection>()
  for (const redirection of redirections) {
    if (redirection.operator === '>' || redirection.operator === '>|') last.set(redirection.fd ?? 1, redirection)
  }
  return last
}

function isEmptied(
  redirection: Redirection,
  path: string,
  { output, reads }: Written,
  last: ReadonlyMap<number, Redirection>,
): boolean {
  const { fd, operator } = redirection
  if (isDevice(path)) return false
  const known = !isAllUnknown(path)
  if (known && reads.some((read) => read === path)) return true
  const own = fd ?? 1
  if (own === 2) return false
  // Only the last of several gets what the command writes.
  const isReplaced = last.get(own) !== undefined && last.get(own) !== redirection
  return output.isEmpty || (isReplaced && operator !== '>&')
}
