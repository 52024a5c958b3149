// The settings for diffs that users read. Output for scripts does not depend on them.

import type { Arguments } from './arguments.ts'
import { isTrue } from './config-file.ts'
import { fatal } from './failure.ts'
import type { Invocation } from './invocation.ts'

/** They would change a patch, but are not supported. */
const REFUSED = ['diff.interHunkContext', 'diff.orderFile', 'diff.suppressBlankEmpty']
const READ = 'settings-are-read'

/** Adds the settings to the options, unless an option is given. */
export async function obeySettings(git: Invocation, options: Arguments): Promise<void> {
  if (options.has(READ) || options.has('whole-ids')) return
  options.add(READ, '')
  const isSet = async (key: string) => isTrue((await git.setting(key)) ?? 'false')
  for (const key of REFUSED) {
    const value = (await git.setting(key)) ?? ''
    if (value !== '' && value !== '0' && value !== 'false') throw fatal(`the setting ${key} is not available here`)
  }
  const renames = (await git.setting('diff.renames')) ?? 'true'
  if (/^cop/.test(renames) && !options.has('no-renames') && !options.has('find-renames'))
    throw fatal('diff.renames=copies is not available here')
  if (!/^cop/.test(renames) && !isTrue(renames) && !options.has('find-renames')) options.add('no-renames', '')
  if (await isSet('diff.noprefix')) options.add('no-prefix', '')
  else if (options.has('mnemonics') && (await isSet('diff.mnemonicPrefix')))
    options.add('prefixes', options.value('mnemonics') ?? '')
  if ((await isSet('diff.relative')) && !options.has('no-relative') && !options.has('relative'))
    options.add('relative', '')
  const values = { context: 'context-setting', wordRegex: 'word-regex-setting', algorithm: 'algorithm-setting' }
  for (const [key, name] of Object.entries(values)) {
    const value = await git.setting(`diff.${key}`)
    if (value !== null) options.add(name, value)
  }
}
