// Validates the subset of JSON Schema 2020-12 that the document uses. An unknown keyword is an error, so that none is
// ignored silently.

export type JsonSchema = { [keyword: string]: unknown }

const REF = '#/components/schemas/'
const NO_RULES = new Set([
  'description',
  'default',
  'example',
  'format',
  'writeOnly',
  'deprecated',
  'title',
  'discriminator',
])

type Rule = (value: unknown, limit: unknown, schema: JsonSchema, at: SchemaPosition) => string[]
type SchemaPosition = { path: string; components: Readonly<Record<string, JsonSchema>> }

/** The errors of a value; an empty list if the schema allows it. */
export function faultsOf(value: unknown, schema: JsonSchema, at: SchemaPosition): string[] {
  return Object.entries(schema).flatMap(([keyword, limit]) => {
    if (NO_RULES.has(keyword) || (keyword === 'required' && !Array.isArray(limit))) return []
    const rule = RULES[keyword]
    if (rule === undefined) throw new Error(`${at.path}: the keyword ${keyword} is not known`)
    return rule(value, limit, schema, at)
  })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

const inside = (at: SchemaPosition, step: string | number): SchemaPosition => ({ ...at, path: `${at.path}/${step}` })
const fault = (isRight: boolean, at: SchemaPosition, what: string): string[] => (isRight ? [] : [`${at.path} ${what}`])
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 120)
const lengthOf = (text: string): number => [...text].length

/** A rule for numbers, strings or arrays: values of other types pass. */
const ofNumber =
  (isRight: (value: number, limit: number) => boolean): Rule =>
  (value, limit, _, at) =>
    fault(
      typeof value !== 'number' || isRight(value, limit as number),
      at,
      `is ${shown(value)}, beyond ${shown(limit)}`,
    )
const ofText =
  (isRight: (value: string, limit: number) => boolean): Rule =>
  (value, limit, _, at) =>
    fault(typeof value !== 'string' || isRight(value, limit as number), at, `has a length beyond ${shown(limit)}`)
const ofList =
  (isRight: (value: unknown[], limit: number) => boolean): Rule =>
  (value, limit, _, at) =>
    fault(!Array.isArray(value) || isRight(value, limit as number), at, `has a length beyond ${shown(limit)}`)

function alternatives(isEnough: (fitting: number) => boolean): Rule {
  return (value, parts, _, at) => {
    const tried = (parts as JsonSchema[]).map((part) => faultsOf(value, part, at))
    const fitting = tried.filter((faults) => faults.length === 0).length
    return fault(isEnough(fitting), at, `${shown(value)} fits ${fitting} of its forms: ${tried.flat().join('; ')}`)
  }
}

const RULES: Readonly<Record<string, Rule>> = {
  $ref: (value, ref, _, at) => {
    const name = String(ref).slice(REF.length)
    const target = at.components[name]
    return target === undefined ? [`${at.path} refers to ${name}, which is not there`] : faultsOf(value, target, at)
  },
  type: (value, type, _, at) => {
    const isRight = [type].flat().some((one) => hasType(value, one))
    return fault(isRight, at, `is ${shown(value)}, not of the type ${shown(type)}`)
  },
  enum: (value, values, _, at) =>
    fault((values as unknown[]).includes(value), at, `is ${shown(value)}, none of ${values}`),
  const: (value, only, _, at) => fault(value === only, at, `is ${shown(value)}, not ${shown(only)}`),
  anyOf: alternatives((fitting) => fitting > 0),
  oneOf: alternatives((fitting) => fitting === 1),
  allOf: (value, parts, _, at) => (parts as JsonSchema[]).flatMap((part) => faultsOf(value, part, at)),
  properties: (value, properties, _, at) =>
    Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, schema]) =>
      isRecord(value) && Object.hasOwn(value, name) ? faultsOf(value[name], schema, inside(at, name)) : [],
    ),
  required: (value, names, _, at) => {
    const missing = isRecord(value) ? (names as string[]).filter((name) => !Object.hasOwn(value, name)) : []
    return fault(missing.length === 0, at, `lacks ${missing}`)
  },
  additionalProperties: (value, allowed, { properties = {} }, at) => {
    const others = isRecord(value)
      ? Object.entries(value).filter(([name]) => !Object.hasOwn(properties as object, name))
      : []
    if (isRecord(allowed)) return others.flatMap(([name, inner]) => faultsOf(inner, allowed, inside(at, name)))
    return fault(allowed !== false || others.length === 0, at, `has ${others.map(([name]) => name)} besides`)
  },
  propertyNames: (value, schema, _, at) =>
    isRecord(value) ? Object.keys(value).flatMap((name) => faultsOf(name, schema as JsonSchema, inside(at, name))) : [],
  items: (value, schema, { prefixItems = [] }, at) => {
    const rest = Array.isArray(value) ? value.slice((prefixItems as unknown[]).length) : []
    return rest.flatMap((item, i) => faultsOf(item, schema as JsonSchema, inside(at, i)))
  },
  prefixItems: (value, schemas, _, at) =>
    (schemas as JsonSchema[]).flatMap((schema, i) =>
      Array.isArray(value) && i < value.length ? faultsOf(value[i], schema, inside(at, i)) : [],
    ),
  pattern: (value, pattern, _, at) =>
    fault(
      typeof value !== 'string' || new RegExp(String(pattern), 'u').test(value),
      at,
      `is ${shown(value)}, not ${pattern}`,
    ),
  minimum: ofNumber((value, limit) => value >= limit),
  maximum: ofNumber((value, limit) => value <= limit),
  exclusiveMinimum: ofNumber((value, limit) => value > limit),
  exclusiveMaximum: ofNumber((value, limit) => value < limit),
  minLength: ofText((value, limit) => lengthOf(value) >= limit),
  maxLength: ofText((value, limit) => lengthOf(value) <= limit),
  minItems: ofList((value, limit) => value.length >= limit),
  maxItems: ofList((value, limit) => value.length <= limit),
}
