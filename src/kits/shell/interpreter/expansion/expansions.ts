// `$name` and `${name…}` as pieces of a word.

import { exitByMessage } from '../unset-errors.ts'
import type { Word } from '../words-alone.ts'
import type { Expands, ExpansionContext } from './expands.ts'
import { BREAK, fieldsOf, type Item, NOTHING, parted, quoted, type Separators, textOf } from './fields.ts'
import { type Expanding, type Operation, operated } from './operations.ts'
import { type Parameter, parameterOf, refuseNoArray, refuseUnset } from './parameters.ts'

type Default = Extract<Operation, { type: 'DefaultValue' | 'AssignDefault' | 'ErrorIfUnset' | 'UseAlternative' }>

export async function expandedParameter(expander: Expands, part: Expanding, place: ExpansionContext): Promise<Item[]> {
  const { operation } = part
  switch (operation?.type) {
    case 'Indirection':
      return indirect(expander, { part, operation }, place)
    case 'ArrayKeys': {
      const parameter = await parameterOf(expander, `${operation.array}[@]`)
      return itemsOf(expander, { values: parameter.keys, all: operation.star ? '*' : '@', isChanged: false }, place)
    }
    case 'VarNamePrefix': {
      const all = operation.star ? '*' : '@'
      const values = await expander.asked({ ...part, operation: { ...operation, star: false } })
      return itemsOf(expander, { values, all, isChanged: false }, place)
    }
    default:
      return ofParameter(expander, { label: part.parameter, operation }, place)
  }
}

async function indirect(
  expander: Expands,
  { part, operation }: { part: Expanding; operation: Extract<Operation, { type: 'Indirection' }> },
  place: ExpansionContext,
): Promise<Item[]> {
  // `${!:-x}` is about the last job.
  if (part.parameter === '') return ofParameter(expander, { label: '!', operation: operation.innerOp ?? null }, place)
  const reference = await parameterOf(expander, part.parameter)
  const label = reference.values.length > 1 ? reference.values.join(' ') : reference.values[0]
  if (label === undefined || !/^(?:[A-Za-z_]\w*(?:\[[\s\S]+\])?|\d+|[@*#?$!-])$/.test(label)) {
    if (label !== undefined) throw expander.failure(`${label}: invalid variable name`)
    throw expander.failure(`${part.parameter}: invalid indirect expansion`)
  }
  return ofParameter(expander, { label, operation: operation.innerOp ?? null, by: `!${part.parameter}` }, place)
}

/** `by`: the reference, as it is written in errors. */
type AppliedOperation = { label: string; operation: Operation | null; by?: string }

async function ofParameter(
  expander: Expands,
  { label, operation, by }: AppliedOperation,
  place: ExpansionContext,
): Promise<Item[]> {
  if (operation?.type === 'BadSubstitution') throw expander.failure(`\${${operation.text}}: bad substitution`)
  const found = await parameterOf(expander, label)
  const parameter = by === undefined ? found : { ...found, shown: by }
  const { values, all } = parameter
  if (operation === null) {
    refuseUnset(expander, parameter)
    return itemsOf(expander, { values, all, isChanged: false, isArguments: parameter.name === null }, place)
  }
  switch (operation.type) {
    case 'DefaultValue':
    case 'AssignDefault':
    case 'ErrorIfUnset':
    case 'UseAlternative':
      return withDefault(expander, { parameter, operation }, place)
    default: {
      if (operation.type === 'Length' && all !== null) refuseNoArray(expander, parameter)
      refuseUnset(expander, parameter)
      const changed = await operated(expander, operation, parameter)
      const isOne =
        operation.type === 'Length' || (operation.type === 'Transform' && all !== null && changed?.length === 1)
      return itemsOf(expander, { values: changed ?? values, all: isOne ? null : all, isChanged: true }, place)
    }
  }
}

async function withDefault(
  expander: Expands,
  { parameter, operation }: { parameter: Parameter; operation: Default },
  place: ExpansionContext,
): Promise<Item[]> {
  const { values, all, label } = parameter
  // The joined text of `$*` is processed as one, unless it is split.
  const isText =
    place.isQuoted || (parameter.name === null && place.purpose !== 'fields' && place.purpose !== 'document')
  const isEmpty = values.join(all === '*' && isText ? expander.separators.first : ' ') === ''
  // Elements read through a reference count as set, even if they are empty.
  const isReferred = all !== null && parameter.shown !== undefined
  const isUnset = operation.checkEmpty && !isReferred ? isEmpty : values.length === 0
  if (operation.type === 'UseAlternative') {
    if (isUnset && all === '@' && place.isQuoted) return [NOTHING]
    return isUnset
      ? itemsOf(expander, { values: [''], all: null, isChanged: false }, place)
      : wordOf(expander, operation.word, place)
  }
  if (!isUnset) return itemsOf(expander, { values, all, isChanged: false }, place)
  if (operation.type === 'DefaultValue') return wordOf(expander, operation.word, place)
  if (operation.type === 'ErrorIfUnset') {
    const parts = operation.word?.parts ?? []
    return exitByMessage(expander.shell, expander.position, await expander.text(parts))
  }
  const value = await expander.text(operation.word.parts, 'assignment')
  if (!/^[A-Za-z_]/.test(label) || all !== null) throw expander.failure(`$${label}: cannot assign in this way`)
  await expander.assign(label, value)
  const assigned = await parameterOf(expander, label)
  return itemsOf(expander, { values: assigned.values, all: null, isChanged: false }, place)
}

/** Its text is split unless it is quoted. */
function wordOf(expander: Expands, { parts }: Word, place: ExpansionContext): Promise<Item[]> | Item[] {
  if (parts.length === 0 && place.isQuoted) return [quoted('')]
  return expander.items(parts, { ...place, splitsText: true })
}

type Result = { values: readonly string[]; all: '@' | '*' | null; isChanged: boolean; isArguments?: boolean }

function itemsOf(
  expander: Expands,
  { values, all, isChanged, isArguments = false }: Result,
  place: ExpansionContext,
): Item[] {
  const { isQuoted, purpose } = place
  const whole = (text: string): Item =>
    isQuoted ? quoted(text) : purpose === 'fields' ? parted(text) : { ...parted(text), splits: false }
  if (all === null) return [whole(values[0] ?? '')]
  const { first, isNull } = expander.separators
  if (purpose === 'fields' && isQuoted && all === '@')
    return values.length === 0 ? [NOTHING] : broken(values.map(quoted))
  if (purpose === 'fields' && !isQuoted) {
    if (values.length === 0) return []
    return isNull ? broken(values.map(parted)) : [parted(values.join(first))]
  }
  if (all === '@') return [whole(values.join(isChanged && first !== '' ? first : ' '))]
  if (isArguments && !isChanged && !isQuoted && purpose === 'document')
    return [whole(inDocument(values, expander.separators))]
  // POSIX's rule for `declare x=$*` and `x=${y-$*}` if IFS is empty.
  const isApart = isNull && isArguments && !isQuoted && (purpose === 'declaration' || place.splitsText)
  return [whole(values.join(isApart ? ' ' : first))]
}

/** Bash splits them there and joins them with blanks. */
function inDocument(values: readonly string[], separators: Separators): string {
  if (separators.isNull) return values.join(' ')
  return fieldsOf([parted(values.join(separators.first))], separators)
    .map(textOf)
    .join(' ')
}

function broken(items: readonly Item[]): Item[] {
  return items.flatMap((item, i) => (i === 0 ? [item] : [BREAK, item]))
}
