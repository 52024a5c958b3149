// Every option of every program: here it does what it does in the real one, or it is an error that names it. Those
// that reach most; `PROOF=1` tries them all.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isReviewed } from '../../../fixtures/shell/reviewed-options.ts'
import { optionReport } from '../../../helpers/option-report.ts'
import { compare, type OurReport } from '../../../helpers/shell-verdict.ts'
import { alwaysRun } from '../../../support/kit-sample/sample.ts'
import { missingPrograms, needPrograms } from '../../../support/programs.ts'
import { RealShell } from '../../../support/real-shell-run.ts'
import type { CorpusEntry, ShellReport } from '../../../support/real-shell-types.ts'
import { isNamed, optionsByProgram, type TriedOption } from '../../../support/shell-options.ts'

const IS_PROOF = process.env.PROOF === '1'
/** The real programs wait for the disk more than they work. */
const AT_ONCE = 3
const PROGRAM_TIMEOUT_MS = 1_200_000

const folder = await mkdtemp(join(tmpdir(), 'bop-'))
const real = new RealShell(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))

for (const [program, all] of optionsByProgram()) {
  test(`${program}: no option is passed over`, { timeout: PROGRAM_TIMEOUT_MS }, async ({ skip }) => {
    needPrograms(skip, ...all.slice(0, 1).flatMap(({ entry }) => missingPrograms(entry.needs)), 'bash')
    const waiting = (IS_PROOF ? all : alwaysTried(program, all)).filter((tried) => !isReviewed(tried))
    const silent: Record<string, unknown>[] = []
    const tryNext = async (): Promise<void> => {
      for (let tried = waiting.shift(); tried !== undefined; tried = waiting.shift()) {
        const verdict = await differenceOf(tried)
        if (verdict !== null) silent.push(verdict)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, tryNext))
    expect(silent).toEqual([])
  })
}

function alwaysTried(program: string, all: readonly TriedOption[]): TriedOption[] {
  const entries = all.map(({ entry }) => entry)
  const chosen = new Set<CorpusEntry>(alwaysRun('options', program, entries))
  return all.filter(({ entry }) => chosen.has(entry))
}

async function differenceOf(tried: TriedOption): Promise<Record<string, unknown> | null> {
  const answer = await real.answer(tried.entry)
  if (!answer.ok) throw new Error(`the real shell lacks ${answer.missing}`)
  const ours = await optionReport(tried.entry, await real.fixture(tried.entry.fixture))
  return verdictOf(tried, answer.report, ours)
}

/** Null when both do the same, when ours names what it does not do, or when both refuse it. */
function verdictOf(
  { option, entry }: TriedOption,
  wanted: ShellReport,
  ours: OurReport,
): Record<string, unknown> | null {
  const { verdict, tree } = compare(entry, wanted, ours)
  if (verdict === 'equal' || (verdict === 'other' && wanted.exitCode !== 0 && ours.exitCode !== 0)) return null
  // The option may be named by another one of its names, or the command is not there as a whole.
  const isRefused = /not available here|[Ii]nvalid (option|argument)|unrecognized option/.test(ours.output)
  if (verdict === 'loud' && (isRefused || isNamed(option, ours.output))) return null
  const { exitCode, stdout, stderr } = wanted
  return { script: entry.script, real: { exitCode, stdout, stderr }, ours: ours.output, exitCode: ours.exitCode, tree }
}
