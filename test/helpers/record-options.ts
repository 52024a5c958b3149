// Every option of every program that the sweep tries, for `npm run sample`.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { isReviewed } from '../fixtures/shell/reviewed-options.ts'
import { recorded } from '../support/kit-sample/record.ts'
import { RealShell } from '../support/real-shell-run.ts'
import { optionsByProgram } from '../support/shell-options.ts'
import { optionReport } from './option-report.ts'

const folder = await mkdtemp(join(tmpdir(), 'bop-'))
const real = new RealShell(folder)
afterAll(() => rm(folder, { recursive: true, force: true }))

for (const [program, all] of optionsByProgram()) {
  test(`what the options of ${program} reach`, { timeout: 3_600_000 }, async () => {
    for (const { entry } of all.filter((tried) => !isReviewed(tried))) {
      const files = await real.fixture(entry.fixture)
      const { id, script } = entry
      await recorded({ corpus: 'options', group: program, id, script }, () => optionReport(entry, files))
    }
  })
}
