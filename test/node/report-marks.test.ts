// What the console reads from a stored report to mark its figures.

import { expect, test } from 'vitest'
import { checksOf } from '../../src/web/analysis/stored-parts.ts'

const finding = (verdict: string, touches: string[]) => ({
  verdict,
  touches,
  label: 'bad tick',
  text: 'bad tick (high)',
})
const reportOf = (raw_result: unknown) => ({ details: { raw_result } })

test('only checks that warn or failed make marks, with their names; older and odd reports have none', () => {
  const findings = [finding('warn', ['range']), finding('pass', []), finding('not_possible', []), 'odd', null]
  expect(checksOf(reportOf({ consistency: { blocked: false, findings } }))).toEqual({
    isBlocked: false,
    alarms: [{ label: 'bad tick', text: 'bad tick (high)', touches: ['range'] }],
  })
  expect(checksOf(reportOf({ consistency: { blocked: true, findings: [finding('fail', ['price'])] } })).isBlocked).toBe(
    true,
  )
  // Reports of the release before have the text alone.
  const { label: _, ...old } = finding('warn', ['price'])
  expect(checksOf(reportOf({ consistency: { findings: [old] } })).alarms[0]?.label).toBe('bad tick (high)')
  for (const raw of [undefined, null, 'text', {}, { consistency: null }, { consistency: { findings: 'x' } }])
    expect(checksOf(reportOf(raw))).toEqual({ isBlocked: false, alarms: [] })
  expect(checksOf({ details: null }).alarms).toEqual([])
})
