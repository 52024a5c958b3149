import { expect, test } from 'vitest'
import { ALERT_TEXTS } from '../../src/alerts/texts.ts'
import { CHAT_TEXTS } from '../../src/analysis/chat/texts.ts'
import { CALENDAR_TEXTS } from '../../src/routes/analysis/calendar-texts.ts'
import { SCREENING_TEXTS } from '../../src/screening/texts.ts'

const BOOKS = { ALERT_TEXTS, CALENDAR_TEXTS, CHAT_TEXTS, SCREENING_TEXTS }

/** Stands for a text, a number or an object with such: what is made of it shows where it was put. */
function value(name: string): unknown {
  return new Proxy({}, { get: (_, key) => (typeof key === 'symbol' ? () => `‹${name}›` : value(`${name}.${key}`)) })
}

/** Each text of a book by its path; one with gaps is filled. */
function textsIn(book: unknown, path = ''): [path: string, text: string][] {
  if (typeof book === 'string') return [[path, book]]
  if (typeof book === 'function') {
    const gaps = Array.from({ length: book.length }, (_, at) => value(String(at)))
    return [[path, String(Reflect.apply(book, undefined, gaps))]]
  }
  if (typeof book !== 'object' || book === null) throw new Error(`${path} is no text`)
  return Object.entries(book).flatMap(([name, inner]) => textsIn(inner, `${path}/${name}`))
}

const GAP = /‹[\w.]+›/g
const gapsOf = (text: string) => [...new Set(text.match(GAP))].sort()

test('no text of a book is empty in a language, and all languages say the same values', () => {
  const faults = Object.entries(BOOKS).flatMap(([name, { en, ...others }]) => {
    const english = new Map(textsIn(en))
    return Object.entries({ en, ...others }).flatMap(([language, book]) =>
      textsIn(book).flatMap(([path, text]) => {
        const place = `${name} ${language}${path}`
        const [said, wanted] = [gapsOf(text), gapsOf(english.get(path) ?? '')]
        return [
          ...(/\S/.test(text.replace(GAP, '')) ? [] : [`${place} is empty`]),
          ...(String(said) === String(wanted) ? [] : [`${place} says ${said} in place of ${wanted}`]),
        ]
      }),
    )
  })
  expect(faults).toEqual([])
})
