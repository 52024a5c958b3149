import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { RULES_OF } from '../../../src/agent/security/command-rules.ts'
import { OPENERS } from '../../../src/agent/security/commands/all.ts'
import { KNOWN_COMMANDS, SHELL_RISKS } from '../../../src/agent/security/shell-risks.ts'
import { gitCommand } from '../../../src/kits/git/index.ts'
import { nodeCommands, ownIsolates } from '../../../src/kits/node-program/index.ts'
import { runScript, workspaceCommands } from '../../../src/kits/shell/index.ts'
import { STRANGER } from '../../../src/lib/address-policy.ts'
import { CLOSED } from '../../helpers/policies.ts'
import { MemoryFileSystem } from '../../support/memory-file-system.ts'

const network = { policy: CLOSED }
const commands = [
  ...workspaceCommands({ network }),
  ...nodeCommands({ programs: ownIsolates(env.LOADER) }),
  gitCommand({ policy: CLOSED, chosenBy: STRANGER }),
]
const listed = await runScript({
  fs: new MemoryFileSystem(),
  script: 'ls /bin',
  cwd: '/workspace',
  env: {},
  commands,
  limits: { timeoutMs: 80_000 },
})
const there = listed.output.trim().split(/\s+/)

const isJudged = (name: string) => RULES_OF.has(name) || OPENERS.has(name)

test('of every command that the shell has it is known what it costs', () => {
  expect(there.length).toBeGreaterThan(140)
  const risks: Readonly<Record<string, string>> = SHELL_RISKS
  const unknown = there.filter((name) => !Object.hasOwn(risks, name) && !KNOWN_COMMANDS.has(name) && !isJudged(name))
  expect(unknown).toEqual([])
})

test('the table of costs names commands that are there, and says what is so', () => {
  const names = Object.keys(SHELL_RISKS)
  expect(names.filter((name) => !there.includes(name))).toEqual([])
  const meant = (name: string) => (KNOWN_COMMANDS.has(name) ? 'free' : isJudged(name) ? 'judged' : 'strange')
  expect(SHELL_RISKS).toEqual(Object.fromEntries(names.map((name) => [name, meant(name)])))
})
