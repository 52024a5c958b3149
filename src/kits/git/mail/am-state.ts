// The state of a series of mails being applied, in `.git/rebase-apply`, in git's format.

import type { Invocation } from '../invocation.ts'
import type { Signature } from '../objects.ts'
import { StateFolder } from '../sequencer/state-files.ts'

export interface AmOptions {
  isThreeWay: boolean
  signsOff: boolean
  keepsSubject: boolean
  isQuiet: boolean
  rejects: boolean
}

export function amFolder(git: Invocation): StateFolder {
  return new StateFolder(git.repo(), 'rebase-apply')
}

const flag = (is: boolean) => (is ? 't\n' : 'f\n')

export async function beginAm(git: Invocation, mails: readonly string[], options: AmOptions): Promise<void> {
  const folder = amFolder(git)
  await folder.write('applying', '')
  await folder.write('threeway', flag(options.isThreeWay))
  await folder.write('quiet', flag(options.isQuiet))
  await folder.write('sign', flag(options.signsOff))
  await folder.write('utf8', 't\n')
  await folder.write('keep', flag(options.keepsSubject))
  for (const name of ['messageid', 'scissors', 'quoted-cr']) await folder.write(name, '\n')
  await folder.write('apply-opt', options.rejects ? " '--reject'\n" : '\n')
  await folder.write('rerere-autoupdate', '')
  await folder.write('no-inbody-headers', 'f\n')
  for (const [i, mail] of mails.entries()) await folder.write(mailName(i + 1), mail)
  await folder.write('next', '1\n')
  await folder.write('last', `${mails.length}\n`)
  const { oid } = await git.repo().refs.head()
  await folder.write('abort-safety', oid === null ? '' : `${oid}\n`)
}

export async function storedOptions(git: Invocation): Promise<AmOptions> {
  const folder = amFolder(git)
  const is = async (name: string) => (await folder.read(name)) === 't'
  return {
    isThreeWay: await is('threeway'),
    signsOff: await is('sign'),
    keepsSubject: await is('keep'),
    isQuiet: await is('quiet'),
    rejects: (await folder.read('apply-opt'))?.includes('--reject') ?? false,
  }
}

export function mailName(number: number): string {
  return String(number).padStart(4, '0')
}

export interface StoppedMail {
  author: Signature
  message: string
}

/** The data for finishing the mail manually. */
export async function noteMail(git: Invocation, { author, message }: StoppedMail, patch: string): Promise<void> {
  const folder = amFolder(git)
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  await folder.write('final-commit', message)
  await folder.write('patch', patch)
  await folder.write(
    'author-script',
    `GIT_AUTHOR_NAME=${quoted(author.name)}\nGIT_AUTHOR_EMAIL=${quoted(author.email)}\nGIT_AUTHOR_DATE=${quoted(`@${author.seconds} ${author.zone}`)}\n`,
  )
}

export async function notedMail(git: Invocation): Promise<StoppedMail | null> {
  const folder = amFolder(git)
  const [message, script] = [await folder.text('final-commit'), await folder.text('author-script')]
  if (message === null || script === null) return null
  const value = (name: string) => (new RegExp(`^${name}='(.*)'$`, 'm').exec(script)?.[1] ?? '').replaceAll("'\\''", "'")
  const [, seconds = '0', zone = '+0000'] = /^@?(\d+) ([+-]\d{4})$/.exec(value('GIT_AUTHOR_DATE')) ?? []
  const author = { name: value('GIT_AUTHOR_NAME'), email: value('GIT_AUTHOR_EMAIL'), seconds: Number(seconds), zone }
  return { author, message }
}
