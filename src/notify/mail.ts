// What the services that send mail have in common.

import { lineIn, mailboxesIn } from './fields.ts'

/** One sender and one list of receivers for whichever of them is set up. */
export const MAIL_ENVIRONMENT = { from: lineIn('EMAIL_FROM'), to: mailboxesIn('EMAIL_TO', 50) } as const

/** Of a whole report there is seldom a tenth. */
export const MAIL_CHARACTERS = 200_000
export const SUBJECT_CHARACTERS = 200

/** `Name <name@example.com>`, or the address alone. */
export function nameAndAddress(mailbox: string): { email: string; name?: string } {
  const [, name, email] = /^(.*?)\s*<([^<>]+)>$/.exec(mailbox) ?? []
  if (email === undefined) return { email: mailbox }
  return name === undefined || name === '' ? { email } : { email, name: name.replace(/^"(.*)"$/, '$1') }
}
