// Parses the expression of `find`: tests and actions, combined by `-a`, `-o`, `!`, parentheses and commas.

import type { Step } from './actions.ts'
import { type Actions, readAction } from './actions.ts'
import { FindMisuse } from './misuse.ts'
import { knownRegexType } from './regex-types.ts'
import { newerTest, PLAIN_TESTS, type TestSetting, VALUED_TESTS } from './tests.ts'

export interface FindOptions {
  minDepth: number
  maxDepth: number
  isDepthFirst: boolean
  follows: 'never' | 'operands' | 'always'
  warnings: string
}

const BINARY: ReadonlySet<string> = new Set(['-o', '-or', '-a', '-and', ','])
const NO_EFFECT: ReadonlySet<string> = new Set([
  '-noleaf',
  '-xdev',
  '-mount',
  '-warn',
  '-nowarn',
  '-ignore_readdir_race',
  '-noignore_readdir_race',
])

export class Expression {
  readonly #words: string[]
  readonly #options: FindOptions
  readonly #setting: TestSetting
  readonly #actions: Actions
  #hasTests = false
  hasActions = false

  constructor(words: readonly string[], parts: { options: FindOptions; setting: TestSetting; actions: Actions }) {
    this.#words = [...words]
    this.#options = parts.options
    this.#setting = parts.setting
    this.#actions = parts.actions
  }

  read(): Step {
    if (this.#words.length === 0) return () => true
    const step = this.#list()
    const [next] = this.#words
    if (next === ')') throw new FindMisuse("invalid expression; you have too many ')'")
    return step
  }

  #list(): Step {
    let step = this.#or()
    while (this.#take(',')) {
      const [before, after] = [step, this.#or()]
      step = (entry) => then(before(entry), () => after(entry))
    }
    return step
  }

  #or(): Step {
    let step = this.#and()
    for (let sign = this.#take('-o', '-or'); sign !== null; sign = this.#take('-o', '-or')) {
      this.#expectOperand(sign)
      const [before, after] = [step, this.#and()]
      step = (entry) => then(before(entry), (isTrue) => isTrue || after(entry))
    }
    return step
  }

  #and(): Step {
    let step = this.#not()
    for (
      let next = this.#words[0];
      next !== undefined && next !== ')' && (!BINARY.has(next) || next.startsWith('-a'));
      next = this.#words[0]
    ) {
      const sign = this.#take('-a', '-and')
      if (sign !== null) this.#expectOperand(sign)
      const [before, after] = [step, this.#not()]
      step = (entry) => then(before(entry), (isTrue) => isTrue && after(entry))
    }
    return step
  }

  #not(): Step {
    const sign = this.#take('!', '-not')
    if (sign === null) return this.#primary()
    this.#expectOperand(sign)
    const step = this.#not()
    return (entry) => then(step(entry), (isTrue) => !isTrue)
  }

  #primary(): Step {
    const name = this.#words.shift() ?? ''
    if (name === '(') {
      if (this.#take(')') !== null) throw new FindMisuse('invalid expression; empty parentheses are not allowed.')
      const step = this.#list()
      if (this.#take(')') === null)
        throw new FindMisuse("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
      return step
    }
    if (BINARY.has(name)) {
      throw new FindMisuse(`invalid expression; you have used a binary operator '${name}' with nothing before it.`)
    }
    if (!name.startsWith('-')) throw new FindMisuse(`paths must precede expression: \`${name}'`)
    return this.#option(name) ?? this.#test(name) ?? this.#action(name)
  }

  #option(name: string): Step | null {
    const isTrue = () => true
    if (NO_EFFECT.has(name)) return isTrue
    if (name === '-depth' || name === '-d') this.#options.isDepthFirst = true
    else if (name === '-follow') this.#options.follows = 'always'
    else if (name === '-regextype') this.#setting.regexType = knownRegexType(this.#value(name))
    else if (name === '-maxdepth' || name === '-mindepth') {
      if (this.#hasTests) this.#options.warnings += misplaced(name)
      const value = this.#value(name)
      if (!/^\d+$/.test(value)) {
        throw new FindMisuse(`Expected a positive decimal integer argument to ${name}, but got ‘${value}’`)
      }
      if (name === '-maxdepth') this.#options.maxDepth = Number(value)
      else this.#options.minDepth = Number(value)
    } else return null
    return isTrue
  }

  #test(name: string): Step | null {
    const plain = Object.hasOwn(PLAIN_TESTS, name) ? PLAIN_TESTS[name] : undefined
    const valued = Object.hasOwn(VALUED_TESTS, name) ? VALUED_TESTS[name] : undefined
    const isNewer = /^-newer[aBcm][aBcmt]$/.test(name)
    if (!plain && !valued && !isNewer) return null
    this.#hasTests = true
    if (plain) return plain
    const value = this.#value(name)
    return isNewer ? newerTest(name, value, this.#setting) : (valued?.(value, this.#setting, name) ?? null)
  }

  #action(name: string): Step {
    this.#hasTests = true
    const step = readAction(name, this.#words, this.#actions)
    if (step === null) throw new FindMisuse(`unknown predicate \`${name}'`)
    if (name === '-delete') this.#options.isDepthFirst = true
    if (name !== '-prune') this.hasActions = true
    return step
  }

  #value(name: string): string {
    const value = this.#words.shift()
    if (value === undefined) throw new FindMisuse(`missing argument to \`${name}'`)
    return value
  }

  #take(...names: string[]): string | null {
    const [next] = this.#words
    if (next === undefined || !names.includes(next)) return null
    this.#words.shift()
    return next
  }

  #expectOperand(sign: string): void {
    const [next] = this.#words
    if (next === undefined) throw new FindMisuse(`expected an expression after '${sign}'`)
    if (next === ')') throw new FindMisuse(`expected an expression between '${sign}' and ')'`)
  }
}

function misplaced(name: string): string {
  return (
    `find: warning: you have specified the global option ${name} after the argument -name, but global options are not ` +
    `positional, i.e., ${name} affects tests specified before it as well as those specified after it.  Please specify global ` +
    'options before other arguments.\n'
  )
}

/** Without a promise if there is none, because nearly all steps are synchronous tests. */
function then(
  before: boolean | Promise<boolean>,
  next: (isTrue: boolean) => boolean | Promise<boolean>,
): boolean | Promise<boolean> {
  return typeof before === 'boolean' ? next(before) : before.then(next)
}
