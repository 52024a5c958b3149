// A route under load, and alone: requests a second over many connections, and the median time over one.

import type { Measurement, Sample } from '../rounds.ts'
import type { Side, Stage } from '../stage.ts'

export const CONNECTIONS = 16
const LOAD_MS = 1_000
const ALONE_MS = 500

type Route = {
  readonly side: Side
  readonly request: string
  /** Called before each slice. */
  prepare?(): Promise<void>
  /** Called after each slice with the number of requests that were answered. */
  settle?(requests: number): Promise<void>
}

type Load = { readonly connections: number; readonly durationMs: number; readonly figure: 'perSecond' | 'p50Ms' }

export function throughput(stage: Stage, routes: Routes): Measurement {
  const load: Load = { connections: CONNECTIONS, durationMs: LOAD_MS, figure: 'perSecond' }
  return measurementOf(stage, routes, { load, unit: '/s', what: `${routes.what}, ${CONNECTIONS} connections` })
}

export function latency(stage: Stage, routes: Routes): Measurement {
  const load: Load = { connections: 1, durationMs: ALONE_MS, figure: 'p50Ms' }
  return measurementOf(stage, routes, { load, unit: 'ms', what: `${routes.what}, p50 over one connection` })
}

export type Routes = { readonly row: string; readonly what: string; readonly ours: Route; readonly baseline: Route }

type Kind = { readonly load: Load; readonly unit: '/s' | 'ms'; readonly what: string }

function measurementOf(stage: Stage, { row, ours, baseline }: Routes, { load, ...rest }: Kind): Measurement {
  return { row, ...rest, ours: () => slice(stage, ours, load), baseline: () => slice(stage, baseline, load) }
}

async function slice({ client, measured }: Stage, route: Route, load: Load): Promise<Sample> {
  const { side, request } = route
  const { connections, durationMs, figure } = load
  await route.prepare?.()
  return measured(side, async () => {
    const result = await client.call('load', { port: side.port, request, connections, durationMs })
    await route.settle?.(result.count)
    return { value: result[figure], requests: result.count, clientCpu: result.clientCpu }
  })
}
