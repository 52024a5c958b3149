import { expect, test } from 'vitest'
import { ALERT_TEXTS } from '../../src/alerts/texts.ts'
import { CHAT_TEXTS } from '../../src/analysis/chat/texts.ts'
import type { ReportLanguage } from '../../src/analysis/schemas.ts'
import { textsOf } from '../../src/analysis/texts/book.ts'
import { REJECTION_TEXTS } from '../../src/market/names/rejection-texts.ts'
import { MESSAGE_TEXTS } from '../../src/notify/message.ts'
import { CALENDAR_TEXTS } from '../../src/routes/analysis/calendar-texts.ts'
import { ALERT_ENTRY_TEXTS } from '../../src/routes/analysis/page/alert-entry.ts'
import { CONFIGURATION_TEXTS } from '../../src/routes/analysis/page/configuration/texts.ts'
import { PAGE_TEXTS } from '../../src/routes/analysis/page/texts.ts'
import { IMPORT_TEXTS } from '../../src/routes/analysis/portfolio/import-texts.ts'
import { BOOKING_TEXTS } from '../../src/routes/analysis/portfolio/texts.ts'
import { REFUSAL_TEXTS } from '../../src/routes/analysis/refusals.ts'
import { DIGEST_TEXTS } from '../../src/schedule/digest-slot.ts'
import { SCREENING_TEXTS } from '../../src/screening/texts.ts'

type Book = Record<ReportLanguage, unknown>

const inAll = (open: (language: ReportLanguage) => unknown): Book => ({
  zh: open('zh'),
  en: open('en'),
  ko: open('ko'),
})

const BOOKS: Record<string, Book> = {
  ...{ ALERT_ENTRY_TEXTS, ALERT_TEXTS, BOOKING_TEXTS, CALENDAR_TEXTS, CHAT_TEXTS, CONFIGURATION_TEXTS, DIGEST_TEXTS },
  ...{ IMPORT_TEXTS, MESSAGE_TEXTS, PAGE_TEXTS, REFUSAL_TEXTS, REJECTION_TEXTS, SCREENING_TEXTS },
  analysis: inAll(textsOf),
}

/** Stands for a text, a number or an object with such: what is made of it shows where it was put. */
function value(name: string): unknown {
  return new Proxy(() => {}, {
    get: (_, key) => {
      return typeof key === 'symbol' || key === 'toJSON' ? () => `‹${name}›` : value(`${name}.${key}`)
    },
    apply: () => value(name),
  })
}

/** Each text of a book by its path; one with gaps is filled. */
function textsIn(book: unknown, path = ''): [path: string, text: string][] {
  if (typeof book === 'string') return [[path, book]]
  // Where a step of numbers begins, beside its word.
  if (typeof book === 'number') return []
  if (typeof book === 'function') {
    const gaps = Array.from({ length: book.length }, (_, at) => value(String(at)))
    return [[path, String(Reflect.apply(book, undefined, gaps))]]
  }
  if (typeof book !== 'object' || book === null) throw new Error(`${path} is no text`)
  return Object.entries(book).flatMap(([name, inner]) => textsIn(inner, `${path}/${name}`))
}

const GAP = /‹[\w.]+›|\{\w+\}/g
const gapsOf = (text: string) => [...new Set(text.match(GAP))].sort()

test('no text of a book is empty in a language, and all languages say the same values', () => {
  const faults = Object.entries(BOOKS).flatMap(([name, { en, ...others }]) => {
    const english = new Map(textsIn(en))
    return Object.entries({ en, ...others }).flatMap(([language, book]) =>
      textsIn(book).flatMap(([path, text]) => {
        const place = `${name} ${language}${path}`
        const [said, wanted] = [gapsOf(text), gapsOf(english.get(path) ?? '')]
        return [
          ...(/\S/.test(text) ? [] : [`${place} is empty`]),
          ...(String(said) === String(wanted) ? [] : [`${place} says ${said} in place of ${wanted}`]),
        ]
      }),
    )
  })
  expect(faults).toEqual([])
})
