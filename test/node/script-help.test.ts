import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT, textOf } from '../support/source-tree.ts'

const run = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [`scripts/${script}.ts`, ...args], { cwd: ROOT, encoding: 'utf8', timeout: 60_000 })

test.for(['bench', 'load', 'faults', 'sample', 'mutate', 'conformance'])('%s tells how it is used', (script) => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const name = Object.entries(scripts).find(([, command]) => command.endsWith(`scripts/${script}.ts`))?.[0]
  const { stdout, stderr, status } = run(script, '--help')
  expect([stdout.split('\n')[0], stderr, status]).toEqual([expect.stringContaining(`npm run ${name} -- [`), '', 0])
})

test('what is named and is not there is refused in a sentence, before anything begins', () => {
  const missing = run('bench', '--write', '/nowhere/figures.json')
  expect([missing.status, missing.stderr]).toEqual([
    1,
    expect.stringMatching(/^There is no file \/nowhere\/figures.json\. /),
  ])
  const attack = run('load', '--fairness', '--only', 'zzz')
  expect([attack.status, attack.stdout]).toEqual([1, ''])
  expect(attack.stderr).toMatch(/^--only: "zzz" names no attack\. Attacks: flood of reads; /)
})
