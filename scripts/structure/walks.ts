// The walks of ARCHITECTURE.md, function by function. Each hop has to name the next one, so a walk that the code no longer
// takes is noticed; the number of hops is what a reader has to follow.

import { textOf } from '../../test/support/source-tree.ts'

type Hop = { file: string; name: string }

const CONVERSATION = 'durable-objects/conversation'

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
  'Follow a conversation': [
    { file: 'src/routes/conversations/socket.ts', name: 'fetch' },
    { file: `${CONVERSATION}/conversation.ts`, name: 'connect' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'accept' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'catchUp' },
    { file: `${CONVERSATION}/sockets/sessions.ts`, name: 'replay' },
    { file: `${CONVERSATION}/sockets/session.ts`, name: 'deliver' },
  ],
}

/** The hops whose file does not have the function any more. */
export function lostHops(walk: readonly Hop[]): Hop[] {
  return walk.filter(({ file, name }) => !new RegExp(`\\b#?${name}\\b`).test(textOf(file)))
}
