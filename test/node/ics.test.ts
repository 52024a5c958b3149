import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { type IcsEvent, icsFile } from '../../src/lib/ics.ts'

const EVENT: IcsEvent = {
  ...{ uid: 'a@b', from: '2028-02-29', to: '2028-02-29', summary: 'Results', description: '', isTentative: false },
}
const MADE = { name: 'Days', madeAt: Date.parse('2026-11-27T04:05:06.789Z') }

function parsed(text: string) {
  const calendar = new ICAL.Component(ICAL.parse(text) as unknown[])
  return calendar.getAllSubcomponents('vevent').map((one) => new ICAL.Event(one))
}

test('another program reads the days, texts and states of the file back as they were', () => {
  const nasty = 'Öl; Gas, "AG" \\ 贵州茅台\n第二行：😀 '.repeat(9).trim()
  const text = icsFile(
    [
      { ...EVENT, summary: nasty, description: nasty },
      { ...EVENT, uid: 'c', isTentative: true, to: '2028-03-02' },
    ],
    MADE,
  )
  const [first, second] = parsed(text)
  expect([first?.summary, first?.description]).toEqual([nasty, nasty])
  expect([first?.startDate.toString(), first?.endDate.toString()]).toEqual(['2028-02-29', '2028-03-01'])
  expect(first?.startDate.isDate).toBe(true)
  expect([second?.uid, second?.endDate.toString()]).toEqual(['c', '2028-03-03'])
  expect(second?.component.getFirstPropertyValue('status')).toBe('TENTATIVE')
  expect(String(first?.component.getFirstPropertyValue('dtstamp'))).toBe('2026-11-27T04:05:06Z')
  const lines = text.split('\r\n')
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75)
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
})

test('a control character cannot add a line, and a file without days is a calendar all the same', () => {
  const text = icsFile([{ ...EVENT, summary: 'a\r\nEND:VEVENT\u0000\u0007b\rc' }], MADE)
  expect(parsed(text).map(({ summary }) => summary)).toEqual(['a\nEND:VEVENTb\nc'])
  expect(parsed(icsFile([], MADE))).toEqual([])
})
