// The built-in functions of awk.

import { UTC, type Zone, zoneOf } from '../../../../lib/clock.ts'
import { mktime, strftime } from './calendar.ts'
import { lengthOf, slice } from './characters.ts'
import { formatText } from './format.ts'
import type { Evaluate, Slots } from './machine.ts'
import type { Finder } from './operations.ts'
import type { LValue, Operands } from './places.ts'
import { splitterBy, splitterOf } from './splitting.ts'
import { substitute } from './substitute.ts'
import { type Expression, mistake } from './syntax.ts'
import { Input, isTrue, type Table, toNumber, type Value } from './values.ts'

export type Builtin =
  | { kind: 'value'; evaluate: Evaluate }
  /** A function that must be awaited. */
  | { kind: 'wait'; wait: (slots: Slots) => Promise<Value> }

type Node = Extract<Expression, { kind: 'builtin' }>
type Make = (node: Node, compiler: Operands) => Evaluate

export function builtinOf(node: Node, compiler: Operands): Builtin {
  const { streams, variables } = compiler.run
  const [first] = node.args
  const waiting: Readonly<Record<string, (name: string) => Promise<Value>>> = {
    system: (name) => streams.system(name),
    close: (name) => streams.close(name),
    fflush: async () => {
      await streams.flush()
      return 0
    },
  }
  const wait = waiting[node.name]
  if (wait) {
    const name = first ? compiler.expression(first) : () => ''
    return { kind: 'wait', wait: (slots) => wait(variables.text(name(slots))) }
  }
  const make = MAKERS[node.name]
  if (!make) throw mistake(node.line, `function ${node.name} never defined`)
  return { kind: 'value', evaluate: make(node, compiler) }
}

const numeric =
  (compute: (value: number) => number): Make =>
  (node, compiler) => {
    const [value = NOTHING] = compiler.operands(node.args)
    return (slots) => compute(toNumber(value(slots)))
  }

const textual =
  (compute: (text: string) => string): Make =>
  (node, compiler) => {
    const [value = NOTHING] = compiler.operands(node.args)
    const { variables } = compiler.run
    return (slots) => compute(variables.text(value(slots)))
  }

const NOTHING: Evaluate = () => undefined

const MAKERS: Readonly<Record<string, Make>> = {
  sin: numeric(Math.sin),
  cos: numeric(Math.cos),
  exp: numeric(Math.exp),
  log: numeric(Math.log),
  sqrt: numeric(Math.sqrt),
  int: numeric(Math.trunc),
  tolower: textual((text) => text.toLowerCase()),
  toupper: textual((text) => text.toUpperCase()),
  atan2: (node, compiler) => {
    const [y = NOTHING, x = NOTHING] = compiler.operands(node.args)
    return (slots) => Math.atan2(toNumber(y(slots)), toNumber(x(slots)))
  },
  rand:
    (_, { run }) =>
    () =>
      run.random.next(),
  srand: seed,
  length,
  substr,
  index,
  match,
  split,
  sub: (node, compiler) => substitution(node, compiler, false),
  gsub: (node, compiler) => substitution(node, compiler, true),
  sprintf: (node, compiler) => {
    const [format = NOTHING, ...args] = compiler.operands(node.args)
    const { variables } = compiler.run
    return (slots) =>
      formatText(
        variables.text(format(slots)),
        args.map((arg) => arg(slots)),
        variables.convfmt,
      )
  },
  systime: () => () => Math.floor(Date.now() / 1000),
  mktime: (node, compiler) => {
    const [text = NOTHING] = compiler.operands(node.args)
    return (slots) => mktime(compiler.run.variables.text(text(slots)), zoneIn(compiler))
  },
  strftime: (node, compiler) => {
    const [format, time, isUtc] = compiler.operands(node.args)
    const { variables } = compiler.run
    return (slots) => {
      const seconds = time ? toNumber(time(slots)) : Math.floor(Date.now() / 1000)
      const zone = isUtc && isTrue(isUtc(slots)) ? UTC : zoneIn(compiler)
      return strftime(format ? variables.text(format(slots)) : '%c', seconds, zone)
    }
  },
}

const zoneIn = ({ run }: Operands): Zone => zoneOf(run.call.env.TZ ?? '')

function seed(node: Node, compiler: Operands): Evaluate {
  const [value] = compiler.operands(node.args)
  const { run } = compiler
  return (slots) => {
    const before = run.lastSeed
    run.lastSeed = value ? value(slots) : Math.floor(Date.now() / 1000)
    run.random.seed(Math.trunc(toNumber(run.lastSeed)))
    return before
  }
}

function length(node: Node, compiler: Operands): Evaluate {
  const [arg] = node.args
  const { variables } = compiler.run
  if (!arg) return () => lengthOf(variables.record.text)
  if (arg.kind === 'name' && compiler.isArray(arg.name)) {
    const table = compiler.table(arg.name)
    return (slots) => table(slots).size
  }
  const value = compiler.expression(arg)
  return (slots) => lengthOf(variables.text(value(slots)))
}

/** Positions count from 1; positions outside the text are ignored. Halves are rounded to the even number. */
function substr(node: Node, compiler: Operands): Evaluate {
  const [text = NOTHING, from = NOTHING, count] = compiler.operands(node.args)
  const { variables } = compiler.run
  return (slots) => {
    const whole = variables.text(text(slots))
    const start = roundToEven(toNumber(from(slots)))
    const end = count ? start + roundToEven(toNumber(count(slots))) : Number.POSITIVE_INFINITY
    if (Number.isNaN(start) || Number.isNaN(end) || end <= start) return ''
    return slice(whole, Math.max(0, start - 1), Math.max(0, end - 1))
  }
}

function roundToEven(value: number): number {
  const rounded = Math.round(value)
  return Math.abs(value % 1) === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded
}

function index(node: Node, compiler: Operands): Evaluate {
  const [text = NOTHING, part = NOTHING] = compiler.operands(node.args)
  const { variables } = compiler.run
  return (slots) => {
    const whole = variables.text(text(slots))
    const wanted = variables.text(part(slots))
    const at = wanted === '' ? -1 : whole.indexOf(wanted)
    return at < 0 ? 0 : lengthOf(whole.slice(0, at)) + 1
  }
}

function match(node: Node, compiler: Operands): Evaluate {
  const { text, find } = subject(node.args[0], node.args[1], compiler)
  const { variables } = compiler.run
  const [start, size] = [variables.variable('RSTART'), variables.variable('RLENGTH')]
  return (slots) => {
    const whole = variables.text(text(slots))
    const regex = find(slots)
    const isFound = regex.find(whole)
    const [from = 0, to = 0] = regex.slots
    const at = isFound ? lengthOf(whole.slice(0, from)) + 1 : 0
    start.set(at)
    size.set(isFound ? lengthOf(whole.slice(from, to)) : -1)
    return at
  }
}

/** A text and the expression that it is matched with. */
function subject(
  text: Expression | undefined,
  pattern: Expression | undefined,
  compiler: Operands,
): { text: Evaluate; find: Finder } {
  const [whole = NOTHING, regex] = compiler.operands(
    [text, pattern].filter((node) => node !== undefined && node.kind !== 'regex') as Expression[],
  )
  return { text: whole, find: compiler.finder(pattern ?? { kind: 'regex', source: '' }, regex ?? null) }
}

function split(node: Node, compiler: Operands): Evaluate {
  const [textNode, arrayNode, separator] = node.args
  if (!textNode || arrayNode?.kind !== 'name') throw mistake(node.line, 'type error in arg(2) in call to split')
  const isConstant = separator === undefined || separator.kind === 'regex'
  const [text = NOTHING, parted = NOTHING] = compiler.operands(isConstant ? [textNode] : [textNode, separator])
  const table = compiler.table(arrayNode.name)
  const { variables, regexes } = compiler.run
  const splitter = (slots: Slots) => {
    if (separator === undefined) return variables.formats.splitter
    if (separator.kind === 'regex') return splitterBy(regexes.get(separator.source))
    return splitterOf(variables.text(parted(slots)), regexes)
  }
  return (slots) => {
    const whole = variables.text(text(slots))
    const parts = whole === '' ? [] : splitter(slots)(whole)
    const target: Table = table(slots)
    target.clear()
    for (let i = 0; i < parts.length; i++) target.set(String(i + 1), new Input(parts[i] ?? ''))
    return parts.length
  }
}

function substitution(node: Node, compiler: Operands, isGlobal: boolean): Evaluate {
  const [pattern, replacement, target = WHOLE] = node.args
  const { kind } = target
  if (!pattern || !replacement || (kind !== 'name' && kind !== 'element' && kind !== 'field'))
    throw mistake(node.line, `syntax error at or near ${node.name}: its third argument is nothing that can be changed`)
  const { parts, make } = compiler.place(target)
  const isConstant = pattern.kind === 'regex'
  const evaluates = compiler.operands([...(isConstant ? [] : [pattern]), replacement, ...parts])
  const find = compiler.finder(pattern, isConstant ? null : (evaluates[0] ?? null))
  const [given = NOTHING, ...index] = isConstant ? evaluates : evaluates.slice(1)
  const place: LValue = make(index)
  const { variables } = compiler.run
  return (slots) => {
    const key = place.key(slots)
    const text = variables.text(place.get(slots, key))
    const regex = find(slots)
    const changed = substitute(text, { regex, replacement: variables.text(given(slots)), isGlobal })
    if (changed.count > 0) place.set(slots, key, changed.text)
    return changed.count
  }
}

const WHOLE: Expression = { kind: 'field', of: { kind: 'number', value: 0 } }
