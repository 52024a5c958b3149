// The commands that work on text beside the machine's own: coreutils, diffutils, bc, xxd, hexdump, column and iconv. What they
// write, the words of their errors, how they exit and what they leave must be the same.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { reportIn, treeOf } from '../../../helpers/memory-report.ts'
import { compare } from '../../../helpers/shell-verdict.ts'
import { needPrograms } from '../../../support/programs.ts'
import { RealShell } from '../../../support/real-shell-run.ts'
import { FIXTURES } from '../../../support/shell-corpus.ts'

const GROUP_TIMEOUT_MS = 240_000
const LIMITS = { timeoutMs: 60_000, maxOutputChars: 4_000_000 }

const text = await readFile(join(FIXTURES, 'text-commands.txt'), 'utf8')
const folder = await mkdtemp(join(tmpdir(), 'btx-'))
const real = new RealShell(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))

for (const group of text.split(/^### /m).slice(1)) {
  const [name = '', ...scripts] = group.trim().split('\n')
  test(`${name}: the same in both shells`, { timeout: GROUP_TIMEOUT_MS }, async ({ skip }) => {
    needPrograms(skip, 'bash', 'bc', 'column', 'hexdump', 'iconv', 'look', 'xxd', 'envsubst')
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) {
      const entry = { id: name, theme: 'text', fixture: 'project', script, needs: [], normalise: [] }
      const answer = await real.answer(entry)
      if (!answer.ok) throw new Error(`the real shell lacks ${answer.missing}`)
      const ours = await ourReport(script)
      const comparison = compare(entry, answer.report, ours)
      const shown = { ours: ours.output, exitCode: ours.exitCode, tree: comparison.tree }
      const wanted = { ours: answer.report.stdout + answer.report.stderr, exitCode: answer.report.exitCode, tree: [] }
      if (comparison.verdict !== 'equal') expect(shown, script).toEqual(wanted)
      expect(comparison.verdict, script).toBe('equal')
    }
  })
}

async function ourReport(script: string) {
  return reportIn(await treeOf(await real.fixture('project')), { script, limits: LIMITS })
}
