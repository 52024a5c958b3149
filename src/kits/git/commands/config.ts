import { type Arguments, parseArguments } from '../arguments.ts'
import { utf8 } from '../bytes.ts'
import { type ConfigFile, canonicalKey, isKey, isTrue, type Setting } from '../config-file.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { compilePattern } from '../patterns.ts'
import { withoutCredentials } from '../remote-address.ts'

const OPTIONS = [
  'global',
  'local',
  'system',
  'get',
  'get-all',
  'list|l',
  'unset',
  'unset-all',
  'add',
  'replace-all',
  'bool',
  'int',
  'type=',
  'name-only',
  'get-regexp',
  'remove-section',
  'default=',
]

const EXIT_MISSING = 1
const EXIT_NOT_UNIQUE = 5
const EXIT_USAGE = 129

export async function config(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('config', OPTIONS, args)
  options.assertOne('global', 'local', 'system')
  refuseCount(options)
  const [key, value] = options.rest
  const scope = options.has('global') ? 'global' : options.has('system') ? 'system' : 'local'
  if (options.has('list'))
    return list(
      git,
      scopeOf(git, options.has('global') || options.has('local') || options.has('system') ? scope : null),
      options.has('name-only'),
    )
  if (key === undefined) throw new GitFailure('usage: git config [<options>]', 129)
  const only = options.has('global')
    ? 'global'
    : options.has('local')
      ? 'local'
      : options.has('system')
        ? 'system'
        : null
  if (options.has('get-regexp')) return getMatching(git, { key, value, only, namesOnly: options.has('name-only') })
  if (options.has('remove-section')) return removeSection(git, scope, key)
  if (!isKey(key))
    throw new GitFailure(
      key.includes('.') ? `error: invalid key: ${key}` : `error: key does not contain a section: ${key}`,
      EXIT_MISSING,
    )
  const reads =
    options.has('get') ||
    options.has('get-all') ||
    (value === undefined && !options.has('unset') && !options.has('unset-all') && !options.has('add'))
  return reads ? read(git, options, { key, value, only }) : write(git, options, { key, value, scope })
}

/** The number of operands of each action, by default one that reads a value. */
const COUNTS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ...{ add: [2, 2], get: [1, 2], 'get-all': [1, 2], 'get-regexp': [1, 2], list: [0, 0], 'replace-all': [2, 3] },
  ...{ unset: [1, 2], 'unset-all': [1, 2], 'remove-section': [1, 1] },
}

function refuseCount(options: Arguments): void {
  const action = Object.keys(COUNTS).find((name) => options.has(name))
  const [least, most] = (action === undefined ? undefined : COUNTS[action]) ?? [0, 3]
  const count = options.rest.length
  if (count < least || count > most)
    throw new GitFailure(
      `error: wrong number of arguments, should be ${least === most ? least : `from ${least} to ${most}`}`,
      EXIT_USAGE,
    )
  if (options.has('name-only') && action !== 'list' && action !== 'get-regexp')
    throw new GitFailure('error: --name-only is only applicable to --list or --get-regexp', EXIT_USAGE)
  if (options.has('default') && action !== undefined && action !== 'get')
    throw new GitFailure('error: --default is only applicable to --get', EXIT_USAGE)
}

async function read(
  git: Invocation,
  options: Arguments,
  { key, value, only }: { key: string; value: string | undefined; only: Scope | null },
): Promise<number> {
  const shownAs = valueKind(options)
  const isWanted = valueTest(value)
  const found = (await settingsOf(git, only))
    .filter((setting) => setting.key === canonicalKey(key) && isWanted(setting.value))
    .map((setting) => setting.value)
  const shown = options.has('get-all') ? found : found.slice(-1)
  const fallback = options.value('default')
  for (const text of shown.length === 0 && fallback !== null ? [fallback] : shown)
    git.line(shownValue(text, { key, kind: shownAs }))
  return shown.length > 0 || fallback !== null ? 0 : EXIT_MISSING
}

async function write(
  git: Invocation,
  options: Arguments,
  { key, value, scope }: { key: string; value: string | undefined; scope: 'global' | 'local' | 'system' },
): Promise<number> {
  if (scope === 'system')
    throw new GitFailure('error: could not lock config file /etc/gitconfig: Read-only file system', 255)
  const kind = valueKind(options)
  return change(git, scope, (file) => {
    if (options.has('unset') || options.has('unset-all')) {
      const all = file.getAll(key)
      const isWanted = valueTest(value)
      const count = all.filter(isWanted).length
      if (count > 0 && count < all.length)
        throw fatal('config --unset of some of the values of a key is not available here')
      const isAmbiguous = count > 1 && !options.has('unset-all')
      if (isAmbiguous) git.err(`warning: ${canonicalKey(key)} has multiple values`)
      if (count === 0 || isAmbiguous) return EXIT_NOT_UNIQUE
      file.unset(key)
      return 0
    }
    if (file.getAll(key).length > 1 && !options.has('add')) {
      if (!options.has('replace-all')) throw severalValues(canonicalKey(key))
      file.unset(key)
    }
    file.set(key, storable(git, key, storedAs(value ?? '', { key, kind })), { add: options.has('add') })
    return 0
  })
}

type Kind = 'bool' | 'int' | null

function valueKind(options: Arguments): Kind {
  const given = options.value('type') ?? ['bool', 'int'].find((name) => options.has(name)) ?? null
  if (given === null || given === 'bool' || given === 'int') return given
  throw fatal(`config --type=${given} is not available here`)
}

const UNITS: Record<string, number> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

function shownValue(text: string, { key, kind }: { key: string; kind: Kind }): string {
  if (kind === 'bool') {
    if (!/^(true|yes|on|false|no|off|[+-]?\d+[kmg]?|)$/i.test(text))
      throw fatal(`bad boolean config value '${text}' for '${canonicalKey(key)}'`)
    return String(isTrue(text) || /^[+-]?0*[1-9]\d*[kmg]?$/i.test(text))
  }
  if (kind !== 'int') return text
  const number = /^([+-]?\d+)([kmg]?)$/i.exec(text)
  if (!number) throw fatal(`bad numeric config value '${text}' for '${canonicalKey(key)}': invalid unit`)
  return String(Number(number[1]) * (UNITS[(number[2] ?? '').toLowerCase()] ?? 1))
}

/** A value with a type is written in that type's form; a boolean may be stored as a number. */
const storedAs = (value: string, shown: { key: string; kind: Kind }): string =>
  shown.kind === null ? value : shownValue(value, shown)

function severalValues(key: string): GitFailure {
  return new GitFailure(
    `warning: ${key} has multiple values\nerror: cannot overwrite multiple values with a single value\n` +
      `       Use a regexp, --add or --replace-all to change ${key}.`,
    EXIT_NOT_UNIQUE,
  )
}

/** A URL is stored without a user name and password. */
function storable(git: Invocation, key: string, value: string): string {
  if (!/^remote\..*\.(push)?url$/i.test(key)) return value
  return withoutCredentials(git, value)
}

type Scope = 'global' | 'local' | 'system'

async function change(git: Invocation, scope: Scope, edit: (file: ConfigFile) => number): Promise<number> {
  if (scope === 'local') {
    const file = await git.repo().config()
    const exitCode = edit(file)
    if (exitCode === 0) await git.repo().saveConfig(file)
    return exitCode
  }
  const file = await git.globalConfig()
  const exitCode = edit(file)
  if (exitCode === 0) await git.fs.write(git.globalConfigPath, utf8(file.format()))
  return exitCode
}

function scopeOf(git: Invocation, scope: Scope | null): Scope | null {
  if (scope === 'local') git.repo()
  return scope
}

/** The last one is used. */
async function settingsOf(git: Invocation, scope: Scope | null): Promise<Setting[]> {
  const overrides = git.overrides.map(({ key, value }) => ({ key: canonicalKey(key), value }))
  const own = (scope === null || scope === 'local') && git.hasRepo() ? (await git.repo().config()).settings : []
  if (scope === 'local') return own
  const global = scope === 'system' ? [] : [...(await git.givenIdentity()), ...(await git.globalConfig()).settings]
  return scope === null ? [...global, ...own, ...overrides] : global
}

async function list(git: Invocation, scope: Scope | null, namesOnly: boolean): Promise<number> {
  const settings = await settingsOf(git, scope)
  if (scope === 'global' && settings.length === 0 && !git.fs.exists(git.globalConfigPath))
    throw fatal(`unable to read config file '${git.globalConfigPath}': No such file or directory`)
  for (const { key, value } of settings) git.line(namesOnly ? key : `${key}=${value}`)
  return 0
}

/** Matches values that contain a pattern; `!` at the start negates it. */
function valueTest(pattern: string | undefined): (value: string) => boolean {
  if (pattern === undefined) return () => true
  const regex = compilePattern(pattern.replace(/^!/, ''), { notation: 'extended' })
  return (value) => regex.test(value) !== pattern.startsWith('!')
}

type Matching = { key: string; value: string | undefined; only: Scope | null; namesOnly: boolean }

async function getMatching(
  git: Invocation,
  { key: pattern, value: wanted, only, namesOnly }: Matching,
): Promise<number> {
  const regex = compilePattern(pattern, { notation: 'extended' })
  const isWanted = valueTest(wanted)
  const found = (await settingsOf(git, only)).filter(({ key, value }) => regex.test(key) && isWanted(value))
  for (const { key, value } of found) git.line(namesOnly ? key : `${key} ${value}`)
  return found.length > 0 ? 0 : EXIT_MISSING
}

async function removeSection(git: Invocation, scope: Scope, section: string): Promise<number> {
  return change(git, scope, (file) => {
    if (file.removeSection(section) === 0) throw new GitFailure(`fatal: no such section: ${section}`, 128)
    return 0
  })
}
