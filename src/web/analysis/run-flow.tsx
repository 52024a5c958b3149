// The flow of a run, as a graph: a column for each stage, a box for each step, a line for data passed from one step to
// the next.

import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../api.ts'
import { languageTag, say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import { BOX, GAP, HEAD, type Placed, placeNodes, statusText } from './flow-places.ts'
import { type Flow, type FlowNode, getFlow } from './record-api.ts'

/** Requested when it is opened, because most users do not open it. */
export function RunFlow({ id }: { id: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const [flow, setFlow] = useState<Flow | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    if (!isOpen || flow !== null) return
    getFlow(id).then(setFlow, (error: unknown) => setProblem(messageOf(error)))
  }, [isOpen, id, flow])
  return (
    <details class="detail" lang={languageTag} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{say('How this report was made')}</summary>
      {problem !== null && <Notice kind="error">{problem}</Notice>}
      {flow !== null && <FlowGraph flow={flow} />}
    </details>
  )
}

function FlowGraph({ flow }: { flow: Flow }) {
  const placed = placeNodes(flow)
  const width = flow.lanes.length * (BOX.width + GAP.x) - GAP.x
  const height = Math.max(HEAD, ...[...placed.values()].map(({ y }) => y + BOX.height)) + 4
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="flow-scroll" aria-label={say('How this report was made')} tabIndex={0}>
      <svg class="flow" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img">
        <title>{summaryOf(flow)}</title>
        {flow.lanes
          .toSorted((a, b) => a.order - b.order)
          .map(({ id, label }, column) => (
            <text key={id} class="flow-lane" x={column * (BOX.width + GAP.x)} y={14}>
              {label}
            </text>
          ))}
        {flow.edges.map((edge) => (
          <Edge key={edge.id} from={placed.get(edge.from)} to={placed.get(edge.to)} kind={edge.kind} />
        ))}
        {[...placed.values()].map((one) => (
          <Box key={one.node.id} placed={one} isSlowest={one.node.id === flow.summary.bottleneck_node_id} />
        ))}
      </svg>
      <ul class="visually-hidden">
        {flow.nodes.map((node) => (
          <li key={node.id}>{describe(node)}</li>
        ))}
      </ul>
    </section>
  )
}

const summaryOf = ({ nodes, summary }: Flow): string =>
  summary.elapsed_ms === null
    ? say('{count} steps', { count: nodes.length })
    : say('{count} steps in {seconds} s', { count: nodes.length, seconds: (summary.elapsed_ms / 1000).toFixed(2) })

const describe = ({ label, status, duration_ms: ms, record_count: records, message }: FlowNode): string =>
  [
    label,
    statusText(status),
    ms === null ? '' : `${Math.round(ms)} ms`,
    records === null ? '' : `n = ${records}`,
    message ?? '',
  ]
    .filter((part) => part !== '')
    .join(' · ')

function Edge({ from, to, kind }: { from: Placed | undefined; to: Placed | undefined; kind: string }) {
  if (!from || !to) return null
  const isSameColumn = from.x === to.x
  const [x1, y1] = isSameColumn
    ? [from.x + BOX.width / 2, from.y + BOX.height]
    : [from.x + BOX.width, from.y + BOX.height / 2]
  const [x2, y2] = isSameColumn ? [to.x + BOX.width / 2, to.y] : [to.x, to.y + BOX.height / 2]
  const bend = isSameColumn ? 0 : (x2 - x1) / 2
  return <path class={`flow-edge ${kind}`} d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />
}

const LABEL_ROOM = 23

function Box({ placed: { node, x, y }, isSlowest }: { placed: Placed; isSlowest: boolean }) {
  const { label, status, duration_ms: ms } = node
  const shown = label.length > LABEL_ROOM ? `${label.slice(0, LABEL_ROOM - 1)}…` : label
  return (
    <g class={`flow-node ${status}`} transform={`translate(${x} ${y})`}>
      <title>{describe(node)}</title>
      <rect width={BOX.width} height={BOX.height} rx={8} />
      <circle cx={14} cy={18} r={4} />
      <text x={26} y={22}>
        {shown}
      </text>
      <text class="flow-note" x={26} y={41}>
        {ms === null ? statusText(status) : `${Math.round(ms)} ms`}
        {isSlowest ? ` · ${say('slowest')}` : ''}
      </text>
    </g>
  )
}
