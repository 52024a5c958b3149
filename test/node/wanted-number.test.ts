import { afterEach, expect, test, vi } from 'vitest'
import { wantedNumber } from '../support/wanted-number.ts'

afterEach(() => vi.unstubAllEnvs())

test('a run that is told a number takes it, and one that is told something else tries not nothing but fails', () => {
  expect(wantedNumber('WANTED_SCHEDULES', 100)).toBe(100)
  vi.stubEnv('WANTED_SCHEDULES', '250')
  expect(wantedNumber('WANTED_SCHEDULES', 100)).toBe(250)
  for (const word of ['', ' ', 'many', '1e3', '-5', '0', '0.5', '10,000', '9'.repeat(20)]) {
    vi.stubEnv('WANTED_SCHEDULES', word)
    expect(() => wantedNumber('WANTED_SCHEDULES', 100), word).toThrow(`WANTED_SCHEDULES: found "${word}", allowed is`)
  }
  vi.stubEnv('WANTED_SCHEDULES', '0')
  expect(wantedNumber('WANTED_SCHEDULES', 100, 0)).toBe(0)
})
