// The positions of a run's steps in its graph.

import { say, type Text } from '../texts.ts'
import type { Flow, FlowNode } from './record-api.ts'

export const BOX = { width: 176, height: 52 }
export const GAP = { x: 64, y: 16 }
export const HEAD = 28

export type Placed = { node: FlowNode; x: number; y: number }

export function placeNodes({ lanes, nodes }: Pick<Flow, 'lanes' | 'nodes'>): Map<string, Placed> {
  const placed = new Map<string, Placed>()
  const ordered = lanes.toSorted((a, b) => a.order - b.order)
  for (const [column, lane] of ordered.entries()) {
    for (const [row, node] of nodes.filter((one) => one.lane === lane.id).entries()) {
      const x = column * (BOX.width + GAP.x)
      placed.set(node.id, { node, x, y: HEAD + row * (BOX.height + GAP.y) })
    }
  }
  return placed
}

const STATUS: Readonly<Record<string, Text>> = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  failed: 'failed',
  degraded: 'degraded',
  fallback: 'fallback',
  timeout: 'timeout',
  cancel_requested: 'being cancelled',
  cancelled: 'cancelled',
  skipped: 'skipped',
  unknown: 'unknown',
  available: 'available',
  missing: 'missing',
  not_supported: 'not supported',
  stale: 'stale',
  estimated: 'estimated',
  partial: 'partial',
  fetch_failed: 'not fetched',
}

/** The status of a step of a run, or of a data source of a report; an unknown one is shown unchanged. */
export function statusText(status: string): string {
  const known = STATUS[status]
  return known === undefined ? status.replaceAll('_', ' ') : say(known)
}
