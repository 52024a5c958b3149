// Requests to the addresses of the operator's environment, and to those of the providers that the service itself knows. They
// are not doubted. Where such a service redirects to is its own choice, though: to another origin only if that is public.

import type { AddressPolicy } from './address-policy.ts'
import { namedByOperator } from './chooser.ts'
import { type DoorLimits, guardedFetch } from './guarded-fetch.ts'

const PUBLIC_ONLY: AddressPolicy = { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null }

/** The callers have limits of their own, which fit what they ask for; this is for what they let go of. */
const LIMITS: DoorLimits = { maxBytes: Number.MAX_SAFE_INTEGER, headersTimeoutMs: 600_000, totalTimeoutMs: 600_000 }

/** As `fetch`, for a body of text or bytes. */
export const operatorFetch = (url: string, init: RequestInit): Promise<Response> =>
  guardedFetch(url, init, { policy: PUBLIC_ONLY, chosenBy: namedByOperator(url), limits: LIMITS })

/** As `fetch`, and a redirect is the answer. Nothing stands between the service and the caller: for streams. */
export const operatorFetchOnce: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'manual' })
