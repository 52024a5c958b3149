// The settings that channels have in common, and the reading of answers.

import { z } from 'zod'

export const httpUrl = () =>
  z.url({ protocol: /^https?$/, error: 'an address that begins with https:// or http:// is wanted' })

/** An address that is asked as it stands. What it may lead to is judged when it is asked. */
export const address = () => httpUrl().max(2_000)

/** The address of a service, without a slash at its end. */
export const apiUrl = (usual: string) =>
  httpUrl()
    .max(500)
    .transform((url) => url.replace(/\/+$/, ''))
    .default(usual)

/** What goes into a header, a path or a query as it stands. */
export const token = () => z.string().regex(/^[\x21-\x7e]{1,500}$/, 'printable characters without blanks are wanted')

/** The same where it becomes part of a path. */
export const pathToken = () => z.string().regex(/^[A-Za-z0-9_:.-]{1,200}$/, 'letters, digits and _ : . - are wanted')

export const word = (max = 200) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    // What would break out of its header or its line.
    .regex(/^\P{Cc}*$/u, 'no control characters are wanted')

export const mailbox = () => word(320).regex(/@/, 'an address with @ is wanted')

export const mailboxes = () => z.array(mailbox()).min(1).max(50)

/** A member of a JSON object; undefined for everything that has none. */
export function member(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
}

export function numberAt(body: unknown, name: string): number | null {
  const value = member(body, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function textAt(body: unknown, name: string): string {
  const value = member(body, name)
  return typeof value === 'string' ? value : ''
}

const encoder = new TextEncoder()

/** HMAC-SHA256; the key must not be empty. */
export async function hmac(key: string, message: string): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', encoder.encode(key), algorithm, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, encoder.encode(message)))
}

export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

export const base64OfText = (text: string): string => base64(encoder.encode(text))

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
