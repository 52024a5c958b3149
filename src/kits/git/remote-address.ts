// The URL of a remote: http or https, stored without secrets.

import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Credential } from './remotes.ts'

export interface RemoteAddress {
  /** Without user name and password. */
  url: string
  /** The credentials in the URL, for this command only. */
  credential: Credential | null
}

/** The path in the workspace for a path or a `file://` URL; otherwise null. */
export function localPath(given: string): string | null {
  const path = /^file:\/\/(?:localhost(?=\/))?(\/.*)$/i.exec(given)?.[1]
  if (path !== undefined) return path
  const isPath = !/^[a-z][a-z0-9+.-]*:\/\//i.test(given) && !/^[^/]*:/.test(given)
  return isPath && given !== '' ? given : null
}

/** The form in messages and in `FETCH_HEAD`. */
export function shownAddress(url: string): string {
  const plain = localPath(url) === null ? parseAddress(url).url : url
  return plain.replace(/\/+$/, '').replace(/(?<=.)\.git$/, '')
}

export function parseAddress(given: string): RemoteAddress {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase()
  if (scheme !== 'http' && scheme !== 'https') throw fatal(unavailable(given, scheme))
  const parts = /^(https?:\/\/)(?:([^/?#]*)@)?(.*)$/is.exec(given)
  const userinfo = parts?.[2]
  const url = `${parts?.[1] ?? ''}${parts?.[3] ?? ''}`.replace(/\/+$/, '')
  if (!URL.canParse(url)) throw fatal(`unable to parse the address of the remote`)
  return { url, credential: userinfo === undefined ? null : credentialOf(userinfo) }
}

function credentialOf(userinfo: string): Credential {
  const colon = userinfo.indexOf(':')
  const [name, password] = colon < 0 ? [userinfo, ''] : [userinfo.slice(0, colon), userinfo.slice(colon + 1)]
  return { username: decoded(name), password: decoded(password) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A single `%` is literal.
    return text
  }
}

function unavailable(given: string, scheme: string | undefined): string {
  const ssh = /^(?:ssh:\/\/)?(?:[^@/]+@)?([^:/@]+)[:/](?:\d+\/)?(.+)$/.exec(given)
  const isSsh = scheme === 'ssh' || (scheme === undefined && /^[^/@:]+@[^/:]+:/.test(given))
  if (isSsh) return `ssh is not available here; use https://${ssh?.[1] ?? 'host'}/${ssh?.[2] ?? 'path'}`
  if (scheme !== undefined) return `transport '${scheme}' is not available here; use an http or https address`
  return `'${given}' is not an http or https address, and no others are available here`
}

/** The URL in the form to be stored; reports it if credentials were removed. */
export function withoutCredentials(git: Invocation, given: string): string {
  if (!/^https?:\/\/[^/?#]*@/i.test(given)) return given
  git.err('warning: the user name and password in the address are not stored')
  return parseAddress(given).url
}

/** The folder's name in `git clone` by default. */
export function folderNameOf(url: string): string {
  const whole = localPath(url) ?? new URL(url).pathname
  const path = whole
    .replace(/\/+$/, '')
    .replace(/\/\.git$/, '')
    .replace(/\.git$/, '')
  const last = path.split('/').at(-1) ?? ''
  const name = decoded(last).replace(/[/\\\0]/g, '')
  if (name === '' || name === '.' || name === '..') throw fatal(`could not guess a directory name for '${url}'`)
  return name
}
