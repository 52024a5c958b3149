// Where the steps of a run stand in its graph.

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
