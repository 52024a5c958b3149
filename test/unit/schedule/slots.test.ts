import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sessionEnd, wallClock } from '../../../src/market/calendar.ts'
import { DAYS, isZone, nextSlot, type ScheduleTime, slotsBetween } from '../../../src/schedule/plan.ts'

const at = (text: string) => Date.parse(text)
const times = (zone: string, ...list: string[]): ScheduleTime => ({ times: list, zone, days: [...DAYS] })
const shown = (slots: { id: string; at: number }[]) =>
  slots.map(({ id, at: time }) => [id, new Date(time).toISOString()])

test('a time is that of its zone, on its days, whatever the service’s own clock', () => {
  const when: ScheduleTime = { times: ['09:00', '18:00'], zone: 'Asia/Shanghai', days: ['mon', 'fri'] }
  const span = { from: at('2026-08-13T00:00:00Z'), until: at('2026-08-18T00:00:00Z') }
  expect(shown(slotsBetween(when, [], span))).toEqual([
    ['2026-08-14T09:00', '2026-08-14T01:00:00.000Z'],
    ['2026-08-14T18:00', '2026-08-14T10:00:00.000Z'],
    ['2026-08-17T09:00', '2026-08-17T01:00:00.000Z'],
    ['2026-08-17T18:00', '2026-08-17T10:00:00.000Z'],
  ])
})

test('a span has its first moment outside and its last inside, so that neighbours share no slot', () => {
  const when = times('UTC', '12:00')
  const noon = at('2026-08-14T12:00:00Z')
  expect(slotsBetween(when, [], { from: noon - 1, until: noon }).length).toBe(1)
  expect(slotsBetween(when, [], { from: noon, until: noon + 1 }).length).toBe(0)
})

test('in the hour that New York skips a slot comes as much later, in the hour it repeats it comes once, at the first showing', () => {
  const when = times('America/New_York', '01:30', '02:30')
  // Clocks went from 02:00 to 03:00 on 8 March 2026 and from 02:00 back to 01:00 on 1 November.
  const spring = slotsBetween(when, [], { from: at('2026-03-08T05:00:00Z'), until: at('2026-03-08T12:00:00Z') })
  expect(shown(spring)).toEqual([
    ['2026-03-08T01:30', '2026-03-08T06:30:00.000Z'],
    ['2026-03-08T02:30', '2026-03-08T07:30:00.000Z'],
  ])
  const autumn = slotsBetween(when, [], { from: at('2026-11-01T04:00:00Z'), until: at('2026-11-01T12:00:00Z') })
  expect(shown(autumn)).toEqual([
    ['2026-11-01T01:30', '2026-11-01T05:30:00.000Z'],
    ['2026-11-01T02:30', '2026-11-01T07:30:00.000Z'],
  ])
})

test('after a close means each market’s own close, on its trading days, half days included', () => {
  const when: ScheduleTime = { after_close_minutes: 30 }
  const span = { from: at('2025-11-26T00:00:00Z'), until: at('2025-12-01T00:00:00Z') }
  expect(shown(slotsBetween(when, ['us', 'cn'], span))).toEqual([
    ['cn@2025-11-26', '2025-11-26T07:30:00.000Z'],
    ['us@2025-11-26', '2025-11-26T21:30:00.000Z'],
    ['cn@2025-11-27', '2025-11-27T07:30:00.000Z'],
    // Thanksgiving is left out, and the day after ends at one.
    ['cn@2025-11-28', '2025-11-28T07:30:00.000Z'],
    ['us@2025-11-28', '2025-11-28T18:30:00.000Z'],
  ])
  expect(nextSlot(when, ['cn'], at('2026-02-13T08:00:00Z'))?.id).toMatch(/^cn@2026-02-2\d$/)
  expect(sessionEnd('us', '2025-11-28')).toBe(at('2025-11-28T18:00:00Z'))
})

test('whatever the zone and however time is cut into spans, each day’s slot comes exactly once and the next one is found', () => {
  const zones = [
    'Asia/Shanghai',
    'America/New_York',
    'Europe/London',
    'Australia/Lord_Howe',
    'America/Sao_Paulo',
    'UTC',
  ]
  const start = at('2025-12-20T00:00:00Z')
  const minute = 60_000
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 3, maxLength: 10 }),
      (zone, hour, minutes, steps) => {
        const time = `${String(hour).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
        const when = times(zone, time)
        const cuts = [start]
        for (const step of steps) cuts.push((cuts.at(-1) ?? start) + step * minute)
        const found = cuts.slice(1).flatMap((until, i) => slotsBetween(when, [], { from: cuts[i] ?? start, until }))
        const whole = slotsBetween(when, [], { from: start, until: cuts.at(-1) ?? start })
        expect(found).toEqual(whole)
        expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length)
        for (const [i, slot] of whole.entries()) {
          const clock = wallClock(slot.at, zone)
          // As the clock says, or later by a jump that no zone makes larger than an hour.
          const lateBy = Math.floor(clock.secondOfDay / 60) - (hour * 60 + minutes)
          expect([0, 30, 60]).toContain(clock.date === slot.id.slice(0, 10) ? lateBy : lateBy + 1440)
          const before = whole[i - 1]
          if (before) expect(nextSlot(when, [], before.at)).toEqual(slot)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('only names of zones are zones', () => {
  for (const zone of ['Asia/Shanghai', 'America/Argentina/Buenos_Aires', 'UTC', 'Etc/GMT+8'])
    expect(isZone(zone)).toBe(true)
  for (const text of ['+08:00', 'Mars/Olympus', '', 'Asia/Shanghai ', '../etc', 'x'.repeat(100), '東京']) {
    expect([text, isZone(text)]).toEqual([text, false])
  }
})
