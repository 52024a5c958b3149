// Events like those of a conversation with an agent, each with words of its own.

import { agentMessage, runAction, userMessage } from '../../../src/agent/actions.ts'
import type { NewEvent } from '../../../src/agent/events.ts'
import { runObservation } from '../../../src/agent/observations.ts'

const WORDS = ['market', 'ledger', 'index', 'queue', 'session', 'workspace', 'review', 'signal', 'branch', 'report']

/** As many events as asked for; `first` decides what stands in them. */
export function seededEvents(first: number, count: number): NewEvent[] {
  return Array.from({ length: count }, (_, i) => seededEvent(first + i))
}

function seededEvent(n: number): NewEvent {
  const word = WORDS[n % WORDS.length] ?? ''
  const command = `grep -rn "${word} ${n}" src`
  if (n % 4 === 0) return userMessage(`Please look for ${word} number ${n}, and tell me where it stands.`, null, null)
  if (n % 4 === 1) return runAction('agent', command)
  if (n % 4 === 3) return agentMessage(`It stands in src/${word}/${n}.ts, next to 第${n}号.`)
  const output = `src/${word}/${n}.ts:12: ${word} ${n}\n`
  return runObservation('agent', n, { command, output, exitCode: 0, workingDir: '/workspace', hidden: false })
}
