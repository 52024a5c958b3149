// A command of the developers that is asked for what is not there says so, and does not end well with nothing done.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../support/source-tree.ts'

const ASKED: Readonly<Record<string, RegExp>> = {
  conformance: /^There is no suite nothing\. Suites: TA-Lib/,
  pictures: /^There is no picture nothing\. Pictures: conversation/,
  structure: /^There is no code in a folder nothing\./,
}

test.each(Object.entries(ASKED))('npm run %s -- nothing', (name, said) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join(ROOT, `scripts/${name}.ts`), 'nothing'], {
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(said)
})
