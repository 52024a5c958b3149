// Commands that coding agents issue, in our shell and in the machine's real bash with its coreutils, git, jq and node. What they
// write, how they exit and what they leave in the tree must be the same. `test/support/real-shell.ts` tells what can be set.

import { expect, inject, test } from 'vitest'
import { REFUSED, REVIEWED } from '../../../fixtures/shell/reviewed.ts'
import { entriesOf, keepDetails, ourReports, realAnswers } from '../../../helpers/shell-corpus.ts'
import { detailsOf, type Finding, isCompared, missingFor, ofVerdict, tableOf } from '../../../helpers/shell-table.ts'
import { compare, type OurReport } from '../../../helpers/shell-verdict.ts'
import type { CorpusEntry, RealAnswer } from '../../../support/real-shell-types.ts'

const { themes, missing, isWhole, requireAll } = inject('realShell')

/** Programs that need processes: they are not compared, they must say so. */
const PROCESSES = 'processes'
const LEAST_COMMANDS = 600
const THEME_TIMEOUT_MS = 300_000

const found: Finding[] = []

for (const theme of themes) {
  test(`each command of the theme ${theme} ends in both shells`, { timeout: THEME_TIMEOUT_MS }, async ({ skip }) => {
    skip(missing.length > 0 && !requireAll, `there is no ${missing.join(' and no ')} on this machine`)
    const entries = await entriesOf(theme)
    if (theme === PROCESSES) {
      const ours = await ourReports(entries)
      found.push(...entries.map((entry, i) => processFinding(entry, reportAt(ours, i))))
      return
    }
    const [answers, ours] = await Promise.all([realAnswers(theme), ourReports(entries)])
    const findings = entries.map((entry, i) => finding(entry, answerAt(answers, i), reportAt(ours, i)))
    found.push(...findings)
    const unended = findings.filter((one) => isCompared(one) && one.ours.exitCode === 124 && one.real.exitCode !== 124)
    expect(unended.map(({ entry }) => entry.id)).toEqual([])
  })
}

test('every command is equal, or stands with the reason in one of the two lists, and processes are refused in words', async ({
  skip,
}) => {
  skip(missing.length > 0 && !requireAll, `there is no ${missing.join(' and no ')} on this machine`)
  const compared = found.filter(isCompared)
  expect(
    compared.length,
    'entries that are compared; ids begin with their theme, for SHELL_CORPUS_ONLY',
  ).toBeGreaterThan(0)
  await keepDetails(tableOf(found), detailsOf(found))
  if (requireAll) expect(missingFor(found)).toEqual([])
  const listed: Readonly<Record<string, string>> = { ...REVIEWED, ...REFUSED }
  const different = found.filter(isCompared).filter(({ comparison }) => comparison.verdict !== 'equal')
  const unlisted = different
    .filter(({ entry, comparison: { verdict } }) => (verdict === 'silent' ? REVIEWED : listed)[entry.id] === undefined)
    .map(({ entry, comparison: { verdict } }) => `${entry.id}: ${verdict}`)
  const untold = found.filter((one) => one.kind === 'process' && !one.isTold).map(({ entry }) => entry.id)
  const equalIds = new Set(ofVerdict(found, 'equal').map(({ entry }) => entry.id))
  if (isWhole) expect(found.length).toBeGreaterThanOrEqual(LEAST_COMMANDS)
  expect.soft(unlisted).toEqual([])
  expect.soft(Object.keys(listed).filter((id) => equalIds.has(id))).toEqual([])
  expect(untold).toEqual([])
})

function finding(entry: CorpusEntry, answer: RealAnswer, ours: OurReport): Finding {
  if (!answer.ok) return { kind: 'skipped', missing: answer.missing, entry, ours }
  return { kind: 'compared', entry, real: answer.report, ours, comparison: compare(entry, answer.report, ours) }
}

/** One line that names the program and says what is missing here. */
function processFinding(entry: CorpusEntry, ours: OurReport): Finding {
  const [line = '', ...more] = ours.output.trimEnd().split('\n')
  const isTold = ours.exitCode === 127 && more.length === 0 && /process|runner/.test(line)
  return { kind: 'process', entry, ours, isTold }
}

function reportAt(reports: readonly OurReport[], at: number): OurReport {
  const report = reports[at]
  if (!report) throw new Error(`no report of the entry ${at}`)
  return report
}

function answerAt(answers: readonly RealAnswer[], at: number): RealAnswer {
  const answer = answers[at]
  if (!answer) throw new Error(`no answer to the entry ${at}`)
  return answer
}
