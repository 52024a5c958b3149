// Names with a secret that only one object can compare: a ticket opens the runner's socket of one conversation, a host
// label leads to one of its ports. Each contains the id of the object, so no table is needed.

import { fromBase64, toBase64Url } from '../lib/crypto.ts'

const TICKET = /^bwr_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/

export type Ticket = { owner: string; secret: string }

export function ticketText({ owner, secret }: Ticket): string {
  return `bwr_${toBase64Url(new TextEncoder().encode(owner))}.${secret}`
}

/** Null when the text is not a ticket. */
export function ticketIn(text: string): Ticket | null {
  const [, owner, secret] = TICKET.exec(text) ?? []
  if (owner === undefined || secret === undefined) return null
  const bytes = fromBase64(owner)
  return bytes === null ? null : { owner: new TextDecoder().decode(bytes), secret }
}

// The name under which a conversation's port is served: one label of a host name. It contains the id of the object, so
// no table is needed, and a secret that only this object can compare. Host names are case-insensitive.

/** 32 bytes and 8 bytes in base 36, of fixed length: 63 characters, the maximum of a label. */
const PLACE_CHARS = 50
const SECRET_CHARS = 13
const LABEL = new RegExp(`^[0-9a-z]{${PLACE_CHARS + SECRET_CHARS}}$`)
const LARGEST_PLACE = 1n << 256n

export type PortToken = { readonly object: string; readonly secret: string }

/** `object`: the id of the conversation's object, 64 hexadecimal digits. */
export function portLabel({ object, secret }: PortToken): string {
  return BigInt(`0x${object}`).toString(36).padStart(PLACE_CHARS, '0') + secret
}

/** Null when the label does not name a port. */
export function portTokenIn(label: string): PortToken | null {
  const lower = label.toLowerCase()
  if (!LABEL.test(lower)) return null
  let place = 0n
  for (const digit of lower.slice(0, PLACE_CHARS)) place = place * 36n + BigInt(Number.parseInt(digit, 36))
  if (place >= LARGEST_PLACE) return null
  return { object: place.toString(16).padStart(64, '0'), secret: lower.slice(PLACE_CHARS) }
}

/** 64 random bits: in addition, the object's own id is only known to those who have an address of it. */
export function newPortSecret(): string {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  return ((BigInt(high) << 32n) | BigInt(low)).toString(36).padStart(SECRET_CHARS, '0')
}
