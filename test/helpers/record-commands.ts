// Every command of the corpora that run over the durable file tree, for `npm run sample`.

import { inject, test } from 'vitest'
import { recorded } from '../support/kit-sample/record.ts'
import { entriesOf, ourReports } from './shell-corpus.ts'

for (const theme of [...inject('realShell').themes, 'programs-awk', 'programs-sed']) {
  test(`what the entries of ${theme} reach`, { timeout: 3_600_000 }, async () => {
    await ourReports(await entriesOf(theme), ({ id, script }, run) =>
      recorded({ corpus: 'commands', group: theme, id, script }, run),
    )
  })
}
