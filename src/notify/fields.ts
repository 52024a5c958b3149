// Settings that several channels have, and functions to read answers.

import { z } from 'zod'
import { commaList, optionalAddress, optionalBaseUrl, type Variable, type Variables } from '../lib/variables.ts'

export const httpUrl = () =>
  z.url({ protocol: /^https?$/, error: 'an address that begins with https:// or http:// is wanted' })

/** An address that is requested unchanged. The address policy is applied at the request. */
export const address = () => httpUrl().max(2_000)

/** The address of a service, without a trailing slash. */
export const apiUrl = (usual: string) =>
  httpUrl()
    .max(500)
    .transform((url) => url.replace(/\/+$/, ''))
    .default(usual)

/** Put unchanged into a header, a path or a query. */
export const token = () => z.string().regex(/^[\x21-\x7e]{1,500}$/, 'printable characters without blanks are wanted')

/** The same for a path segment. */
export const pathToken = () => z.string().regex(/^[A-Za-z0-9_:.-]{1,200}$/, 'letters, digits and _ : . - are wanted')

export const word = (max = 200) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    // Characters that would break out of a header or a line.
    .regex(/^\P{Cc}*$/u, 'no control characters are wanted')

export const mailbox = () => word(320).regex(/@/, 'an address with @ is wanted')

export const mailboxes = () => z.array(mailbox()).min(1).max(50)

/** A field of a JSON object; undefined for anything else. */
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

// The variables with which the operator configures a channel of the environment.

/** The variable of a setting. The channel declares whether it is a secret. */
export type Source = Pick<Variable, 'schema' | 'allowed'> & { readonly name: string }

export const addressIn = (name: string): Source => ({ name, ...optionalAddress() })
export const baseUrlIn = (name: string): Source => ({ name, ...optionalBaseUrl() })

/** Put unchanged into a header, a path or a body. */
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

/** By setting; null for one that only an owner's channel has. */
type Environment = Readonly<Record<string, Source | null>>

export function environmentVariables(environment: Environment, secrets: readonly string[]): Variables {
  const variables = Object.entries(environment).flatMap(([setting, source]) => {
    if (source === null) return []
    const { name, schema, allowed } = source
    return [[name, { schema, allowed, secret: secrets.includes(setting) }] as const]
  })
  return Object.fromEntries(variables)
}

/** The settings from the values; those whose variable is not set are left out. */
export function environmentSettings(
  environment: Environment,
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const settings = Object.entries(environment).map(([setting, source]) => [setting, source && values[source.name]])
  return Object.fromEntries(settings.filter(([, value]) => value !== undefined && value !== null))
}
