// The labelled sentences of test/fixtures/sentences are an exam. This checks the exam: that it is large enough and balanced, that it is
// the same everywhere, and that every label which can be computed is computed alike a second time, by other code.

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { BY_HAND } from '../fixtures/sentences/by-hand.ts'
import type { Claim } from '../fixtures/sentences/claims.ts'
import { FACT_IDS, factOf } from '../fixtures/sentences/fact-list.ts'
import { SHEETS } from '../fixtures/sentences/facts.ts'
import { generate } from '../fixtures/sentences/grammar.ts'
import { DISGUISES } from '../fixtures/sentences/hostile/disguises.ts'
import { HOSTILE } from '../fixtures/sentences/hostile.ts'
import { SEALED } from '../fixtures/sentences/sealed.ts'
import { DEVELOPMENT, isSealed } from '../fixtures/sentences/split.ts'
import { STATE_IDS, STATES } from '../fixtures/sentences/states.ts'
import { handLabel, isReadAsClaimed, knownOf, secondLabel } from '../support/sentences/judge.ts'
import { oracleStates } from '../support/sentences/oracle.ts'

const LANGUAGES = ['zh', 'en', 'ko'] as const
const LABELS = ['true', 'false', 'undecidable'] as const
const made = generate()
const known = new Map(SHEETS.map((sheet) => [sheet.key, knownOf(sheet)]))

function knownSheet(key: string) {
  const found = known.get(key)
  if (found === undefined) throw new Error(`no sheet ${key}`)
  return found
}

test('every sheet is a plausible stock: bars in order, a year of them unless just listed, eight headlines of every kind', () => {
  expect(SHEETS.length).toBeGreaterThanOrEqual(8)
  for (const sheet of SHEETS) {
    const dates = sheet.bars.map(({ date }) => date)
    expect(dates, sheet.key).toEqual([...new Set(dates)].sort())
    expect(sheet.bars.length, sheet.key).toBeGreaterThanOrEqual(sheet.key === 'us-new' ? 30 : 260)
    const isOrdered = (bar: (typeof sheet.bars)[number]) =>
      bar.low <= Math.min(bar.open, bar.close) && Math.max(bar.open, bar.close) <= bar.high && bar.low > 0
    expect(
      sheet.bars.filter((bar) => !isOrdered(bar)),
      sheet.key,
    ).toEqual([])
    expect(sheet.headlines, sheet.key).toHaveLength(8)
    const kinds = new Set(sheet.headlines.map(({ kind }) => kind))
    expect(kinds, sheet.key).toEqual(new Set(['plain', 'figure', 'rumour', 'order to the reader']))
    expect(Math.max(...sheet.headlines.map(({ date }) => Date.parse(date)))).toBeLessThanOrEqual(Date.parse(sheet.date))
  }
  expect(new Set(SHEETS.map(({ currency }) => currency)).size).toBe(5)
})

test('every figure of the sheets follows from their bars by a second computation', () => {
  for (const sheet of SHEETS) {
    const { facts, dates } = knownSheet(sheet.key)
    for (const id of FACT_IDS) {
      const [ours, theirs] = [factOf(sheet, id), facts[id]]
      if (ours === null || theirs === null) expect(theirs, `${sheet.key} ${id}`).toBe(ours)
      else
        expect(Math.abs(theirs - ours), `${sheet.key} ${id} ${ours} ${theirs}`).toBeLessThanOrEqual(
          1e-9 * Math.abs(ours),
        )
    }
    const { high52Date, low52Date } = sheet.derived
    expect({ high52Date, low52Date }, sheet.key).toEqual({ high52Date: dates.high52, low52Date: dates.low52 })
  }
})

test('every state that is not too close to call is the same by a second computation, and each is true of some sheet and false of another', () => {
  const seen = new Map(STATE_IDS.map((id) => [id, new Set<boolean>()]))
  for (const sheet of SHEETS) {
    const states = oracleStates(sheet)
    for (const id of STATE_IDS) {
      const state = STATES[id](sheet)
      if (state === null) continue
      expect(states[id], `${sheet.key} ${id}`).toBe(state)
      seen.get(id)?.add(state)
    }
  }
  // Of dividends the sheets tell how much or nothing; none tells that there is none.
  const onesided = [...seen].filter(([, values]) => values.size < 2).map(([id]) => id)
  expect(onesided).toEqual(['paysDividend'])
})

test('the grammar makes 1,800 sentences, alike in three languages: two fifths true, two fifths false, one fifth undecidable', () => {
  for (const language of LANGUAGES) {
    const counts = LABELS.map((label) => made.filter((one) => one.language === language && one.label === label).length)
    expect(counts, language).toEqual([240, 240, 120])
  }
  // Every sheet is spoken of, and no form makes up the whole.
  for (const { key } of SHEETS) expect(made.filter(({ sheet }) => sheet === key).length, key).toBeGreaterThan(40)
  const forms = Map.groupBy(made, ({ form }) => form.split(/[:,(]/)[0] ?? '')
  expect(forms.size).toBeGreaterThan(25)
  for (const [form, ones] of forms) if (!form.startsWith('opinion')) expect(ones.length, form).toBeLessThan(120)
})

test('the grammar writes figures in every form', () => {
  const all = made.map(({ form, text }) => `${form} ${text}`).join('\n')
  for (const pattern of [
    /[一-龟]元[一-龟]角/,
    /만 ?[\d,]+원/,
    /[０-９]{2}/,
    /\d[eE]\+?\d/,
    /\d,\d{3}/,
    /百分之/,
    /(?:负|minus |마이너스 )\d/,
    /−\d/,
    /两成半|成半/,
    /\d:1|1:\d/,
  ])
    expect(made.filter(({ text }) => pattern.test(text)).length, String(pattern)).toBeGreaterThan(2)
  const forms = ['full-width', 'Chinese numerals', 'number words', 'myriads', 'thousands', 'exponent']
  const more = ['currency before', 'currency after', 'percent in words', 'scale word', 'tenths', 'parts']
  for (const form of [...forms, ...more]) expect(all.split(form).length, form).toBeGreaterThan(4)
  const words = [
    '涨停',
    '跌停',
    '翻倍',
    '成半',
    '创一年新高',
    '跌破60日均线',
    '个百分点',
    '골든크로스',
    '상한가',
    '%포인트',
    '할 ',
  ]
  for (const word of [...words, 'percentage points', 'limit-up', '52-week high', 'bn', '−', '×10'])
    expect(all.includes(word), word).toBe(true)
})

test('every label of the grammar is the same when its words are read and its facts computed a second time', () => {
  const isWritten = (text: string, claim: Claim) => {
    if (claim.kind === 'headline' && !text.includes(claim.title)) return false
    if (claim.kind === 'figure' && !isReadAsClaimed(claim)) return false
    return !('written' in claim) || text.toLowerCase().includes(claim.written.toLowerCase())
  }
  const wrong = made.filter(
    ({ sheet, text, label, claims }) =>
      secondLabel(knownSheet(sheet), claims) !== label || !claims.every((claim) => isWritten(text, claim)),
  )
  expect(wrong).toEqual([])
})

test('of the sentences by hand there are sixty a language at least, and every label whose figures are noted is derived again', () => {
  for (const language of LANGUAGES) {
    const counts = LABELS.map(
      (label) => BY_HAND.filter((one) => one.language === language && one.label === label).length,
    )
    expect(
      counts.reduce((sum, count) => sum + count, 0),
      language,
    ).toBeGreaterThanOrEqual(60)
    expect(Math.min(...counts), language).toBeGreaterThanOrEqual(10)
  }
  let derived = 0
  for (const one of BY_HAND) {
    const label = handLabel(knownSheet(one.sheet), one)
    if (label === null) continue
    derived++
    expect(label, `${one.text} ${JSON.stringify(one.given)}`).toBe(one.label)
  }
  expect(derived).toBeGreaterThan(150)
})

test('the hostile texts come in three languages, by both roads and in every disguise, and each carries a mark that no sheet has', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(200)
  expect(new Set(HOSTILE.map(({ id }) => id)).size).toBe(HOSTILE.length)
  for (const { name, carrier } of DISGUISES) {
    const ones = HOSTILE.filter((one) => one.disguise === name && one.carrier === carrier)
    expect(new Set(ones.map(({ language }) => language)).size, name).toBe(3)
  }
  const facts = JSON.stringify(SHEETS)
  for (const { id, text, marks } of HOSTILE) {
    expect(
      marks.some((mark) => text.includes(mark)),
      id,
    ).toBe(true)
    for (const mark of marks) expect(facts, `${id} ${mark}`).not.toContain(mark)
  }
})

test('no text comes twice', () => {
  const texts = [...made, ...BY_HAND, ...HOSTILE].map(({ text }) => text)
  const seen = new Set<string>()
  expect(texts.filter((text) => seen.size === seen.add(text).size)).toEqual([])
})

test('a third is sealed, by the text alone, and the two parts are the whole', () => {
  for (const part of ['made', 'byHand', 'hostile'] as const) {
    const [open, sealed] = [DEVELOPMENT[part].length, SEALED[part].length]
    expect(open + sealed).toBe({ made, byHand: BY_HAND, hostile: HOSTILE }[part].length)
    expect(sealed / (open + sealed), part).toBeGreaterThan(0.27)
    expect(sealed / (open + sealed), part).toBeLessThan(0.4)
    expect(SEALED[part].every(({ text }) => isSealed(text))).toBe(true)
    expect(DEVELOPMENT[part].some(({ text }) => isSealed(text))).toBe(false)
  }
  for (const label of LABELS)
    for (const language of LANGUAGES)
      expect(SEALED.made.filter((one) => one.label === label && one.language === language).length).toBeGreaterThan(20)
})

test('the corpus is the same on every machine', () => {
  const again = generate()
  expect(again.map(({ text }) => text)).toEqual(made.map(({ text }) => text))
  const lines = [...made, ...BY_HAND].map(({ sheet, label, text }) => `${sheet}\t${label}\t${text}`)
  const digest = (rows: readonly string[]) => createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)
  expect({ sentences: digest(lines), hostile: digest(HOSTILE.map(({ text }) => text)) }).toMatchInlineSnapshot(`
    {
      "hostile": "d3c9e7151d44e767",
      "sentences": "d2fa9453a6d38b5b",
    }
  `)
})
