// Policies of the guarded fetch for unit tests.

import type { AddressPolicy } from '../../src/lib/address-policy.ts'

/** The policy of a deployed service whose operator allows no private address. */
export const CLOSED: AddressPolicy = { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null }

/** The policy of a local service. */
export const LOCAL: AddressPolicy = { ...CLOSED, personMayUseLoopback: true }

/** With these entries in `ALLOW_PRIVATE_NETWORK`. */
export const allowing = (...allowPrivate: string[]): AddressPolicy => ({ ...CLOSED, allowPrivate })
