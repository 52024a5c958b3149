// The settings that channels have in common, and the reading of answers.

import { z } from 'zod'
import { commaList, optionalAddress, optionalBaseUrl, type Variable, type Variables } from '../lib/variables.ts'

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

// The variables under which the operator sets a channel of the environment.

/** Which variable a setting comes from. Whether it is a secret is for the channel to say. */
export type Source = Pick<Variable, 'schema' | 'allowed'> & { readonly name: string }

export const addressIn = (name: string): Source => ({ name, ...optionalAddress() })
export const baseUrlIn = (name: string): Source => ({ name, ...optionalBaseUrl() })

/** Goes into a header, a path or a body as it stands. */
export const tokenIn = (name: string): Source => {
  const schema = z.string().regex(/^[\x21-\x7e]{1,500}$/)
  return { name, schema: schema.optional(), allowed: 'a text without blanks, as the service gave it' }
}

export const lineIn = (name: string): Source => {
  const schema = z.string().regex(/^\P{Cc}{1,320}$/u)
  return { name, schema: schema.optional(), allowed: 'one line of text' }
}

export const numberIn = (name: string, min: number): Source => {
  return { name, schema: z.coerce.number().int().min(min).optional(), allowed: `a whole number from ${min}` }
}

export const mailboxesIn = (name: string, most: number): Source => {
  const schema = commaList('').pipe(z.array(z.string().regex(/@/)).max(most))
  const orNone = schema.transform((all) => (all.length === 0 ? undefined : all))
  return { name, schema: orNone, allowed: `a comma-separated list of at most ${most} addresses` }
}

/** By setting; null for one that only an owner's own channel has. */
type Environment = Readonly<Record<string, Source | null>>

export function environmentVariables(environment: Environment, secrets: readonly string[]): Variables {
  const variables = Object.entries(environment).flatMap(([setting, source]) => {
    if (source === null) return []
    const { name, schema, allowed } = source
    return [[name, { schema, allowed, secret: secrets.includes(setting) }] as const]
  })
  return Object.fromEntries(variables)
}

/** The settings that the values come to; one whose variable is not set is left out. */
export function environmentSettings(
  environment: Environment,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const settings = Object.entries(environment).map(([setting, source]) => [setting, source && values[source.name]])
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== null))
}
