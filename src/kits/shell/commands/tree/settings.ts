// The command line of `tree`.

import { globExpression } from '../globs.ts'
import { readGnuOptions } from '../search-options.ts'

const LETTERS = 'adlfixsphDFugtUrvNqnSL:P:I:'
const LONG = {
  dirsfirst: 'dirsfirst',
  filesfirst: 'filesfirst',
  noreport: 'noreport',
  prune: 'prune',
  'ignore-case': 'ignore-case',
  inodes: 'inodes',
  'sort=': 'sort',
  'timefmt=': 'timefmt',
  'charset=': 'charset',
  help: 'help',
}
const USAGE =
  'usage: tree [-adfghilpqrstuvxDFNU] [-L level] [-P pattern] [-I pattern] [--ignore-case] [--inodes]\n\t[--sort[=]<name>] [--dirsfirst] [--filesfirst] [--prune] [--timefmt[=]format] [--noreport] [directory ...]'

export interface TreeSettings {
  flags: Set<string>
  maxDepth: number
  sort: 'name' | 'mtime' | 'size' | 'version' | 'none'
  timeFormat: string | null
  shown: NameTest | null
  hidden: NameTest | null
  operands: string[]
}

type NameTest = (name: string, isFolder: boolean) => boolean

export function treeSettings(args: readonly string[]): TreeSettings | string {
  const read = readGnuOptions(args, { letters: LETTERS, long: LONG })
  if (!read.ok) {
    const letter = /invalid option -- '(.)'/.exec(read.problem)?.[1]
    const word = /unrecognized option '(.*)'/.exec(read.problem)?.[1]
    if (letter !== undefined) return `tree: Invalid argument -\`${letter}'.\n${USAGE}`
    return word === undefined ? `tree: ${read.problem}` : `tree: Invalid argument \`${word}'.\n${USAGE}`
  }
  const flags = new Set(read.options.map(({ name }) => name))
  const values = (name: string) => read.options.flatMap((option) => (option.name === name ? [option.value ?? ''] : []))
  const level = values('L').at(-1)
  if (level !== undefined && !/^[1-9]\d*$/.test(level)) return 'tree: Invalid level, must be greater than 0.'
  const sort = sortOf(flags, values('sort').at(-1))
  if (sort === null)
    return `tree: Sort type '${values('sort').at(-1)}' not valid, should be one of: name,version,size,mtime,ctime,none`
  const charset = values('charset').at(-1)
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) return `tree: --charset=${charset} is not available here`
  if (flags.has('S')) return 'tree: option -S (lines of an IBM PC) is not available here'
  if (values('timefmt').length > 0) flags.add('D')
  const ignoresCase = flags.has('ignore-case')
  return {
    flags,
    maxDepth: level === undefined ? Number.POSITIVE_INFINITY : Number(level),
    sort,
    timeFormat: values('timefmt').at(-1) ?? null,
    shown: nameTest(values('P'), ignoresCase),
    hidden: nameTest(values('I'), ignoresCase),
    operands: read.operands.length > 0 ? read.operands : ['.'],
  }
}

function sortOf(flags: ReadonlySet<string>, word: string | undefined): TreeSettings['sort'] | null {
  if (word !== undefined)
    return (['name', 'mtime', 'size', 'version', 'none'] as const).find((known) => known === word) ?? null
  if (flags.has('U')) return 'none'
  if (flags.has('v')) return 'version'
  return flags.has('t') ? 'mtime' : 'name'
}

/** Bars separate alternatives; a slash after one restricts it to folders. */
function nameTest(patterns: readonly string[], ignoresCase: boolean): NameTest | null {
  if (patterns.length === 0) return null
  const tests = patterns
    .flatMap((pattern) => pattern.split('|'))
    .map((glob) => ({
      expression: globExpression(glob.replace(/\/$/, ''), { ignoresCase }),
      needsFolder: glob.endsWith('/'),
    }))
  return (name, isFolder) =>
    tests.some(({ expression, needsFolder }) => (isFolder || !needsFolder) && expression.test(name))
}
