// The names that pass `-g`, `-t` and ignore files.

import { globExpression } from '../globs.ts'
import { FILE_TYPES } from './types.ts'

export interface RgRule {
  isNegative: boolean
  needsFolder: boolean
  /** Only the last name is compared. */
  isName: boolean
  expression: RegExp
}

/** From a glob like a line of an ignore file, with braces for alternatives. */
export function nameRules(glob: string, ignoresCase: boolean): RgRule[] {
  const isNegative = glob.startsWith('!')
  return alternatives(isNegative ? glob.slice(1) : glob).map((one) => {
    const bare = one.replace(/\/$/, '')
    const isName = !bare.includes('/')
    const expression = globExpression(bare.replace(/^\//, ''), { isPath: true, ignoresCase })
    return { isNegative, needsFolder: one.endsWith('/'), isName, expression }
  })
}

/** The result of the last matching rule; null if none matches. */
export function verdict(rules: readonly RgRule[], path: string, isFolder: boolean): 'taken' | 'left' | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const rule = rules.findLast(
    ({ needsFolder, isName, expression }) => (isFolder || !needsFolder) && expression.test(isName ? name : path),
  )
  if (!rule) return null
  return rule.isNegative ? 'left' : 'taken'
}

const known = new Map<string, RegExp[]>()

export function isOfType(name: string, type: string): boolean {
  let globs = known.get(type)
  if (!globs) {
    globs = (FILE_TYPES[type] ?? '')
      .split(' ')
      .flatMap(alternatives)
      .map((glob) => globExpression(glob))
    known.set(type, globs)
  }
  return globs.some((glob) => glob.test(name))
}

const MAX_ALTERNATIVES = 1000

function alternatives(glob: string): string[] {
  const found = /^([^{]*)\{([^{}]*)\}([\s\S]*)$/.exec(glob)
  if (!found) return [glob]
  const [, before = '', inside = '', after = ''] = found
  const rests = alternatives(after)
  const all = inside.split(',').flatMap((one) => rests.map((rest) => before + one + rest))
  return all.slice(0, MAX_ALTERNATIVES)
}
