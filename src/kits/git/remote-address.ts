// The address of a remote: http or https, and nothing secret in it that would be stored.

import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import type { Credential } from './remotes.ts'

export interface RemoteAddress {
  /** Without user name and password. */
  url: string
  /** What stood in it, for this command alone. */
  credential: Credential | null
}

/** The path in the workspace that an address is, or null: a path as such, or one behind `file://`. */
export function localPath(given: string): string | null {
  const path = /^file:\/\/(?:localhost(?=\/))?(\/.*)$/i.exec(given)?.[1]
  if (path !== undefined) return path
  const isPath = !/^[a-z][a-z0-9+.-]*:\/\//i.test(given) && !/^[^/]*:/.test(given)
  return isPath && given !== '' ? given : null
}

/** As messages and `FETCH_HEAD` have it. */
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
    // A lone `%` is a `%`.
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

/** The address as it may be stored; says so when there was something to leave out. */
export function withoutCredentials(git: Invocation, given: string): string {
  if (!/^https?:\/\/[^/?#]*@/i.test(given)) return given
  git.err('warning: the user name and password in the address are not stored')
  return parseAddress(given).url
}

/** What `git clone` names the folder when it is not told. */
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
