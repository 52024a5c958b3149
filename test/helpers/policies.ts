// What a service may ask for on somebody else's word, as the tests of its parts need it.

import type { AddressPolicy } from '../../src/lib/address-policy.ts'

/** As a deployed service has it whose operator allows nothing. */
export const CLOSED: AddressPolicy = { allowPrivate: [], personMayUseLoopback: false, ownOrigins: [], marker: null }

/** As a local service has it. */
export const LOCAL: AddressPolicy = { ...CLOSED, personMayUseLoopback: true }

/** With these entries in `ALLOW_PRIVATE_NETWORK`. */
export const allowing = (...allowPrivate: string[]): AddressPolicy => ({ ...CLOSED, allowPrivate })
