// Two stars as a whole component of a pattern (`shopt -s globstar`), which stand for any folders. The interpreter would go
// into hidden ones and through links, find no folders, and take one component alone behind them. So the folders are found
// here, and it is asked for what is in each of them.

import { isFileError } from '../file-system.ts'
import type { Watched } from './position.ts'
import type { StepResult } from './shape.ts'
import { literal, type Part, type Run, type Word, withOption, wordsAlone } from './words-alone.ts'

const STARS = '**'

export function hasGlobstar({ parts }: Word): boolean {
  return placeOf(parts) !== -1
}

function placeOf(parts: readonly Part[]): number {
  return parts.findIndex((part, i) => {
    if (part.type !== 'Glob' || part.pattern !== STARS) return false
    const [before, after] = [parts[i - 1], parts[i + 1]]
    const begins = before === undefined || (before.type === 'Literal' && before.value.endsWith('/'))
    return begins && (after === undefined || (after.type === 'Literal' && after.value.startsWith('/')))
  })
}

export async function expandGlobstar(shell: Watched, word: Word, run: Run): Promise<Word[] | StepResult> {
  const { options, shoptOptions } = shell.ctx.state
  if (!options.noglob) {
    const found = await withOption(shoptOptions, 'nullglob', true, () =>
      withOption(shoptOptions, 'failglob', false, () => matches(shell, word.parts, run)),
    )
    if (!Array.isArray(found)) return found
    if (found.length > 0 || shoptOptions.nullglob) return [...new Set(found)].sort(byCodeUnits).map(literal)
  }
  const unmatched = await withOption(options, 'noglob', true, () => wordsAlone(shell, word, run))
  if (!Array.isArray(unmatched)) return unmatched
  if (shoptOptions.failglob) return { stdout: '', stderr: `bash: no match: ${unmatched[0]}\n`, exitCode: 1 }
  return unmatched.map(literal)
}

async function matches(shell: Watched, parts: readonly Part[], run: Run): Promise<string[] | StepResult> {
  const place = placeOf(parts)
  if (place === -1) return wordsAlone(shell, { type: 'Word', parts: [...parts] }, run)
  const before = parts.slice(0, place)
  const after = withoutFirstSlash(parts.slice(place + 1))
  const bases = before.length === 0 ? [''] : await wordsAlone(shell, { type: 'Word', parts: before }, run)
  if (!Array.isArray(bases)) return bases
  const found: string[] = []
  for (const base of bases) {
    if (base !== '' && !(await exists(shell, base))) continue
    const below = await entriesBelow(shell, base)
    const folders = below.filter(({ isFolder }) => isFolder)
    if (after.length === 0) found.push(...[base].filter(Boolean), ...below.map(({ path }) => path))
    else if (isSlash(after)) found.push(...[base].filter(Boolean), ...folders.map(({ path }) => `${path}/`))
    else {
      const entered = folders.filter(({ isLink }) => !isLink).map(({ path }) => `${path}/`)
      for (const folder of [base, ...entered]) {
        const start: Part[] = folder === '' ? [] : [{ type: 'SingleQuoted', value: folder }]
        const inside = await matches(shell, [...start, ...after], run)
        if (!Array.isArray(inside)) return inside
        for (const path of inside) if (await exists(shell, path)) found.push(path)
      }
    }
  }
  return found
}

/** Null where nothing follows; a slash alone asks for folders. */
function withoutFirstSlash([first, ...rest]: readonly Part[]): Part[] {
  if (first?.type !== 'Literal') return []
  const value = first.value.replace(/^\/+/, '')
  if (value === '' && rest.length === 0) return [{ type: 'Literal', value: '/' }]
  return value === '' ? rest : [{ type: 'Literal', value }, ...rest]
}

function isSlash([first, ...rest]: readonly Part[]): boolean {
  return first?.type === 'Literal' && first.value === '/' && rest.length === 0
}

/** What is no pattern is answered whether or not there is such a file. */
async function exists({ ctx }: Watched, path: string): Promise<boolean> {
  const resolved = ctx.fs.resolvePath(ctx.state.cwd, path)
  if (await ctx.fs.exists(resolved)) return !path.endsWith('/') || (await ctx.fs.stat(resolved)).isDirectory
  try {
    return (await ctx.fs.lstat(resolved)).isSymbolicLink
  } catch (error) {
    if (isFileError(error)) return false
    throw error
  }
}

type Entry = { path: string; isFolder: boolean; isLink: boolean }

/** Not through links, and not into what is hidden. */
async function entriesBelow({ ctx }: Watched, base: string): Promise<Entry[]> {
  const { fs, state } = ctx
  const found: Entry[] = []
  const open = [base]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const path = fs.resolvePath(state.cwd, folder === '' ? '.' : folder)
    if (!(await fs.exists(path)) || !(await fs.stat(path)).isDirectory || !fs.readdirWithFileTypes) continue
    for (const { name, isDirectory, isSymbolicLink } of await fs.readdirWithFileTypes(path)) {
      if (name.startsWith('.') && !state.shoptOptions.dotglob) continue
      found.push({ path: `${folder}${name}`, isFolder: isDirectory, isLink: isSymbolicLink })
      if (isDirectory && !isSymbolicLink) open.push(`${folder}${name}/`)
    }
  }
  return found
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : Number(a > b))
