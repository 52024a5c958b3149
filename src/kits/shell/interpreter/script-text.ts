// A script, or a part of one, in bash's format: for `declare -f`, `type`, `export -f` and BASH_COMMAND. Here-documents
// are kept; their text follows the line on which they start, before the text that follows on that line.

import { wholeAsWritten } from './arithmetic/mend.ts'
import { isSelect } from './select-loops.ts'
import type { Command, FunctionDefinition, Pipeline, Redirection, Script, Statement } from './shape.ts'
import { assignmentText, commandWordText, type WordContext, wordText } from './word-text.ts'
import { literal, type Part } from './words-alone.ts'

type Test = Extract<Command, { type: 'ConditionalCommand' }>['expression']
type LibraryText = (script: Script) => string
const STEP = 4

export function functionAsText(definition: FunctionDefinition, libraryText: LibraryText): string {
  return new Printer(libraryText).definition(wholeAsWritten(definition), '')
}

export function commandAsText(command: Command, libraryText: LibraryText): string {
  return new Printer(libraryText).command(wholeAsWritten(command))
}

/** The part of a compound command before its body. */
export function headAsText(command: Command, libraryText: LibraryText): string {
  return new Printer(libraryText).head(wholeAsWritten(command))
}

class Printer {
  readonly #libraryText: LibraryText
  readonly #context: WordContext
  #indent = 0
  /** Texts of here-documents that started on this line. */
  #heredocs = ''

  constructor(libraryText: LibraryText) {
    this.#libraryText = libraryText
    this.#context = {
      source: '',
      scriptText: ({ statements }) => statements.map((one) => this.#statement(one)).join('; '),
      partText: (part) => this.#ofLibrary(part),
    }
  }

  definition({ name, body, redirections }: FunctionDefinition, keyword: string): string {
    const margin = this.#margin()
    const inner = this.#block(body.type === 'Group' ? body.body : [alone(body)], false)
    const all = body.type === 'Group' ? [...body.redirections, ...redirections] : redirections
    return `${keyword}${name} () \n${margin}{ \n${inner}\n${margin}}${this.#redirected(all)}`
  }

  command(command: Command): string {
    if (command.type === 'FunctionDef') return this.definition(command, 'function ')
    if (command.type === 'SimpleCommand') return this.#simple(command)
    return `${this.#compound(command)}${this.#redirected(command.redirections)}`
  }

  head(command: Command): string {
    if (command.type === 'For') return forHead(command, this.#context)
    if (command.type === 'Case') return `case ${wordText(command.word, this.#context)} in `
    return this.command(command)
  }

  /** One statement per line; before a word such as `done` the last one ends with a semicolon too. */
  #block(statements: readonly Statement[], isClosed: boolean): string {
    this.#indent += STEP
    const margin = this.#margin()
    let text = ''
    statements.forEach((statement, i) => {
      const one = this.#statement(statement)
      const isLast = i === statements.length - 1
      const ends = one.endsWith('\n') ? '' : statement.background ? '' : isLast && !isClosed ? '' : ';'
      const joins = statement.background && !isLast ? ' ' : isLast ? '' : '\n'
      const before = i > 0 && statements[i - 1]?.background === true ? '' : margin
      text += `${before}${one}${ends}${joins}`
    })
    this.#indent -= STEP
    return text
  }

  #statement({ pipelines, operators, background, sourceText }: Statement): string {
    const { source } = this.#context
    // The text of an outer node contains that of its parts.
    if (sourceText !== undefined) this.#context.source = sourceText
    let text = ''
    pipelines.forEach((pipeline, i) => {
      if (i > 0) text += ` ${operators[i - 1]} ${this.#flush()}`
      text += this.#pipeline(pipeline)
    })
    this.#context.source = source
    const end = background ? ' &' : ''
    return `${text}${end}${this.#heredocs === '' ? '' : `\n${this.#takeHeredocs()}`}`
  }

  #pipeline({ commands, negated, timed, timePosix, pipeStderr }: Pipeline): string {
    let text = `${timed ? (timePosix ? 'time -p ' : 'time ') : ''}${negated ? '! ' : ''}`
    commands.forEach((command, i) => {
      text += this.command(command)
      if (i === commands.length - 1) return
      text += `${pipeStderr?.[i] ? ' 2>&1' : ''} |${this.#flush()} `
    })
    return text
  }

  #simple({ assignments, name, args, redirections }: Extract<Command, { type: 'SimpleCommand' }>): string {
    const words = [
      ...assignments.map((one) => assignmentText(one, this.#context)),
      ...(name ? [commandWordText(name, this.#context)] : []),
      ...args.map((arg) => commandWordText(arg, this.#context)),
    ]
    return `${words.join(' ')}${this.#redirected(redirections)}`.trimStart()
  }

  #compound(command: Exclude<Command, { type: 'SimpleCommand' | 'FunctionDef' }>): string {
    const margin = this.#margin()
    switch (command.type) {
      case 'Group':
        return `{ \n${this.#block(command.body, false)}\n${margin}}`
      case 'Subshell':
        return `( ${this.#joined(command.body)} )`
      case 'If':
        return this.#if(command.clauses, command.elseBody)
      case 'For':
        return `${forHead(command, this.#context)};\n${margin}do\n${this.#block(command.body, true)}\n${margin}done`
      case 'While':
      case 'Until': {
        const condition = this.#joined(command.condition)
        const body = this.#block(command.body, true)
        return `${command.type.toLowerCase()} ${condition}; do\n${body}\n${margin}done`
      }
      case 'Case':
        return this.#case(command)
      case 'CStyleFor': {
        const [init, condition, update] = [command.init, command.condition, command.update].map(loopText)
        const body = this.#block(command.body, true)
        return `for ((${init}; ${condition}; ${update}))\n${margin}do\n${body}\n${margin}done`
      }
      case 'ArithmeticCommand':
        return `((${command.expression.originalText ?? this.#ofLibraryCommand(command).replace(/^\(\(|\)\)$/g, '')}))`
      case 'ConditionalCommand':
        return `[[ ${this.#test(command.expression)} ]]`
    }
  }

  #test(test: Test): string {
    const word = (one: Parameters<typeof wordText>[0]) => wordText(one, this.#context)
    switch (test.type) {
      case 'CondBinary':
        return `${word(test.left)} ${test.operator} ${word(test.right)}`
      case 'CondUnary':
        return `${test.operator} ${word(test.operand)}`
      case 'CondNot':
        return `! ${this.#test(test.operand)}`
      case 'CondAnd':
        return `${this.#test(test.left)} && ${this.#test(test.right)}`
      case 'CondOr':
        return `${this.#test(test.left)} || ${this.#test(test.right)}`
      case 'CondGroup':
        return `( ${this.#test(test.expression)} )`
      case 'CondWord':
        return word(test.word)
    }
  }

  #if([first, ...others]: Extract<Command, { type: 'If' }>['clauses'], elseBody: Statement[] | null): string {
    if (!first) return ''
    const margin = this.#margin()
    const head = `if ${this.#joined(first.condition)}; then\n${this.#block(first.body, true)}\n`
    if (others.length > 0) {
      this.#indent += STEP
      const inner = `${this.#margin()}${this.#if(others, elseBody)};\n`
      this.#indent -= STEP
      return `${head}${margin}else\n${inner}${margin}fi`
    }
    const last = elseBody === null ? '' : `${margin}else\n${this.#block(elseBody, true)}\n`
    return `${head}${last}${margin}fi`
  }

  #case({ word, items }: Extract<Command, { type: 'Case' }>): string {
    const margin = this.#margin()
    this.#indent += STEP
    const inner = this.#margin()
    const texts = items.map(({ patterns, body, terminator }) => {
      const list = patterns.map((pattern) => wordText(pattern, this.#context)).join(' | ')
      return `${inner}${list})\n${this.#block(body, false)}\n${inner}${terminator}\n`
    })
    this.#indent -= STEP
    return `case ${wordText(word, this.#context)} in \n${texts.join('')}${margin}esac`
  }

  /** Conditions and subshells, which start on the current line. */
  #joined(statements: readonly Statement[]): string {
    return statements
      .map((one, i) => {
        const text = this.#statement(one)
        if (i === statements.length - 1) return text
        return one.background ? `${text} ` : `${text}${text.endsWith('\n') ? '' : ';'}\n${this.#margin()}`
      })
      .join('')
  }

  #redirected(redirections: readonly Redirection[]): string {
    return redirections.map((one) => ` ${this.#redirection(one)}`).join('')
  }

  #redirection({ fd, fdVariable, operator, target }: Redirection): string {
    if (target.type === 'HereDoc') {
      const word = target.quoted ? `'${target.delimiter}'` : target.delimiter
      this.#heredocs += `${heredocText(target, this.#context)}${target.delimiter}\n`
      return `${fd ?? ''}${operator}${word}`
    }
    const word = commandWordText(target, this.#context)
    const from = fdVariable ? `{${fdVariable}}` : (fd ?? (operator === '>&' ? 1 : operator === '<&' ? 0 : ''))
    const isJoined = operator === '>&' || operator === '<&'
    return `${from}${operator}${isJoined ? '' : ' '}${word}`
  }

  /** Text that must follow a connector, before the connected command. */
  #flush(): string {
    return this.#heredocs === '' ? '' : `\n${this.#takeHeredocs()} `
  }

  #takeHeredocs(): string {
    const text = this.#heredocs
    this.#heredocs = ''
    return text
  }

  #ofLibrary(part: Part): string {
    return this.#ofLibraryCommand({ ...EMPTY, name: { type: 'Word', parts: [part] } })
  }

  #ofLibraryCommand(command: Command): string {
    const whole = { ...command, redirections: [] }
    return this.#libraryText({ type: 'Script', statements: [alone(whole)] }).trim()
  }

  #margin(): string {
    return ' '.repeat(this.#indent)
  }
}

const EMPTY: Extract<Command, { type: 'SimpleCommand' }> = {
  ...{ type: 'SimpleCommand', assignments: [], name: literal(''), args: [], redirections: [] },
}

function alone(command: Command): Statement {
  const pipeline: Pipeline = { type: 'Pipeline', commands: [command], negated: false }
  return { type: 'Statement', pipelines: [pipeline], operators: [], background: false }
}

function forHead(loop: Extract<Command, { type: 'For' }>, context: WordContext): string {
  const { variable, words } = loop
  const list = words === null ? '"$@"' : words.map((word) => commandWordText(word, context)).join(' ')
  return `${isSelect(loop) ? 'select' : 'for'} ${variable} in ${list}`
}

type LoopPart = Extract<Command, { type: 'CStyleFor' }>['init']

/** A missing part is 1; our replacement of the expression was removed (`wholeAsWritten`). */
function loopText(part: LoopPart): string {
  const { expression, originalText } = part ?? {}
  const text = originalText ?? (expression?.type === 'ArithVariable' ? expression.name : '')
  return text.trim() || '1'
}

type HereDocument = Extract<Redirection['target'], { type: 'HereDoc' }>

function heredocText({ content, quoted, stripTabs }: HereDocument, context: WordContext): string {
  const parts = content.parts.map((part) => {
    if (part.type !== 'Literal') return wordText({ type: 'Word', parts: [part] }, context)
    return quoted ? part.value : part.value.replace(/\\(?=[$`\\])|[$`]/g, '\\$&')
  })
  return stripTabs ? parts.join('').replace(/^\t+/gm, '') : parts.join('')
}
