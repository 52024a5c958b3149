// Whether a command of the shell is in the corpus at all, which compares it with the real one.

import { expect, test } from 'vitest'
import { SHELL_RISKS } from '../../../../src/agent/security/shell-risks.ts'
import { filesIn, textOf } from '../../../support/source-tree.ts'

/** Why nothing can compare them. */
const NOT_COMPARED: Readonly<Record<string, string>> = {
  curl: 'needs servers: test/node/kits/shell/curl.test.ts',
  dos2unix: 'is not installed where the suite runs',
  hostname: 'says what the machine is',
  mkfifo: 'is refused here',
  mknod: 'is refused here',
  tput: 'depends on the terminal',
  unix2dos: 'is not installed where the suite runs',
  who: 'says who is signed in',
}

/** Where a command stands, and not an argument. */
const BEFORE =
  '(?:^|[;|&({`!]|\\b(?:then|do|else|if|while|until|xargs|env|exec|command|nice|nohup|time|timeout [\\d.]+|\\w+=\\S*))'

test('every command of the shell is compared with the real one, or it is said here why not', () => {
  const entries = filesIn('test/fixtures/shell/commands').map(textOf).join('\n')
  const isThere = (name: string) =>
    new RegExp(`${BEFORE}\\s*${name.replace(/[.[]/g, '\\$&')}(?![\\w.-])`, 'm').test(entries)
  const names = Object.keys(SHELL_RISKS)
  expect(names.length).toBeGreaterThan(140)
  expect(names.filter((name) => !isThere(name)).sort()).toEqual(Object.keys(NOT_COMPARED).sort())
})
