// The state kept between scripts: the folder and the variables.

import { byteLength } from '../../workspace/file-system.ts'
import { DEFAULT_PS4, SPECIAL_NAMES } from './interpreter/special-variables.ts'

export interface ShellState {
  cwd: string
  /** Exported variables, the only ones that commands see. */
  env: Record<string, string>
  /** Variables that are not exported. */
  variables: Record<string, string>
}

/** Defaults for variables that the caller does not set. It never contains the service's own environment. */
export const BASE_ENV: Readonly<Record<string, string>> = {
  HOME: '/home/user',
  USER: 'user',
  LOGNAME: 'user',
  SHELL: '/bin/bash',
  PATH: '/usr/bin:/bin',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
}

/** The state is one small value in a row; variables beyond this size are not kept. */
const MAX_STATE_BYTES = 64 * 1024

/** Every new shell sets these itself. */
const OF_THE_SHELL: ReadonlySet<string> = new Set([
  ...['PWD', 'SHELLOPTS', 'BASHOPTS', 'OPTIND', 'OSTYPE', 'MACHTYPE', 'HOSTTYPE', 'HOSTNAME', '_'],
  ...SPECIAL_NAMES,
])
const DEFAULTS: Readonly<Record<string, string>> = { IFS: ' \t\n', PS4: DEFAULT_PS4 }

interface Captured {
  cwd: string
  all: Iterable<readonly [string, string]>
  exported: Readonly<Record<string, string>>
}

/** A shorter value occurs in too many texts to identify the secret. */
const TELLING_LENGTH = 4

/** Returns whether a value is or contains one of the secrets. */
export function secretTest(secrets: Iterable<string>): (value: string) => boolean {
  const known = new Set(secrets)
  const telling = [...known].filter((secret) => secret.length >= TELLING_LENGTH)
  return (value) => known.has(value) || telling.some((part) => value.includes(part))
}

/**
 * The current state. `all` contains every variable, `exported` only the exported ones. The state is stored unencrypted,
 * so variables with secrets are left out; each script gets the secrets again.
 */
export function captureState(
  { cwd, all, exported }: Captured,
  isSecret: (value: string) => boolean,
): ShellState & { dropped: string[] } {
  const state = {
    cwd,
    env: {} as Record<string, string>,
    variables: {} as Record<string, string>,
    dropped: [] as string[],
  }
  let bytes = 0
  for (const [name, value] of all) {
    if (!/^[A-Za-z_]\w*$/.test(name) || OF_THE_SHELL.has(name) || DEFAULTS[name] === value) continue
    if (isSecret(value)) continue
    const size = byteLength(name) + byteLength(value)
    if (bytes + size > MAX_STATE_BYTES) {
      state.dropped.push(name)
      continue
    }
    bytes += size
    const kept = Object.hasOwn(exported, name) ? state.env : state.variables
    // `__proto__` is a valid variable name.
    Object.defineProperty(kept, name, { value, enumerable: true, writable: true, configurable: true })
  }
  return state
}
