import { lstatAt } from '../../../workspace/stat.ts'
import { type Arguments, parseArguments } from '../arguments.ts'
import { textOf } from '../bytes.ts'
import { indexTree, makeCommit } from '../commits.ts'
import { fatal, GitFailure } from '../failure.ts'
import type { Invocation } from '../invocation.ts'
import { type AmOptions, amFolder, beginAm, mailName, notedMail, noteMail, storedOptions } from '../mail/am-state.ts'
import { applyMail } from '../mail/apply-mail.ts'
import { type PatchMail, parseMail, splitMailbox } from '../mail/mailbox.ts'
import { tidyMessage } from '../message-cleanup.ts'
import { subjectOf } from '../message-parts.ts'
import { stagedChanges } from '../status.ts'
import { resetMerge } from '../switching.ts'
import { signOffLine, withTrailer } from '../trailers.ts'

const OPTIONS = [
  '3way|3',
  'no-3way',
  'signoff|s',
  'keep|k',
  'quiet|q',
  'continue|resolved|r',
  'skip',
  'abort',
  'quit',
  'show-current-patch?',
  'no-gpg-sign',
  'no-verify|n',
  'reject',
]

export async function am(git: Invocation, args: string[]): Promise<number> {
  const options = parseArguments('am', OPTIONS, args)
  options.assertOne('continue', 'skip', 'abort', 'quit', 'show-current-patch')
  const folder = amFolder(git)
  const resumes = ['continue', 'skip', 'abort', 'quit', 'show-current-patch'].find((name) => options.has(name))
  if (resumes !== undefined) {
    if (!folder.has('applying')) throw fatal('Resolve operation not in progress, we are not resuming.')
    return resume(git, resumes, options)
  }
  if (folder.exists) {
    const name = folder.path.replace(`${git.repo().root}/`, '')
    throw fatal(`previous rebase directory ${name} still exists but mbox given.`)
  }
  const mails = await mailsFrom(git, options.rest)
  const dirty = (await stagedChanges(git.repo(), await git.repo().headTree())).map(({ path }) => path)
  const how: AmOptions = {
    isThreeWay: (options.has('3way') || (await git.setting('am.threeWay')) === 'true') && !options.has('no-3way'),
    signsOff: options.has('signoff'),
    keepsSubject: options.has('keep'),
    isQuiet: options.has('quiet'),
    rejects: options.has('reject'),
  }
  await beginAm(git, mails, how)
  await noteOrigin(git)
  if (dirty.length > 0) await folder.write('dirtyindex', 't\n')
  if (dirty.length > 0) throw fatal(`Dirty index: cannot apply patches (dirty: ${dirty.join(' ')})`)
  return run(git, how)
}

async function noteOrigin(git: Invocation): Promise<void> {
  const { refs } = git.repo()
  const { oid } = await refs.head()
  if (oid !== null) await refs.change('ORIG_HEAD', { oid, by: await git.signature('committer'), message: '' })
}

async function mailsFrom(git: Invocation, names: readonly string[]): Promise<string[]> {
  const texts: string[] = names.length === 0 ? [git.stdin] : []
  for (const name of names) {
    const path = git.resolve(name)
    const kind = lstatAt(git.fs, path)?.kind
    if (kind === undefined) throw fatal(`could not open '${name}' for reading: No such file or directory`)
    if (kind === 'directory') throw fatal(`git am of a folder of mails ('${name}') is not available here`)
    texts.push(textOf(await git.fs.read(path)))
  }
  return texts.flatMap((text) => {
    const mails = splitMailbox(text)
    if (mails === null) {
      if (names.length === 0 && text.trim() === '') return []
      // Piped input is treated as a mail.
      if (names.length === 0) return [text]
      throw new GitFailure('Patch format detection failed.', 128)
    }
    return mails
  })
}

async function run(git: Invocation, how: AmOptions): Promise<number> {
  const folder = amFolder(git)
  const last = Number(await folder.read('last'))
  for (let next = Number(await folder.read('next')); next <= last; next++) {
    await folder.write('next', `${next}\n`)
    const mail = parseMail((await folder.text(mailName(next))) ?? '', how)
    await applyOne(git, mail, { ...how, number: next })
    await noteSafety(git)
  }
  folder.remove()
  return 0
}

async function noteSafety(git: Invocation): Promise<void> {
  const { oid } = await git.repo().refs.head()
  await amFolder(git).write('abort-safety', oid === null ? '' : `${oid}\n`)
}

async function applyOne(git: Invocation, mail: PatchMail, how: AmOptions & { number: number }): Promise<void> {
  const text = tidyMessage(`${mail.subject}\n\n${mail.body}`)
  const message = how.signsOff ? withTrailer(text, await signOffLine(git)) : text
  const own = await git.signature('author')
  const author = { name: mail.name, email: mail.email, seconds: own.seconds, zone: own.zone, ...mail.date }
  await noteMail(git, { author, message }, mail.patch)
  if (mail.patch === '') {
    git.line('Patch is empty.')
    throw stopped(git, { offersEmpty: true })
  }
  if (!how.isQuiet) git.line(`Applying: ${subjectOf(message)}`)
  const before = await git.repo().headTree()
  if (!(await applyMail(git, { ...how, patch: mail.patch, subject: subjectOf(message) }))) {
    git.line(`Patch failed at ${mailName(how.number)} ${subjectOf(message)}`)
    git.err("hint: Use 'git am --show-current-patch=diff' to see the failed patch")
    throw stopped(git)
  }
  const tree = await indexTree(git.repo())
  if (how.isThreeWay && tree === before) {
    git.line('No changes -- Patch already applied.')
    return
  }
  await conclude(git, { author, message })
}

type Noted = NonNullable<Awaited<ReturnType<typeof notedMail>>>

async function conclude(git: Invocation, { author, message }: Noted): Promise<void> {
  const repo = git.repo()
  const { oid } = await repo.refs.head()
  if (oid === null) git.err('applying to an empty history')
  await makeCommit(git, {
    tree: await indexTree(repo),
    parents: oid === null ? [] : [oid],
    message,
    author,
    action: 'am',
    said: subjectOf(message),
  })
}

function stopped(git: Invocation, { offersEmpty = false } = {}): GitFailure {
  git.line('When you have resolved this problem, run "git am --continue".')
  git.line('If you prefer to skip this patch, run "git am --skip" instead.')
  if (offersEmpty) git.line('To record the empty patch as an empty commit, run "git am --allow-empty".')
  git.line('To restore the original branch and stop patching, run "git am --abort".')
  return new GitFailure('', 128)
}

async function resume(git: Invocation, what: string, options: Arguments): Promise<number> {
  const folder = amFolder(git)
  if (what === 'quit') {
    folder.remove()
    return 0
  }
  if (what === 'abort') return abort(git)
  const next = Number(await folder.read('next'))
  if (what === 'show-current-patch') {
    const kind = options.value('show-current-patch') || 'raw'
    if (kind !== 'raw' && kind !== 'diff') throw fatal(`invalid value for '--show-current-patch': '${kind}'`)
    git.out((await folder.text(kind === 'raw' ? mailName(next) : 'patch')) ?? '')
    return 0
  }
  if (what === 'continue') await goOn(git)
  else await resetMerge(git, await git.repo().headTree())
  await folder.write('next', `${next + 1}\n`)
  await noteSafety(git)
  return run(git, await storedOptions(git))
}

/** Commits the manual resolution of a mail that did not apply. */
async function goOn(git: Invocation): Promise<void> {
  const repo = git.repo()
  const noted = await notedMail(git)
  if (!noted) throw fatal('cannot resume: .git/rebase-apply/final-commit does not exist.')
  if (!(await storedOptions(git)).isQuiet) git.line(`Applying: ${subjectOf(noted.message)}`)
  const unmerged = (await repo.index()).unmergedPaths()
  if (unmerged.length === 0 && (await stagedChanges(repo, await repo.headTree())).length === 0) {
    git.line(NO_CHANGES)
    throw stopped(git)
  }
  if (unmerged.length > 0) {
    git.line(UNMERGED)
    throw stopped(git)
  }
  await conclude(git, noted)
}

const NO_CHANGES = `No changes - did you forget to use 'git add'?
If there is nothing left to stage, chances are that something else
already introduced the same changes; you might want to skip this patch.`

const UNMERGED = `You still have unmerged paths in your index.
You should 'git add' each file with resolved conflicts to mark them as such.
You might run \`git rm\` on a file to accept "deleted by them" for it.`

async function abort(git: Invocation): Promise<number> {
  const repo = git.repo()
  const folder = amFolder(git)
  if (folder.has('dirtyindex')) {
    folder.remove()
    return 0
  }
  const [head, safe] = [(await repo.refs.head()).oid, await folder.read('abort-safety')]
  if ((safe ?? '') !== (head ?? '')) {
    git.err("warning: You seem to have moved HEAD since the last 'am' failure.\nNot rewinding to ORIG_HEAD")
    folder.remove()
    return 0
  }
  const origin = await repo.refs.resolve('ORIG_HEAD')
  await resetMerge(git, origin === null ? null : (await repo.commit(origin)).tree)
  const { ref } = await repo.refs.head()
  if (origin !== null && origin !== head)
    await repo.refs.change(ref ?? 'HEAD', { oid: origin, by: await git.signature('committer'), message: 'am --abort' })
  folder.remove()
  return 0
}
