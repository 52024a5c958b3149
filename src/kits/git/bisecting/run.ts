// Runs a command whose exit code tells good from bad, until the search has ended.

import { failed, fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { checkOut, type Outcome } from './next-step.ts'
import { inQuotes, marksOf, termsOf, testedCommit } from './state.ts'

const CANNOT_TELL = 125
const NOT_FOUND: readonly number[] = [126, 127]

/** The result for the tested commit. */
interface Answers {
  setState: (git: Invocation, action: string, words: readonly string[]) => Promise<Outcome>
  skip: (git: Invocation, words: readonly string[]) => Promise<Outcome>
}

export async function runBisection(git: Invocation, words: readonly string[], answers: Answers): Promise<number> {
  const marks = await marksOf(git.repo())
  const terms = await termsOf(git.repo())
  if (marks.bad === null || marks.good.length === 0)
    throw failed(
      `You need to give me at least one ${terms.bad} and ${terms.good} revision.\nYou can use "git bisect ${terms.bad}" and "git bisect ${terms.good}" for that.`,
    )
  const command = inQuotes(words)
  for (let isFirst = true; ; isFirst = false) {
    const exitCode = await tested(git, command)
    if (isFirst && NOT_FOUND.includes(exitCode)) await tryGood(git, { command, exitCode, good: marks.good[0] ?? '' })
    if (exitCode < 0 || exitCode >= 128)
      throw failed(`bisect run failed: exit code ${exitCode} from '${command}' is < 0 or >= 128`, 256 - exitCode)
    const outcome =
      exitCode === CANNOT_TELL
        ? await answers.skip(git, [])
        : await answers.setState(git, exitCode === 0 ? terms.good : terms.bad, [])
    if (outcome === 'only-skipped') throw failed('bisect run cannot continue any more', 2)
    if (outcome !== 'found') continue
    git.out('bisect found first bad commit')
    return 0
  }
}

async function tested(git: Invocation, command: string): Promise<number> {
  if (!git.execute) throw fatal('git bisect run: no command can be run from here')
  git.signal?.throwIfAborted()
  git.line(`running ${command}`)
  const { stdout, stderr, exitCode } = await git.execute(command.trim(), git.cwd)
  git.out(stdout)
  git.err(stderr)
  git.repo().forgetIndex()
  return exitCode
}

/** A command that cannot run on a known good commit gives no information about the others. */
async function tryGood(
  git: Invocation,
  { command, exitCode, good }: { command: string; exitCode: number; good: string },
): Promise<void> {
  const current = await testedCommit(git.repo())
  await checkOut(git, good)
  const other = await tested(git, command)
  if (other < 0 || other >= 128) throw failed(`unable to verify '${command}' on good revision`)
  if (other === exitCode) git.err(`error: bogus exit code ${other} for good revision`)
  await checkOut(git, current)
  if (other === exitCode) throw new GitFailure('', 1)
}
