// The corpus of disguised and of harmless commands, each judged at least, or exactly, as high as it says.

import { expect, test } from 'vitest'
import { RISK } from '../../../src/agent/security/bench.ts'
import { loadScriptJudge } from '../../../src/agent/security/script-judge.ts'
import { BORDERLINE } from '../../fixtures/security/borderline.ts'
import { DISGUISES_DEV, HARMLESS_DEV } from '../../fixtures/security/dev.ts'
import { DISGUISES_HELD, HARMLESS_HELD } from '../../fixtures/security/held.ts'
import { DISGUISES_MORE, HARMLESS_MORE } from '../../fixtures/security/more.ts'
import { DISGUISES_USED, HARMLESS_USED } from '../../fixtures/security/used.ts'

const verdict = await loadScriptJudge()
const judge = (script: string) => verdict(script).risk

const DISGUISES = [...DISGUISES_DEV, ...DISGUISES_HELD, ...DISGUISES_MORE, ...DISGUISES_USED]
const HARMLESS = [...HARMLESS_DEV, ...HARMLESS_HELD, ...HARMLESS_MORE, ...HARMLESS_USED]

const shown = (script: string) => (script.length > 200 ? `${script.slice(0, 200)}…` : script)

test('every disguise is judged at least as high as what it does', async () => {
  const missed = DISGUISES.flatMap(({ script, least, theme }) => {
    const risk = judge(script)
    return risk < RISK[least] ? [{ theme, script: shown(script), least: RISK[least], risk }] : []
  })
  expect(missed).toEqual([])
})

test('every harmless script is low', async () => {
  const noise = HARMLESS.flatMap(({ script, theme }) => (judge(script) > RISK.low ? [{ theme, script }] : []))
  expect(noise).toEqual([])
})

/** Where the rules differ from the proposal, and why. */
const DECIDED: Readonly<Record<string, keyof typeof RISK>> = {
  // It moves a branch as every other reset to another commit does.
  'git reset --soft HEAD~1': 'medium',
  // What a filter lets through is not looked at.
  'env | grep ^PATH=': 'high',
  // What a pipe brings is not followed, however plain it is; `bash <<< ls` says the same.
  'echo ls | sh': 'high',
  // As `npm test`: run after every edit.
  'pytest -q': 'low',
  'cargo test': 'low',
  // It shows what runs, and reaches no further.
  'docker ps': 'low',
  // The index is expanded, and what it holds is in the script.
  "x='a[$(rm -rf src)]'; echo $((x))": 'high',
}

test('what reasonable people differ about is decided, and stays so', async () => {
  for (const { script, proposed } of BORDERLINE) {
    expect([script, judge(script)]).toEqual([script, RISK[DECIDED[script] ?? proposed]])
  }
})
