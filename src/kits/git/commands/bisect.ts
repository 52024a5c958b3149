import { lstatAt } from '../../../workspace/stat.ts'
import { unknownWord } from '../arguments.ts'
import { autoNext, exitCodeOf, next, type Outcome } from '../bisecting/next-step.ts'
import { runBisection } from '../bisecting/run.ts'
import {
  forget,
  inQuotes,
  log,
  mark,
  marksOf,
  pathsOf,
  read,
  startOf,
  type Terms,
  termsOf,
  termsRefusal,
  testedCommit,
  write,
} from '../bisecting/state.ts'
import { textOf } from '../bytes.ts'
import { failed, fatal, GitFailure } from '../failure.ts'
import { walkHistory } from '../history.ts'
import type { Invocation } from '../invocation.ts'
import { commitId, range, revision } from '../revisions.ts'
import { switchTo } from '../switching.ts'
import { log as logCommand } from './log.ts'

const USAGE = 'usage: git bisect [help|start|bad|good|new|old|terms|skip|next|reset|visualize|view|replay|log|run]'

/** Searches the history by bisection for the commit that introduced a change. */
export async function bisect(git: Invocation, args: string[]): Promise<number> {
  const [action, ...rest] = args
  git.repo()
  if (action === undefined || action === 'help') throw new GitFailure(USAGE, action === 'help' ? 0 : 1)
  if (action === 'start') return start(git, rest)
  if (action === 'reset') return reset(git, rest)
  if (action === 'replay') return replay(git, rest)
  const terms = await termsOf(git.repo())
  const isState = ['bad', 'good', 'new', 'old', terms.bad, terms.good].includes(action)
  if (!isState && !['skip', 'next', 'log', 'run', 'terms', 'visualize', 'view'].includes(action))
    throw unknownWord(action, USAGE)
  if (action === 'log') return showLog(git)
  if (action === 'run' && rest.length === 0) throw failed('bisect run failed: no command provided.')
  if ((await startOf(git.repo())) === null) throw notStarted(action)
  if (action === 'terms') return showTerms(git, rest)
  if (action === 'next') return exitCodeOf(await next(git))
  if (action === 'run') return runBisection(git, rest, { setState, skip })
  if (action === 'visualize' || action === 'view') return view(git, rest)
  return exitCodeOf(action === 'skip' ? await skip(git, rest) : await setState(git, action, rest))
}

function notStarted(action: string): GitFailure {
  if (action === 'terms') return failed('no terms defined')
  if (['run', 'view', 'visualize'].includes(action)) return new GitFailure('', 1)
  return new GitFailure('You need to start by "git bisect start"\n', 1)
}

async function start(git: Invocation, args: readonly string[]): Promise<number> {
  const repo = git.repo()
  const { terms, words, paths, firstParent, noCheckout } = await startWords(git, args)
  const head = await repo.refs.head()
  if (head.oid === null) throw fatal('bad HEAD - I need a HEAD')
  const before = await startOf(repo)
  const began = before ?? head.ref?.replace(/^refs\/heads\//, '') ?? head.oid
  if (before !== null && !noCheckout) await backTo(git, began)
  await forget(git)
  await write(repo, 'BISECT_START', `${began}\n`)
  if (firstParent) await write(repo, 'BISECT_FIRST_PARENT', '\n')
  if (noCheckout) await write(repo, 'BISECT_HEAD', `${head.oid}\n`)
  await write(repo, 'BISECT_NAMES', `${inQuotes(paths)}\n`)
  const refusal = termsRefusal(terms)
  if (refusal !== null) throw failed(refusal)
  await write(repo, 'BISECT_TERMS', `${terms.bad}\n${terms.good}\n`)
  for (const [i, oid] of words.entries()) await mark(git, i === 0 ? terms.bad : terms.good, oid, false)
  await log(repo, `git bisect start${inQuotes(args)}`)
  try {
    return exitCodeOf(await autoNext(git))
  } catch (error) {
    // An invalid search is not started.
    if (error instanceof GitFailure) await forget(git)
    throw error
  }
}

async function backTo(git: Invocation, name: string): Promise<void> {
  const repo = git.repo()
  const ref = `refs/heads/${name}`
  const isBranch = (await repo.refs.resolve(ref)) !== null
  const oid = await commitId(repo, name)
  await switchTo(git, { ref: isBranch ? ref : null, oid, name, isNew: false, isAsked: true })
}

interface Start {
  terms: Terms
  /** Ids: the first is bad, the others are good. */
  words: string[]
  paths: string[]
  firstParent: boolean
  noCheckout: boolean
}

async function startWords(git: Invocation, args: readonly string[]): Promise<Start> {
  const terms = { bad: 'bad', good: 'good' }
  const found: Start = { terms, words: [], paths: [], firstParent: false, noCheckout: git.repo().isBare }
  const end = args.indexOf('--')
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const term = /^--term-(good|old|bad|new)(?:=(.*))?$/.exec(arg)
    if (i === end) {
      found.paths.push(...args.slice(i))
      break
    }
    if (term) found.terms[/good|old/.test(term[1] ?? '') ? 'good' : 'bad'] = term[2] ?? termBehind(args[++i])
    else if (arg === '--first-parent') found.firstParent = true
    else if (arg === '--no-checkout') found.noCheckout = true
    else if (arg.startsWith('-')) throw failed(`unrecognized option: '${arg}'`)
    else {
      const oid = await revision(git.repo(), arg)
      if (oid === null && end >= 0) throw fatal(`'${arg}' does not appear to be a valid revision`)
      if (oid === null) {
        found.paths.push(...args.slice(i))
        break
      }
      found.words.push(await git.repo().peel(oid, 'commit'))
    }
  }
  return found
}

function termBehind(word: string | undefined): string {
  if (word === undefined) throw failed("'' is not a valid term")
  return word
}

/** The terms of a search are set by the first command that uses other terms. */
async function termFor(git: Invocation, action: string): Promise<Terms> {
  const repo = git.repo()
  const terms = await termsOf(repo)
  if (action === terms.bad || action === terms.good) return terms
  const isFirst = (await repo.refs.list('refs/bisect/')).size === 0 && terms.bad === 'bad' && terms.good === 'good'
  if (!isFirst) throw failed(`Invalid command: you're currently in a ${terms.bad}/${terms.good} bisect`)
  await write(repo, 'BISECT_TERMS', 'new\nold\n')
  return { bad: 'new', good: 'old' }
}

async function setState(git: Invocation, action: string, words: readonly string[]): Promise<Outcome> {
  const repo = git.repo()
  const terms = await termFor(git, action)
  if (action === terms.bad && words.length > 1) throw failed(`'git bisect ${terms.bad}' can take only one argument.`)
  const oids: string[] = []
  for (const word of words.length > 0 ? words : [await testedCommit(repo)]) {
    const oid = await revision(repo, word)
    if (oid === null) throw failed(`Bad rev input: ${word}`)
    oids.push(await repo.peel(oid, 'commit'))
  }
  const expected = await read(repo, 'BISECT_EXPECTED_REV')
  for (const oid of oids) {
    await mark(git, action, oid, true)
    if (oid !== expected) for (const name of ['BISECT_ANCESTORS_OK', 'BISECT_EXPECTED_REV']) drop(git, name)
  }
  return autoNext(git)
}

function drop(git: Invocation, name: string): void {
  const path = `${git.repo().gitDir}/${name}`
  if (lstatAt(git.fs, path)) git.fs.remove(path)
}

async function skip(git: Invocation, words: readonly string[]): Promise<Outcome> {
  const repo = git.repo()
  const oids: string[] = []
  for (const word of words.length > 0 ? words : [await testedCommit(repo)]) {
    if (!word.includes('..') && (await revision(repo, word)) === null) throw failed(`Bad rev input: ${word}`)
    const found = await range(repo, word)
    if (!word.includes('..')) oids.push(...found.include)
    else for await (const { oid } of walkHistory(repo, found)) oids.push(oid)
  }
  for (const oid of oids) await mark(git, 'skip', oid, true)
  return autoNext(git)
}

async function reset(git: Invocation, [given, ...others]: readonly string[]): Promise<number> {
  const repo = git.repo()
  if (others.length > 0) throw failed('--bisect-reset requires either no argument or a commit')
  const began = await startOf(repo)
  if (given === undefined && began === null) {
    git.line('We are not bisecting.')
    return 0
  }
  const name = given ?? began ?? ''
  if ((await revision(repo, name)) === null) throw failed(`'${name}' is not a valid commit`)
  if ((await read(repo, 'BISECT_HEAD')) === null) await backTo(git, name)
  await forget(git)
  return 0
}

async function showLog(git: Invocation): Promise<number> {
  const text = await read(git.repo(), 'BISECT_LOG')
  if (text === null) throw failed('We are not bisecting.')
  git.line(text)
  return 0
}

async function showTerms(git: Invocation, [option, ...others]: readonly string[]): Promise<number> {
  if (others.length > 0) throw failed('--bisect-terms requires 0 or 1 argument')
  const terms = await termsOf(git.repo())
  if (option === undefined)
    git.line(`Your current terms are ${terms.good} for the old state\nand ${terms.bad} for the new state.`)
  else if (option === '--term-good' || option === '--term-old') git.line(terms.good)
  else if (option === '--term-bad' || option === '--term-new') git.line(terms.bad)
  else
    throw failed(
      `invalid argument ${option} for 'git bisect terms'.\nSupported options are: --term-good|--term-old and --term-bad|--term-new.`,
    )
  return 0
}

async function view(git: Invocation, options: readonly string[]): Promise<number> {
  const repo = git.repo()
  const { bad, good } = await marksOf(repo)
  return logCommand(git, [
    ...options,
    ...(bad === null ? [] : [bad]),
    ...good.map((oid) => `^${oid}`),
    '--',
    ...(await pathsOf(repo)),
  ])
}

/** Repeats the steps of a log. */
async function replay(git: Invocation, [name]: readonly string[]): Promise<number> {
  if (name === undefined) throw failed('no logfile given')
  const path = git.resolve(name)
  if (!lstatAt(git.fs, path)) throw failed(`cannot read file '${name}' for replaying`)
  await reset(git, [])
  for (const line of textOf(await git.fs.read(path)).split('\n')) {
    const words = line.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'(.*)'$/, '$1')) ?? []
    if (words[0] !== 'git' || words[1] !== 'bisect') continue
    const [, , action = '', ...rest] = words
    if (action === 'start') await start(git, rest)
    else for (const oid of rest) await mark(git, action, oid, true)
  }
  return exitCodeOf(await autoNext(git))
}
