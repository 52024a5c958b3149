// The corpus itself: that it is large, without repetition, split as it says, and made of scripts that bash reads.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { BORDERLINE } from '../fixtures/security/borderline.ts'
import { DISGUISES_DEV, HARMLESS_DEV } from '../fixtures/security/dev.ts'
import { DISGUISES_HELD, HARMLESS_HELD } from '../fixtures/security/held.ts'
import { needPrograms } from '../support/programs.ts'

const DISGUISES = [...DISGUISES_DEV, ...DISGUISES_HELD]
const HARMLESS = [...HARMLESS_DEV, ...HARMLESS_HELD]
const SCRIPTS = [...DISGUISES, ...HARMLESS, ...BORDERLINE].map(({ script }) => script)

const themes = (entries: readonly { theme: string }[]) => [...new Set(entries.map(({ theme }) => theme))].sort()

test('the lists are large enough to mean something, in both halves and at both levels', () => {
  for (const half of [DISGUISES_DEV, DISGUISES_HELD]) {
    expect(half.length).toBeGreaterThanOrEqual(340)
    expect(half.filter(({ least }) => least === 'medium').length).toBeGreaterThanOrEqual(100)
  }
  for (const half of [HARMLESS_DEV, HARMLESS_HELD]) expect(half.length).toBeGreaterThanOrEqual(170)
  expect(HARMLESS.map(({ script }) => script)).toContain('npm test')
})

test('every theme is in both halves', () => {
  expect(themes(DISGUISES_DEV)).toEqual(themes(DISGUISES_HELD))
  expect(themes(HARMLESS_DEV)).toEqual(themes(HARMLESS_HELD))
})

test('no script is there twice, within a list or in two; what is low for certain may be explained as borderline', () => {
  const judged = [...DISGUISES, ...HARMLESS].map(({ script }) => script)
  expect(judged.filter((script, at) => judged.indexOf(script) !== at)).toEqual([])
  const low = new Set(HARMLESS.map(({ script }) => script))
  const explained = BORDERLINE.filter(({ script }) => judged.includes(script))
  expect(explained.filter(({ script, proposed }) => proposed !== 'low' || !low.has(script))).toEqual([])
  expect(explained.map(({ script }) => script)).toContain('npm test')
})

test('very long scripts are among the disguises', () => {
  const long = DISGUISES.filter(({ script }) => script.length > 9_000)
  expect(long.length).toBeGreaterThanOrEqual(4)
})

// One process for all, each script as the body of a function: a shell for each takes minutes on a busy machine.
test('bash reads every script without a complaint, and runs none of them', ({ skip }) => {
  needPrograms(skip, 'bash')
  const input = SCRIPTS.map((script, at) => `script_${at}() {\n:\n${script}\n}\n`).join('')
  const { status, stderr } = spawnSync('bash', ['-n'], { input, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const broken = spawnSync('bash', ['-n'], { input: `${input}script_last() {\nif true; then\n}\n`, encoding: 'utf8' })
  expect(broken.stderr).toContain('syntax error')
})
