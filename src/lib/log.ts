// One JSON line an entry: the time, an event name, the ids that it belongs to, and fields; never a sentence, never a
// secret. The code that writes a line must avoid secrets; but it cannot control the text of errors, so every text is
// searched for secrets, too.

import { AsyncLocalStorage } from 'node:async_hooks'

const RANK = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const
export type LogLevel = keyof typeof RANK

let threshold: LogLevel = 'info'

/** Sets the lowest level that is written; the configuration does this once. */
export function setLogLevel(level: LogLevel): void {
  threshold = level
}

/** For callers whose fields are expensive to collect. */
export const isWritten = (level: LogLevel): boolean => RANK[level] >= RANK[threshold]

type Fields = Record<string, unknown>

/**
 * The fields of all lines that are written during some work. Everything that is reachable from here stays in memory as
 * long as anything reachable from here waits: the runtime cannot collect such a cycle. So the ids are plain values. A
 * closure created with the work would keep all of its request in memory.
 */
export type LogContext = {
  /** A function is called for each line: a conversation has a trace only while its agent works. */
  ids: Fields | (() => Fields)
  /** Masks secrets of this work only, such as an owner's. */
  mask?: (text: string) => string
}

const contexts = new AsyncLocalStorage<LogContext>()

/** Runs the work; every line that is written meanwhile, also by work that it started, has these ids. */
export function loggedAs<T>(context: LogContext, work: () => T): T {
  const outer = contexts.getStore()
  // A method that calls another method of its object.
  if (outer === context) return work()
  if (outer === undefined) return contexts.run(context, work)
  const mask = context.mask ?? outer.mask
  return contexts.run({ ids: idsOfBoth(outer, context), ...(mask === undefined ? {} : { mask }) }, work)
}

const idsOf = ({ ids }: LogContext): Fields => (typeof ids === 'function' ? ids() : ids)

const idsOfBoth = (outer: LogContext, inner: LogContext) => () => ({ ...idsOf(outer), ...idsOf(inner) })

/** Makes the methods of a class, and of our classes that it extends, log with the object's context; null means no context. */
export function methodsLoggedAs<Self extends object>(
  prototype: Self,
  contextOf: (self: Self) => LogContext | null,
): void {
  for (let each: object = prototype; isOurs(each); each = Object.getPrototypeOf(each)) {
    for (const [name, { value, ...own }] of Object.entries(Object.getOwnPropertyDescriptors(each))) {
      if (name === 'constructor' || typeof value !== 'function') continue
      const logged = function (this: Self, ...args: unknown[]): unknown {
        const context = contextOf(this)
        return context === null ? value.apply(this, args) : loggedAs(context, () => value.apply(this, args))
      }
      Object.defineProperty(each, name, { ...own, value: logged })
    }
  }
}

/** Classes of the runtime extend no class of ours, and their methods must not be changed. */
const isOurs = (prototype: object): boolean => Object.getPrototypeOf(Object.getPrototypeOf(prototype) ?? {}) !== null

function write(level: Exclude<LogLevel, 'silent'>, event: string, fields: Fields): void {
  if (!isWritten(level)) return
  const context = contexts.getStore()
  const entry = { time: new Date().toISOString(), level, event, ...(context && idsOf(context)), ...fields }
  const mask = context?.mask ?? ((text: string) => text)
  console.log(JSON.stringify(entry, (_, value) => (typeof value === 'string' ? withoutSecrets(mask(value)) : value)))
}

export const log = {
  debug: (event: string, fields: Fields = {}) => write('debug', event, fields),
  info: (event: string, fields: Fields = {}) => write('info', event, fields),
  warn: (event: string, fields: Fields = {}) => write('warn', event, fields),
  error: (event: string, fields: Fields = {}) => write('error', event, fields),
}

/** An error as fields for a log line: its message, stack and chain of causes. */
export function errorFields(error: unknown): Fields {
  if (!(error instanceof Error)) return { error: String(error) }
  const cause = error.cause === undefined ? {} : { cause: errorFields(error.cause) }
  return { error: error.message, stack: error.stack, ...cause }
}

// What must not be in a line, wherever it comes from: the operator's own secrets, and texts in the form of one.

const HIDDEN = '[hidden]'
/** A shorter value is more often a common word than a leak. */
const SHORTEST_SECRET = 8

let operatorSecrets: readonly string[] = []

/** The secret values of the configuration, which sets them once. */
export function setLogSecrets(values: readonly string[]): void {
  operatorSecrets = values.filter(({ length }) => length >= SHORTEST_SECRET)
}

/** Each pattern with its replacement. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  // `https://name:word@host`
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi, `$1${HIDDEN}@`],
  [
    /([?&;](?:[\w.-]*(?:key|token|secret|password|passwd|auth|signature|credential)[\w.-]*|sig|pass|pwd)=)[^&\s#"']+/gi,
    `$1${HIDDEN}`,
  ],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  // A value with a digit: `token: expired` is an explanation, and is kept.
  [
    /\b((?:api[-_ ]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?)(?!bearer|basic)(?=[^\s"',}&;]*\d)[^\s"',}&;]{8,}/gi,
    `$1${HIDDEN}`,
  ],
  // Keys with a known prefix: of models, hosting services, chats, clouds, and this service.
  [/\b(?:sk|pk|rk|gsk|xai|gh[opsur]|github_pat|glpat|xox[abeoprs]|whsec|hf|bw[cs]?)[-_][\w.-]{12,}/g, HIDDEN],
  [/\b(?:AIza|AKIA|ASIA)[\w-]{12,}/g, HIDDEN],
]

/** The text without the operator's secrets, passwords in addresses, and anything that looks like a key. */
export function withoutSecrets(text: string): string {
  let clean = text
  for (const secret of operatorSecrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, HIDDEN)
  for (const [form, instead] of FORMS) clean = clean.replace(form, instead)
  return clean
}
