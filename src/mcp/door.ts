// The door out, as tool servers are asked through it.

import type { AddressPolicy } from '../lib/address-policy.ts'
import { typedByPerson } from '../lib/chooser.ts'
import { fetchThrough } from '../lib/guarded-fetch.ts'
import { CALL_DEADLINE_MS, MAX_ANSWER_BYTES } from './wire.ts'

/** The door to one server, whose address a person configured. What the server names itself is a stranger's choice. */
export type ServerDoor = (address: string) => typeof fetch

/** A server may think as long as a call may take before it sends as much as a header; the deadlines are the callers'. */
export function toolServerDoor(policy: AddressPolicy): ServerDoor {
  const patienceMs = CALL_DEADLINE_MS + 10_000
  const limits = { headersTimeoutMs: patienceMs, totalTimeoutMs: patienceMs, maxBytes: 2 * MAX_ANSWER_BYTES }
  return (address) => fetchThrough({ policy, limits, chosenBy: typedByPerson(address) })
}
