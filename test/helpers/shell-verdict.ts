// Compares the results of a command in our shell and in the real one.

import type { CorpusEntry, Normaliser, ShellReport, TreeSummary } from '../support/real-shell-types.ts'

/** Our shell returns both output streams as one text, as a terminal would show them. */
export type OurReport = { exitCode: number; output: string; tree: TreeSummary }

/**
 * `loud`: ours reports that it cannot run this, by its exit code or a message. `silent`: both report success and differ, so a user
 * cannot notice it. `other`: both fail in different ways, or ours succeeds where the real one fails.
 */
export type Verdict = 'equal' | 'loud' | 'silent' | 'other'

export interface Comparison {
  verdict: Verdict
  sameOutput: boolean
  sameErrors: boolean
  /** The paths that differ, with what the real shell and ours left there. */
  tree: { path: string; real: string | null; ours: string | null }[]
}

export function compare(entry: CorpusEntry, real: ShellReport, ours: OurReport): Comparison {
  const plain = (text: string) => entry.normalise.reduce((before, name) => NORMALISE[name](before), text)
  const parted = partOutput(plain(ours.output), plain(real.stdout), real.stderr)
  const tree = treeDifferences(real.tree, ours.tree)
  const found = { sameOutput: parted.same, sameErrors: parted.errors.trim() === real.stderr.trim(), tree }
  if (real.exitCode === ours.exitCode && parted.same && tree.length === 0) return { ...found, verdict: 'equal' }
  if (real.exitCode === 0 && ours.exitCode !== 0) return { ...found, verdict: 'loud' }
  if (saysThatItCannot(ours.output, real)) return { ...found, verdict: 'loud' }
  return { ...found, verdict: real.exitCode === 0 && ours.exitCode === 0 ? 'silent' : 'other' }
}

/**
 * Whether ours wrote the real one's standard output. Where the real one wrote errors as well, lines of ours may stand
 * between those of the output, as many as the errors have; they are taken for ours.
 */
function partOutput(output: string, stdout: string, stderr: string): { same: boolean; errors: string } {
  if (output === stdout) return { same: true, errors: '' }
  if (stderr === '') return { same: false, errors: '' }
  const expected = lines(stdout)
  const errors: string[] = []
  for (const line of lines(output)) {
    if (line === expected[0]) expected.shift()
    else errors.push(line)
  }
  return { same: expected.length === 0 && errors.length <= lines(stderr).length, errors: errors.join('\n') }
}

const lines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

const REFUSALS =
  /not supported|unsupported|not available|not implemented|un(known|recognized|recognised) (option|primary|predicate|command|subcommand)|invalid (option|argument)|command not found|is not a git command|cannot be used here/i

function saysThatItCannot(output: string, real: ShellReport): boolean {
  const known = new Set([...lines(real.stdout), ...lines(real.stderr)])
  return lines(output).some((line) => REFUSALS.test(line) && !known.has(line))
}

function treeDifferences(real: TreeSummary, ours: TreeSummary): Comparison['tree'] {
  const paths = [...new Set([...Object.keys(real), ...Object.keys(ours)])].sort()
  return paths
    .filter((path) => real[path] !== ours[path])
    .map((path) => ({ path, real: real[path] ?? null, ours: ours[path] ?? null }))
}

const NORMALISE: Record<Normaliser, (text: string) => string> = {
  /** The order of a folder's entries depends on the file system. */
  sorted: (text) => text.split('\n').sort().join('\n'),
  /** Owner, link count, size of a folder, and age of a link. */
  long: (text) =>
    text
      .replaceAll(/^(.*?)([-dl][-rwxsStT]{9})[.+]? +\d+ +\S+ +\S+ +/gm, '$1$2 ')
      .replaceAll(/^(.*?d[-rwxsStT]{9}) +[\d.]+[KMG]?/gm, '$1 SIZE')
      .replaceAll(/^(.*?l[-rwxsStT]{9}) .*? (\S+ -> .*)$/gm, '$1 $2')
      .replaceAll(/^(.*d[-rwxsStT]{9}) .* (\.\.?)$/gm, '$1 $2')
      .replaceAll(/^total .*/gm, 'total')
      .replaceAll(/ +/g, ' '),
  temp: (text) => text.replaceAll(/\/tmp\/[\w.-]+/g, '/tmp/TEMP'),
  'binary-paths': (text) => text.replaceAll(/^\/(usr\/(local\/)?)?s?bin\//gm, '/usr/bin/'),
}
