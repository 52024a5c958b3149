// The operator's options: first flags, then the environment, then the defaults.

import { readFileSync } from 'node:fs'
import { availableParallelism, homedir, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { LABEL } from '../../src/runners/wire.ts'
import { DEFAULT_HOSTS } from './network/default-hosts.ts'

export type Isolation = 'bwrap' | 'none'
export type Network = 'none' | 'list' | 'all'

export type Options = {
  readonly url: URL
  readonly key: string
  readonly name: string
  readonly labels: readonly string[]
  readonly capacity: number
  readonly isolation: Isolation
  readonly network: Network
  /** Host names that `list` permits; `*.` at the start means every name below. */
  readonly allow: readonly string[]
  /** Only the operator's list counts: the service is not asked about other hosts. */
  readonly isAllowExact: boolean
  /** An absolute path. */
  readonly workspaces: string
  /** The runner ends after its first conversation has ended. */
  readonly isOnce: boolean
  /** The user for a runner started by root; null for the default. */
  readonly user: string | null
  readonly limits: Limits
  /** A notebook's kernel is ended after this time without use; null for never. */
  readonly idleMs: number | null
  /** The same for a browser. */
  readonly browserIdleMs: number | null
}

export type Limits = {
  /** For one conversation, all its folders together. */
  readonly diskBytes: number
  readonly memoryBytes: number
  /** Processor time as a number of cores, if the system can measure it. */
  readonly cpus: number
  readonly processes: number
  readonly fileBytes: number
  readonly tmpBytes: number
}

export class UsageError extends Error {}

const FLAGS = {
  url: { type: 'string' },
  key: { type: 'string' },
  'key-file': { type: 'string' },
  name: { type: 'string' },
  labels: { type: 'string' },
  capacity: { type: 'string' },
  isolation: { type: 'string' },
  network: { type: 'string' },
  allow: { type: 'string' },
  workspaces: { type: 'string' },
  user: { type: 'string' },
  disk: { type: 'string' },
  memory: { type: 'string' },
  cpus: { type: 'string' },
  processes: { type: 'string' },
  idle: { type: 'string' },
  'browser-idle': { type: 'string' },
  once: { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const

type Env = Readonly<Record<string, string | undefined>>
type Values = { readonly [F in keyof typeof FLAGS]?: string | boolean | undefined }
type Text = (name: keyof typeof FLAGS) => string | undefined

/** Throws a `UsageError` for invalid options. */
export function readOptions(args: readonly string[], env: Env): Options | 'help' | 'version' {
  const values = parsedFlags(args)
  if (values.help) return 'help'
  if (values.version) return 'version'
  const text: Text = (name) => {
    const value = values[name] ?? env[`BELLWETHER_RUNNER_${name.toUpperCase().replace('-', '_')}`]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return {
    url: urlOf(text('url')),
    key: keyOf(text),
    name: nameOf(text('name')),
    labels: labelsOf(text('labels')),
    capacity: countOf('capacity', text('capacity') ?? '4', 1000),
    isolation: oneOf('isolation', text('isolation') ?? 'bwrap', ['bwrap', 'none']),
    network: oneOf('network', text('network') ?? 'list', ['none', 'list', 'all']),
    allow: hostsOf(text('allow')),
    isAllowExact: text('allow')?.startsWith('=') ?? false,
    workspaces: resolve(text('workspaces') ?? join(env.HOME ?? homedir(), '.bellwether-runner')),
    isOnce: values.once === true || env.BELLWETHER_RUNNER_ONCE === '1',
    user: text('user') ?? null,
    limits: {
      diskBytes: sizeOf('disk', text('disk') ?? '10G'),
      memoryBytes: sizeOf('memory', text('memory') ?? '4G'),
      cpus: coresOf(text('cpus')),
      processes: countOf('processes', text('processes') ?? '512', 100_000),
      fileBytes: 2 * 1024 ** 3,
      tmpBytes: 256 * 1024 ** 2,
    },
    idleMs: idleOf('idle', text('idle') ?? '60'),
    browserIdleMs: idleOf('browser-idle', text('browser-idle') ?? '15'),
  }
}

function parsedFlags(args: readonly string[]): Values {
  try {
    const { values, tokens } = parseArgs({ args: [...args], options: FLAGS, allowPositionals: false, tokens: true })
    // A list given in parts is one list: no permitted or requested host may be lost silently.
    const all = (name: string) =>
      tokens.flatMap((token) => (token.kind === 'option' && token.name === name ? [token.value ?? ''] : []))
    const lists = ['labels', 'allow'].filter((name) => all(name).length > 1)
    return { ...values, ...Object.fromEntries(lists.map((name) => [name, all(name).join(',')])) }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments cannot be read')
  }
}

function urlOf(text: string | undefined): URL {
  if (text === undefined)
    throw new UsageError('--url says where the service is, for example --url https://bellwether.example')
  if (!URL.canParse(text)) throw new UsageError(`--url ${text} is no address`)
  const url = new URL(text)
  if (!['http:', 'https:'].includes(url.protocol)) throw new UsageError('--url begins with http:// or https://')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new UsageError('--url with http:// is for this machine alone: the key would cross the network in the clear')
  }
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '')
    throw new UsageError(`--url is scheme, host and port alone, such as ${url.origin}`)
  return url
}

/** It is shown to users and models, so the service accepts only such names. */
function nameOf(text: string | undefined): string {
  if (text === undefined) return hostname().replaceAll(UNSEEN, '').slice(0, 100) || 'runner'
  if (text.length > 100) throw new UsageError('--name has at most 100 characters')
  if (text.search(UNSEEN) >= 0) throw new UsageError('--name has characters that cannot be seen')
  return text
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

function keyOf(text: Text): string {
  const file = text('key-file')
  const key = text('key') ?? (file === undefined ? undefined : fileText(file))
  if (key === undefined || key === '')
    throw new UsageError('--key or --key-file gives the key with which the runner signs in')
  if (!/^[\x21-\x7e]{1,400}$/.test(key)) throw new UsageError('the key has characters that no key has')
  return key
}

function fileText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`--key-file ${file} cannot be read: ${error instanceof Error ? error.message : ''}`)
  }
}

function listOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function labelsOf(text: string | undefined): string[] {
  const labels = listOf(text)
  const bad = labels.find((label) => !LABEL.test(label))
  if (bad !== undefined) throw new UsageError(`--labels: "${bad}" is no label`)
  if (labels.length > 32) throw new UsageError('--labels: at most 32')
  return labels
}

/** The hosts are added to the registries and git hosts; a leading `=` replaces them. */
function hostsOf(text: string | undefined): string[] {
  const replaces = text?.startsWith('=') ?? false
  const named = listOf(replaces ? text?.slice(1) : text).map((host) => host.toLowerCase())
  const bad = named.find((host) => !/^(\*\.)?[a-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-f:]+\](:\d{1,5})?$/.test(host))
  if (bad !== undefined) throw new UsageError(`--allow: "${bad}" is no host name`)
  // A host of the default list that is given explicitly may be in the operator's private network.
  const own = named.flatMap((host) => (DEFAULT_HOSTS.includes(host) ? [`${host}:80`, `${host}:443`] : [host]))
  return replaces ? own : [...own, ...DEFAULT_HOSTS]
}

function countOf(name: string, text: string, most: number): number {
  const count = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most) throw new UsageError(`--${name} is a number from 1 to ${most}`)
  return count
}

/** By default a part of one core is left free: the runner and its machine must respond while a conversation uses its limit. */
function coresOf(text: string | undefined): number {
  if (text === undefined) return Math.max(0.5, availableParallelism() - 0.2)
  const count = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : 0
  if (count < 0.1 || count > 1024) throw new UsageError('--cpus is a number of cores such as 2 or 0.5')
  return count
}

/** Null for 0. */
function idleOf(name: string, text: string): number | null {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 24 * 60)
    throw new UsageError(`--${name} is a number of minutes up to 1440, or 0 for never`)
  return text === '0' ? null : Number(text) * 60_000
}

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 }

function sizeOf(name: string, text: string): number {
  const [, digits, unit] = /^(\d{1,12})([KMGT]?)$/.exec(text) ?? []
  const size = Number(digits) * (UNITS[unit ?? ''] ?? 1)
  if (!Number.isSafeInteger(size) || size < 1) throw new UsageError(`--${name} is a size such as 512M or 10G`)
  return size
}

function oneOf<const T extends string>(name: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw new UsageError(`--${name} is one of ${choices.join(', ')}`)
  return found
}
