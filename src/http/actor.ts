import type { Principal } from './principal.ts'

/** Who did something, for the audit log: the id of the key, or "local" or "root" where there is none. */
export const actorOf = ({ keyId, via }: Principal): string => keyId ?? via
