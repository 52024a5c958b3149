// A commit as a mail: the headers, the message, the statistics and the patch.

import { showDate } from '../dates.ts'
import { bodyOf, subjectOf } from '../message-parts.ts'
import type { Commit, Signature } from '../objects.ts'
import { headerValue } from './headers.ts'

export const MAIL_WIDTH = 72
/** A fixed date: programs recognize the start of a mail by this line. */
const FROM_DATE = 'Mon Sep 17 00:00:00 2001'

export interface MailHead {
  /** `PATCH 1/2`; null for an unchanged subject. */
  tag: string | null
  inReplyTo?: string | null
  /** Additional text in the mail. */
  says?: string
}

export function mailHeader(
  oid: string,
  { author, message }: Pick<Commit, 'author' | 'message'>,
  head: MailHead,
): string {
  const { tag, inReplyTo = null, says = '' } = head
  const lines = [
    `From ${oid} ${FROM_DATE}`,
    fromLine(author),
    `Date: ${showDate(author, 'rfc')}`,
    subjectLine(message, tag),
  ]
  if (inReplyTo !== null) lines.splice(1, 0, ...[`In-Reply-To: ${inReplyTo}`, `References: ${inReplyTo}`])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is no plain letter
  if (/[^\x00-\x7f]/.test(message + says))
    lines.push('MIME-Version: 1.0', 'Content-Type: text/plain; charset=UTF-8', 'Content-Transfer-Encoding: 8bit')
  return `${lines.join('\n')}\n`
}

function fromLine({ name, email }: Signature): string {
  const who = headerValue(name, 'From: '.length, 'name')
  const column = who.includes('\n') ? who.length - who.lastIndexOf('\n') - 1 : 'From: '.length + who.length
  return column + email.length + 3 > 78 ? `From: ${who}\n <${email}>` : `From: ${who} <${email}>`
}

function subjectLine(message: string, tag: string | null): string {
  const kept = (message.split(/\n\s*\n/, 1)[0] ?? '').trim()
  const start = tag === null || tag === '' ? 'Subject: ' : `Subject: [${tag}] `
  return start + headerValue(tag === null ? kept : subjectOf(message), start.length, 'text')
}

/** The message without its subject, with an empty line before and a line end. */
export function mailBody(message: string): string {
  const body = bodyOf(message).replace(/\s+$/, '')
  return body === '' ? '\n' : `\n${body}\n`
}

export function signatureText(signature: string): string {
  return signature === '' ? '' : `-- \n${signature.replace(/\n*$/, '\n')}\n`
}
