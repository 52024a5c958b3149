// What the agent is doing, and whether this page still hears of it.

import { useEffect, useState } from 'preact/hooks'
import type { Connection } from '../stream.ts'
import { Notice } from '../ui.tsx'
import type { AgentState } from './entries.ts'

const LABELS: Record<string, string> = {
  init: 'Setting up',
  loading: 'Setting up',
  running: 'Running',
  awaiting_user_input: 'Waiting for you',
  awaiting_user_confirmation: 'Waiting for a confirmation',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  rejected: 'Declined',
  error: 'Error',
  rate_limited: 'Waiting for the model provider',
}

export function StateBadge({ agent, progress }: { agent: AgentState | null; progress: string }) {
  const name = agent?.name ?? 'loading'
  const label = LABELS[name] ?? name.replaceAll('_', ' ')
  const detail = name === 'loading' ? progress : (agent?.reason ?? '')
  return (
    <output class={`state ${name}`} title={detail} data-state={name}>
      <span class="dot" aria-hidden="true" />
      {label}
    </output>
  )
}

type Props = { connection: Connection; onReconnect: () => void }

export function ConnectionNotice({ connection, onReconnect }: Props) {
  if (connection.state === 'ended') return <Notice kind="error">{connection.reason}</Notice>
  if (connection.state !== 'waiting') return null
  return (
    <Notice kind="warning" action={{ label: 'Reconnect now', run: onReconnect }}>
      Connection lost. Attempt {connection.attempt} <Countdown until={connection.retryAt} />. Nothing is missed: events
      that come meanwhile are shown then.
    </Notice>
  )
}

function Countdown({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [until])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  // Silent for screen readers, which would otherwise read every second aloud.
  return <span aria-hidden="true">{seconds === 0 ? 'now' : `in ${seconds} s`}</span>
}
