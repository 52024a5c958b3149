// Formats the results of the shell's differential test: a table by theme, and details for correcting differences.

import type { CorpusEntry, RealAnswer } from '../support/real-shell-types.ts'
import type { Comparison, OurReport, Verdict } from './shell-verdict.ts'

export type Finding = { entry: CorpusEntry; ours: OurReport } & (
  | { kind: 'skipped'; missing: string }
  | { kind: 'compared'; real: Extract<RealAnswer, { ok: true }>['report']; comparison: Comparison }
  | { kind: 'process'; isTold: boolean }
)

export type Compared = Extract<Finding, { kind: 'compared' }>

export const isCompared = (finding: Finding): finding is Compared => finding.kind === 'compared'

export function ofVerdict(findings: readonly Finding[], verdict: Verdict): Compared[] {
  return findings.filter(isCompared).filter(({ comparison }) => comparison.verdict === verdict)
}

/** The missing programs because of which entries were skipped. */
export const missingFor = (findings: readonly Finding[]): string[] => [
  ...new Set(findings.flatMap((one) => (one.kind === 'skipped' ? [one.missing] : []))),
]

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

const HEAD = ['theme', 'run', 'equal', 'rate', 'loud', 'silent', 'other', 'skipped', 'errors worded alike']

export function tableOf(findings: readonly Finding[]): string {
  const themes = [...new Set(findings.map(({ entry }) => entry.theme))]
  const rows = themes.map((theme) => {
    const own = findings.filter(({ entry }) => entry.theme === theme)
    return own.some(({ kind }) => kind === 'process') ? processRow(theme, own) : row(theme, own)
  })
  const all = row(
    'all but what needs processes',
    findings.filter(({ kind }) => kind !== 'process'),
  )
  const missing = missingFor(findings)
  const why = missing.length === 0 ? '' : `\nskipped for want of: ${missing.join(' ')}`
  return aligned([HEAD, ...rows, all]) + why
}

function row(name: string, findings: readonly Finding[]): string[] {
  const compared = findings.filter(isCompared)
  const count = (verdict: Verdict) => ofVerdict(findings, verdict).length
  const withErrors = compared.filter(({ real }) => real.stderr !== '')
  const alike = withErrors.filter(({ comparison }) => comparison.sameErrors)
  return [
    name,
    String(compared.length),
    String(count('equal')),
    percent(count('equal'), compared.length),
    ...(['loud', 'silent', 'other'] as const).map((verdict) => String(count(verdict))),
    String(findings.filter(({ kind }) => kind === 'skipped').length),
    `${alike.length} of ${withErrors.length}`,
  ]
}

function processRow(name: string, findings: readonly Finding[]): string[] {
  const told = findings.filter((finding) => finding.kind === 'process' && finding.isTold).length
  return [`${name} (127, and why)`, String(findings.length), String(told), percent(told, findings.length)]
}

function aligned(rows: readonly string[][]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  return rows.map(line).join('\n')
}

/** Without the complete trees: only the differences are useful. */
export function detailsOf(findings: readonly Finding[]): unknown[] {
  return findings.map((finding) => {
    const { entry, ours } = finding
    const said = { exitCode: ours.exitCode, output: ours.output }
    if (finding.kind !== 'compared') return { ...finding, ours: said }
    const { stdout, stderr, exitCode } = finding.real
    return { id: entry.id, ...finding.comparison, entry, real: { exitCode, stdout, stderr }, ours: said }
  })
}
