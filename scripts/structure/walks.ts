// The call paths in ARCHITECTURE.md, function by function; the number of hops is what a reader has to follow. A function that is no longer
// in its file is reported.

import { textOf } from '../../test/support/source-tree.ts'

type Hop = { file: string; name: string }

const CONVERSATION = 'durable-objects/conversation'
const QUEUE = 'durable-objects/task-queue'

export const WALKS: Readonly<Record<string, readonly Hop[]>> = {
  'POST an event, until it is answered': [
    { file: 'src/routes/conversations/events.ts', name: 'addEvent' },
    { file: `${CONVERSATION}/conversation.ts`, name: 'addEvent' },
    { file: `${CONVERSATION}/state.ts`, name: 'receive' },
    { file: 'src/agent/loop.ts', name: 'receive' },
    { file: 'src/agent/user-input.ts', name: 'receiveMessage' },
    { file: 'src/agent/user-input.ts', name: 'takeMessage' },
    { file: `${CONVERSATION}/state.ts`, name: 'emit' },
    { file: `${CONVERSATION}/events/event-log.ts`, name: 'append' },
  ],
  "The model's answer, from the alarm to the log": [
    { file: `${CONVERSATION}/conversation.ts`, name: 'alarm' },
    { file: 'durable-objects/alarms.ts', name: 'fire' },
    { file: `${CONVERSATION}/conversation.ts`, name: 'work' },
    { file: 'src/agent/loop.ts', name: 'work' },
    { file: 'src/agent/loop.ts', name: 'askModel' },
    { file: 'src/agent/model-step.ts', name: 'run' },
    { file: 'src/agent/model-step.ts', name: 'ask' },
    { file: 'src/agent/model-step.ts', name: 'requestAnswer' },
    { file: 'src/llm/client.ts', name: 'ask' },
    { file: 'src/agent/loop.ts', name: 'settle' },
    { file: `${CONVERSATION}/state.ts`, name: 'emit' },
    { file: `${CONVERSATION}/events/event-log.ts`, name: 'append' },
  ],
  'POST an analysis, until its report is stored': [
    { file: 'src/routes/analysis/analyze.ts', name: 'submit' },
    { file: `${QUEUE}/task-queue.ts`, name: 'submit' },
    { file: `${QUEUE}/intake.ts`, name: 'submit' },
    { file: `${QUEUE}/task-queue.ts`, name: 'fill' },
    { file: `${QUEUE}/dispatch.ts`, name: 'fill' },
    { file: 'src/analysis/run.ts', name: 'run' },
    { file: 'src/analysis/run/run-task.ts', name: 'runTask' },
    { file: 'src/analysis/compose.ts', name: 'workOn' },
    { file: 'src/analysis/run/run-analysis.ts', name: 'runAnalysis' },
    { file: 'src/analysis/run/run-analysis.ts', name: 'savePatiently' },
  ],
  'Follow a conversation': [
    { file: 'src/routes/conversations/socket.ts', name: 'fetch' },
    { file: `${CONVERSATION}/conversation.ts`, name: 'connect' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'accept' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'catchUp' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'replay' },
    { file: `${CONVERSATION}/sockets/session.ts`, name: 'deliver' },
  ],
}

/** The hops whose file no longer has the function. */
export function lostHops(walk: readonly Hop[]): Hop[] {
  return walk.filter(({ file, name }) => !new RegExp(`\\b#?${name}\\b`).test(textOf(file)))
}
