// A ticket opens the runner's socket of one conversation. It names the owner, because the object of a conversation is
// addressed by owner and id; the secret part is known to the object alone, as a hash.

import { fromBase64, toBase64Url } from '../lib/crypto.ts'

const TICKET = /^bwr_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/

export type Ticket = { owner: string; secret: string }

export function ticketText({ owner, secret }: Ticket): string {
  return `bwr_${toBase64Url(new TextEncoder().encode(owner))}.${secret}`
}

/** Null for a text that is no ticket. */
export function ticketIn(text: string): Ticket | null {
  const [, owner, secret] = TICKET.exec(text) ?? []
  if (owner === undefined || secret === undefined) return null
  const bytes = fromBase64(owner)
  return bytes === null ? null : { owner: new TextDecoder().decode(bytes), secret }
}
