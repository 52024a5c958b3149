// The format of commits in a log, from options and settings.

import type { Arguments } from './arguments.ts'
import { isTrue } from './config-file.ts'
import { styleIn } from './dates.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'
import { notesOf, notesRef, type ShownNotes } from './notes.ts'
import { decorationsOf, parseFormat } from './pretty.ts'
import type { PrettyOptions } from './pretty-options.ts'
import { idLength, refuseColor } from './show-changes.ts'

/** The options of `prettyOptions`, as a command's option list. */
export const FORMAT_OPTIONS = [
  'oneline',
  'pretty?',
  'format=',
  'date=',
  'abbrev-commit',
  'no-abbrev-commit',
  'no-abbrev',
  'decorate?',
  'no-decorate',
  'relative-date',
  'notes?',
  'show-notes',
  'no-notes',
] as const

export async function prettyOptions(git: Invocation, options: Arguments): Promise<PrettyOptions> {
  refuseColor(options)
  const settings = await logSettings(git, options)
  const decorated = options.value('decorate') ?? ''
  if (!['', 'short', 'full', 'auto', 'no'].includes(decorated)) throw fatal(`invalid --decorate option: ${decorated}`)
  const given = formatGiven(options)
  const format = parseFormat(await formatMeant(git, given ?? (await git.setting('format.pretty')) ?? 'medium'))
  const decorates = options.has('decorate')
    ? !['no', 'auto'].includes(options.value('decorate') ?? '')
    : settings.decorates
  const isDecorated = decorates || /%[-+ ]?[dD]/.test(format)
  return {
    format,
    date: options.has('relative-date')
      ? 'relative'
      : styleIn(options.value('date') ?? (await usualDate(git, format)), git.env),
    abbreviates: !options.has('no-abbrev') && (abbreviatesBy(options) ?? settings.abbreviates),
    idLength: idLength(options),
    notes: await shownNotes(git, options, { format, isNamed: given !== null }),
    decorations: isDecorated && !options.has('no-decorate') ? await decorationsOf(git.repo(), settings.isFull) : null,
  }
}

/** The effect of the last option about ids; null if there is none. */
function abbreviatesBy(options: Arguments): boolean | null {
  const latest = options.latest('oneline', 'abbrev-commit', 'no-abbrev-commit')
  return latest === null ? null : latest !== 'no-abbrev-commit'
}

/** A short format has its own date style, whatever the settings are. */
async function usualDate(git: Invocation, format: string): Promise<string> {
  return format === 'reference' ? 'short' : ((await git.setting('log.date')) ?? 'default')
}

/** The last given format. */
function formatGiven(options: Arguments): string | null {
  const latest = options.latest('oneline', 'pretty', 'format')
  if (latest === null || latest === 'oneline') return latest
  return options.value(latest) || (latest === 'format' ? 'tformat:' : null)
}

/** A format may be an alias from the settings. */
async function formatMeant(git: Invocation, given: string): Promise<string> {
  return (/^[\w-]+$/.test(given) ? await git.setting(`pretty.${given}`) : null) ?? given
}

async function logSettings(
  git: Invocation,
  options: Arguments,
): Promise<{ decorates: boolean; abbreviates: boolean; isFull: boolean }> {
  const decorate = (await git.setting('log.decorate')) ?? 'auto'
  const abbreviates = await git.setting('log.abbrevCommit')
  return {
    decorates: ['short', 'full'].includes(decorate) || isTrue(decorate),
    isFull: (options.value('decorate') ?? decorate) === 'full',
    abbreviates: abbreviates !== null && isTrue(abbreviates),
  }
}

/** User-defined formats show them only with a placeholder. */
async function shownNotes(
  git: Invocation,
  options: Arguments,
  { format, isNamed }: { format: string; isNamed: boolean },
): Promise<ShownNotes | null> {
  const given = options.value('notes') ?? ''
  const isAsked = options.has('notes') || options.has('show-notes') || /%N/.test(format)
  if (options.has('no-notes') || (isNamed && !isAsked)) return null
  const ref = given === '' ? await notesRef(git) : given.startsWith('refs/') ? given : `refs/notes/${given}`
  return { ref, byCommit: await notesOf(git.repo(), ref) }
}
