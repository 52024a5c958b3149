// File name expansion.

import { isFileError } from '../../../../workspace/file-system.ts'
import type { Watched } from '../position.ts'
import { ExpansionFailure } from './failure.ts'
import { type Field, textOf } from './fields.ts'
import { asText, patternOf } from './pattern.ts'
import { type Element, elementsOf } from './pattern-syntax.ts'

const STARS = '**'
/** One of the patterns in GLOBIGNORE, between colons outside of brackets. */
const IGNORED = /(?:\[[!^]?\]?(?:\[:\w*:\]|[^\]])*\]|\\[\s\S]|[^:])+/g

/** The matching names, sorted; the field itself if it is not a pattern, or if none matches. */
export async function filesOf(shell: Watched, field: Field): Promise<string[]> {
  const { options, shoptOptions } = shell.ctx.state
  const text = textOf(field)
  const mayMatch = field.some((piece) => !piece.isQuoted && /[*?[]|[@+!]\(/.test(piece.text))
  if (!mayMatch || options.noglob) return [text]
  const pattern = field.map((piece) => (piece.isQuoted ? asText(piece.text) : piece.text)).join('')
  if (!isPattern(pattern, shoptOptions.extglob)) return [text]
  const found = withoutIgnored(shell, await new Finder(shell).find(pattern))
  if (found.length > 0) return [...new Set(found)].sort(byCodePoints)
  if (shoptOptions.failglob) {
    throw new ExpansionFailure({ stdout: '', stderr: `bash: no match: ${text}\n`, exitCode: 1 })
  }
  return shoptOptions.nullglob ? [] : [text]
}

function isPattern(pattern: string, hasGroups: boolean): boolean {
  return elementsOf(pattern, hasGroups).some(({ kind }) => kind !== 'char')
}

function withoutIgnored({ ctx }: Watched, paths: readonly string[]): string[] {
  const { env, shoptOptions } = ctx.state
  const ignored = env.get('GLOBIGNORE') ?? ''
  if (ignored === '') return [...paths]
  const options = { hasGroups: shoptOptions.extglob, ignoresCase: shoptOptions.nocaseglob }
  const patterns = (ignored.match(IGNORED) ?? []).map((text) => text.split('/').map((part) => patternOf(part, options)))
  return paths.filter((path) => {
    const names = path.split('/')
    if (/^\.\.?$/.test(names.at(-1) ?? '')) return false
    // No star matches a slash.
    return !patterns.some((parts) => {
      return parts.length === names.length && parts.every((part, i) => part.matches(names[i] ?? ''))
    })
  })
}

class Finder {
  readonly #shell: Watched
  readonly #hasGroups: boolean
  readonly #ignoresCase: boolean
  readonly #seesHidden: boolean

  constructor(shell: Watched) {
    const { shoptOptions, env } = shell.ctx.state
    this.#shell = shell
    this.#hasGroups = shoptOptions.extglob
    this.#ignoresCase = shoptOptions.nocaseglob
    this.#seesHidden = shoptOptions.dotglob || (env.get('GLOBIGNORE') ?? '') !== ''
  }

  async find(pattern: string): Promise<string[]> {
    const root = /^\/*/.exec(pattern)?.[0] ?? ''
    return this.#below([root], componentsOf(pattern.slice(root.length), this.#shell.ctx.state.shoptOptions.globstar))
  }

  async #below(bases: readonly string[], [component, ...rest]: readonly string[]): Promise<string[]> {
    if (component === undefined || bases.length === 0) return [...bases]
    const isLast = rest.length === 0
    if (component === STARS && this.#shell.ctx.state.shoptOptions.globstar) return this.#star(bases, rest)
    const slash = /\/*$/.exec(component)?.[0] ?? ''
    const name = component.slice(0, component.length - slash.length)
    const found: string[] = []
    for (const base of bases) {
      const matched = isPattern(name, this.#hasGroups)
        ? await this.#matching(base, name)
        : [`${base}${name.replace(/\\([\s\S])/g, '$1')}`]
      for (const path of matched) {
        if (slash === '' ? isLast && (await this.#exists(path)) : await this.#isFolder(path)) found.push(path + slash)
      }
    }
    return this.#below(found, rest)
  }

  async #matching(base: string, name: string): Promise<string[]> {
    const pattern = patternOf(name, { hasGroups: this.#hasGroups, ignoresCase: this.#ignoresCase })
    const [first] = elementsOf(name, this.#hasGroups)
    const found: string[] = []
    const { shoptOptions } = this.#shell.ctx.state
    const hasDots = 'globskipdots' in shoptOptions && shoptOptions.globskipdots === false
    for (const entry of [...(hasDots ? ['.', '..'] : []), ...(await this.#entries(base))]) {
      const isFolder = entry === '.' || entry === '..'
      if (entry.startsWith('.') && (isFolder || !this.#seesHidden) && !beginsWithDot(first)) continue
      if (pattern.matches(entry)) found.push(base + entry)
    }
    return found
  }

  /** Two stars: links are not followed, and hidden folders are not entered. */
  async #star(bases: readonly string[], rest: readonly string[]): Promise<string[]> {
    const found: string[] = []
    const folders: string[] = []
    const links: string[] = []
    for (const base of bases) {
      if (base !== '' && !(await this.#isFolder(base))) continue
      folders.push(base)
      const open = [base]
      for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
        for (const entry of await this.#entries(folder)) {
          if (entry.startsWith('.') && !this.#seesHidden) continue
          const path = folder + entry
          found.push(path)
          if (!(await this.#isFolder(path))) continue
          if (await this.#isLink(path)) {
            links.push(`${path}/`)
            continue
          }
          folders.push(`${path}/`)
          open.push(`${path}/`)
        }
      }
    }
    if (rest.length === 0) return [...bases.filter(Boolean), ...found]
    if (rest[0] === '/') return [...folders.filter(Boolean), ...links]
    return this.#below(folders, rest)
  }

  async #entries(folder: string): Promise<string[]> {
    const path = this.#path(folder === '' ? '.' : folder)
    if (!(await this.#isFolder(folder === '' ? '.' : folder))) return []
    try {
      return await this.#shell.ctx.fs.readdir(path)
    } catch (error) {
      // An unreadable folder matches nothing.
      if (isFileError(error)) return []
      throw error
    }
  }

  #path(path: string): string {
    return this.#shell.ctx.fs.resolvePath(this.#shell.ctx.state.cwd, path)
  }

  async #isFolder(path: string): Promise<boolean> {
    const { fs } = this.#shell.ctx
    const resolved = this.#path(path)
    return (await fs.exists(resolved)) && (await fs.stat(resolved)).isDirectory
  }

  async #isLink(path: string): Promise<boolean> {
    try {
      return (await this.#shell.ctx.fs.lstat(this.#path(path))).isSymbolicLink
    } catch (error) {
      if (isFileError(error)) return false
      throw error
    }
  }

  /** True for a broken link too. */
  async #exists(path: string): Promise<boolean> {
    return (await this.#shell.ctx.fs.exists(this.#path(path))) || this.#isLink(path)
  }
}

/** Each with its trailing slashes; two stars are separate, with a slash only if nothing follows. */
function componentsOf(pattern: string, hasStars: boolean): string[] {
  const components: string[] = []
  let [text, depth] = ['', 0]
  for (const [token] of pattern.matchAll(/\\[\s\S]|\/+|[@?*+!]\(|[\s\S]/g)) {
    if (token.length > 1 && token.endsWith('(')) depth++
    else if (token === ')' && depth > 0) depth--
    if (!token.startsWith('/') || depth > 0) {
      text += token
      continue
    }
    components.push(hasStars && text === STARS ? text : text + token)
    text = ''
  }
  const endsInStars = hasStars && components.at(-1) === STARS && text === '' && pattern.endsWith('/')
  if (text !== '') components.push(text)
  return endsInStars ? [...components, '/'] : components
}

/** A name with a leading dot is only matched by a literal dot, which may be in a group. */
function beginsWithDot(element: Element | undefined): boolean {
  if (element?.kind === 'char') return element.char === '.'
  if (element?.kind !== 'group' || element.sign === '!') return false
  return element.choices.some(([first]) => beginsWithDot(first))
}

function byCodePoints(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
