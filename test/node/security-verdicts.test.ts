// What is judged of every script of the corpus and of every way to call a command, beside what was judged before: what one sees
// of a change that was not meant to change any. `npm test -- test/node/security-verdicts.test.ts -u` writes it anew; the
// difference is to be read.

import { expect, test } from 'vitest'
import type { Verdict } from '../../src/agent/security/bench.ts'
import { builtinPolicy } from '../../src/agent/security/policy.ts'
import { loadScriptJudge } from '../../src/agent/security/script-judge.ts'
import { BORDERLINE } from '../fixtures/security/borderline.ts'
import { DISGUISES_DEV, HARMLESS_DEV } from '../fixtures/security/dev.ts'
import { FORMS, LONG_NAMED, LONG_OPTIONS, OPTION_FORMS, PLAIN_NAMES, RULED_NAMES } from '../fixtures/security/forms.ts'
import { DISGUISES_HELD, HARMLESS_HELD } from '../fixtures/security/held.ts'
import { DISGUISES_MORE, HARMLESS_MORE } from '../fixtures/security/more.ts'
import { DISGUISES_USED, HARMLESS_USED } from '../fixtures/security/used.ts'

const SCRIPTS = [
  ...[BORDERLINE, DISGUISES_DEV, HARMLESS_DEV, DISGUISES_HELD, HARMLESS_HELD],
  ...[DISGUISES_MORE, HARMLESS_MORE, DISGUISES_USED, HARMLESS_USED],
].flatMap((entries) => entries.map(({ script }) => script))

const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0'].map((letter) => `-${letter}`)

const judge = await loadScriptJudge()
const recorded = (name: string) => `../fixtures/security/recorded/${name}`
const shown = (script: string) => JSON.stringify(script.length > 70 ? `${script.slice(0, 70)}…` : script)

/** Numbers of sentences that are told apart by the file itself, so that a line stays short. */
class Sentences {
  readonly #known: string[] = []

  numbersOf(reasons: readonly string[]): string {
    for (const reason of reasons) if (!this.#known.includes(reason)) this.#known.push(reason)
    return reasons.map((reason) => this.#known.indexOf(reason)).join(' ')
  }

  get lines(): string[] {
    return this.#known.map((sentence, at) => `${at} ${sentence}`)
  }
}

const verdictOf = (script: string): Verdict => judge(script, { secretNames: ['STAGING'] })

test('users read the same rules as before', async () => {
  await expect(builtinPolicy()).toMatchFileSnapshot(recorded('policy.md'))
})

test('every script of the corpus is judged as before, for the same reasons', async () => {
  const sentences = new Sentences()
  const lines = SCRIPTS.map((script) => {
    const { risk, reasons } = verdictOf(script)
    return `${risk} [${sentences.numbersOf(reasons)}] ${shown(script)}`
  })
  await expect(`${[...lines, ...sentences.lines].join('\n')}\n`).toMatchFileSnapshot(recorded('corpus.txt'))
})

test('every command is judged as before in every way to call it', async () => {
  const lines = [...RULED_NAMES, ...PLAIN_NAMES].map((name) => {
    const risks = FORMS.map((form) => verdictOf(form.replaceAll('N', () => name)).risk)
    return `${risks.join('')} ${name}`
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded('forms.txt'))
})

/** What is judged of the command with each of the options, in every form; all but the commonest are named. */
function lineOf(name: string, options: readonly string[]): string {
  const byRisks = Map.groupBy(options, (option) => {
    return OPTION_FORMS.map((form) => verdictOf(form.replace('N', () => name).replace('L', () => option)).risk).join('')
  })
  const [[most] = [], ...others] = [...byRisks].toSorted((a, b) => b[1].length - a[1].length)
  return [`${name}: ${most}`, ...others.map(([risks, named]) => `${risks} with ${named.join(' ')}`)].join('; ')
}

test('every option of every command means to its risk what it meant before', async () => {
  const lines = [
    ...RULED_NAMES.map((name) => lineOf(name, LETTERS)),
    ...LONG_NAMED.map((name) => lineOf(name, LONG_OPTIONS)),
  ]
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded('options.txt'))
})
