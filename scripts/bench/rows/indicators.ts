// P16: the whole set of indicators over a long daily series, against three libraries that compute the same set.

import { LONG } from '../../../test/support/long-series.ts'
import type { IndicatorCalls, Side } from '../indicator-sets.ts'
import type { Measurement, Sample } from '../rounds.ts'
import type { Stage } from '../stage.ts'

export async function indicators(stage: Stage): Promise<Measurement[]> {
  const program = stage.startProgram<IndicatorCalls>('indicator-sets.ts')
  const sets = async (side: Side): Promise<Sample> => {
    const value = await program.call('setsPerSecond', side)
    return { value, clientCpu: null, serverMicros: null, waited: null }
  }
  const rivals = ['technicalindicators', 'trading-signals', 'indicatorts'] as const
  return rivals.map((rival) => ({
    row: 'P16',
    what: `full indicator set over ${LONG} bars against ${rival}, sets`,
    unit: '/s',
    ours: () => sets('ours'),
    baseline: () => sets(rival),
  }))
}
